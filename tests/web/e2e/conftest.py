"""What the browser tests share: Chromium, pages that may fetch nothing, reports, and a hand for the timeline."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import statistics
import subprocess
import time
import zlib
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal

import kinetoscope as ks
import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Error, Locator, Page, Request, sync_playwright

REPOSITORY = Path(__file__).resolve().parents[3]
HERE = Path(__file__).parent
SHOTS = Path(os.environ.get("KINETOSCOPE_SHOTS") or REPOSITORY / "tests/web/screenshots")
IMAGES = REPOSITORY / "docs/images"
# As root Chromium has no sandbox; the rest keeps it from talking to anyone by itself.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]

# Twice what a slow machine with two workers needed to show a widget in JupyterLab.
PATIENCE_MS = 60_000

# What `slowness` unpacks takes so long where benches/RESULTS.md was measured.
UNPACKING_S = 0.0175

Scheme = Literal["light", "dark"]


@pytest.fixture(scope="session")
def bundled(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Makes a script of the TypeScript of that name in this folder."""

    def bundle(name: str) -> Path:
        node = shutil.which("node")
        if node is None:
            pytest.skip("no Node on the path")
        path = tmp_path_factory.mktemp(name) / f"{name}.js"
        subprocess.run([node, HERE / "bundle.mjs", HERE / f"{name}.ts", path], check=True)
        return path

    return bundle


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    wanted = [os.environ.get("KINETOSCOPE_BROWSER"), "chromium", "chromium-browser", "google-chrome"]
    path = next((found for name in wanted if name and (found := shutil.which(name))), None)
    if path is None:
        pytest.skip("no Chromium on the path: scripts/browser.sh finds or installs one")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield running
        running.close()


class Strict:
    """Pages of one test, with all that they asked for and complained about."""

    def __init__(self, browser: Browser, may_fetch: str) -> None:
        self.fetched: list[str] = []
        self.complaints: list[str] = []
        self._browser = browser
        self._may_fetch = may_fetch
        self._contexts: list[BrowserContext] = []

    def page(self, scheme: Scheme = "light", *, scripts: bool = True, width: int = 1280, height: int = 800) -> Page:
        context = self._browser.new_context(
            color_scheme=scheme,
            java_script_enabled=scripts,
            viewport={"width": width, "height": height},
            device_scale_factor=1,
        )
        self._contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.on("request", self._requested)
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", lambda dialog: self.complaints.append(f"dialog: {dialog.message}"))
        return page

    def described(self) -> str:
        """Texts and complaints of the pages, for the report of a failed test."""
        shown = [f"{page.url}\n{page.locator('body').inner_text()}" for page in self._pages if not page.is_closed()]
        return "\n".join([*shown, *self.complaints])

    @property
    def _pages(self) -> list[Page]:
        return [page for context in self._contexts for page in context.pages]

    def close(self) -> None:
        for context in self._contexts:
            context.close()

    def _requested(self, request: Request) -> None:
        if not request.url.startswith(self._may_fetch):
            self.fetched.append(request.url)

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.complaints.append(message.text)


OPENED = pytest.StashKey[list[Strict]]()
"""The pages of a test."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    """Adds to the report of a failed test what its pages show: a timeout alone does not tell."""
    report = yield
    if call.when == "call" and report.failed:
        for pages in item.stash.get(OPENED, []):
            with contextlib.suppress(Error):
                report.sections.append(("pages", pages.described()))
    return report


@pytest.fixture
def strict_pages(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Callable[[str], Strict]]:
    """Pages that may fetch only what starts with a given text."""
    opened: list[Strict] = []
    request.node.stash[OPENED] = opened

    def open_pages(may_fetch: str) -> Strict:
        opened.append(Strict(browser, may_fetch))
        return opened[-1]

    yield open_pages
    for pages in opened:
        pages.close()


@pytest.fixture
def strict(strict_pages: Callable[[str], Strict]) -> Iterator[Strict]:
    """Pages from disk: the test fails if one asks for anything else, or if the console says that something is wrong."""
    pages = strict_pages("file://")
    yield pages
    pages.close()
    assert pages.fetched == []
    assert pages.complaints == []


# On both sides of a whole trace, as a share of it.
MARGIN = 0.01


class Timeline:
    """The timeline on a page, as a reader uses it. Playwright looks into its shadow root by itself."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.tracks = page.locator(".ks-tracks")
        self.overlay = page.locator(".ks-overlay")

    def wait(self) -> Timeline:
        """Waits for the first picture."""
        self.page.locator(".ks-tracks[data-cost]").wait_for()
        return self

    def settle(self) -> Timeline:
        """Waits until two pictures in a row are the same."""
        before = ""
        for _ in range(100):
            self.page.wait_for_timeout(60)
            now = self.picture()
            if now == before:
                return self
            before = now
        message = "expected the picture to come to rest"
        raise AssertionError(message)

    def picture(self) -> str:
        """The pixels of the tracks."""
        return str(self.tracks.evaluate("canvas => canvas.toDataURL()"))

    def ink(self, canvas: Locator) -> int:
        """How many pixels of a canvas are not transparent."""
        count = """canvas => {
            const { width, height } = canvas;
            const copy = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
            copy.drawImage(canvas, 0, 0);
            const { data } = copy.getImageData(0, 0, width, height);
            let count = 0;
            for (let i = 3; i < data.length; i += 4) if (data[i] > 0) count++;
            return count;
        }"""
        return int(canvas.evaluate(count))

    def focus(self) -> Timeline:
        self.page.locator(".ks-stage").focus()
        return self

    def press(self, *keys: str) -> Timeline:
        for key in keys:
            self.page.keyboard.press(key)
        return self.settle()

    def search(self, text: str) -> str:
        """Types into the search box and says what the box answers."""
        self.focus().page.keyboard.press("/")
        self.page.keyboard.insert_text(text)
        hits = self.page.locator(".ks-hits")
        hits.wait_for()
        return hits.inner_text()

    def details(self) -> dict[str, str]:
        """The facts in the details, with the exact value where the cell has one."""
        self.page.locator(".ks-event").wait_for()
        read = """list => Object.fromEntries([...list.children].map(row =>
            [row.children[0].textContent, [row.children[1].title, row.children[1].textContent]]))"""
        cells = dict(self.page.locator(".ks-facts").evaluate(read))
        facts = {key: title if title.endswith(" ns") else text for key, (title, text) in cells.items()}
        read = "name => (name.querySelector('.ks-whole-name') ?? name).textContent"
        return {"name": self.page.locator(".ks-event-name").evaluate(read), **facts}

    def iteration_point(self, trace: ks.Trace, time_ns: float) -> tuple[float, float]:
        """The point of the strip of iterations at a time of the file, where all of the trace is shown."""
        rows = trace.events.select("start_ns", "dur_ns").rows()
        first, last = min(start for start, _ in rows), max(start + dur for start, dur in rows)
        share = ((time_ns - first) / (last - first) + MARGIN) / (1 + 2 * MARGIN)
        picture = self.overlay.bounding_box()
        strip = self.page.locator(".ks-corner > div", has_text="iterations").bounding_box()
        assert picture is not None
        assert strip is not None
        return picture["x"] + share * picture["width"], strip["y"] + strip["height"] / 2

    def point_at(self, track: str, lane: int, share: float) -> tuple[float, float]:
        """The point of a lane at `share` of the width."""
        row = self.page.locator(".ks-row.ks-track", has=self.page.locator(f".ks-name:has-text('{track}')")).first
        top, picture = row.bounding_box(), self.overlay.bounding_box()
        assert top is not None
        assert picture is not None
        return picture["x"] + share * picture["width"], top["y"] + 4 + 17 * lane + 8


@pytest.fixture(scope="session")
def timeline_on() -> type[Timeline]:
    """What makes a `Timeline` of a page: tests cannot import from here."""
    return Timeline


@pytest.fixture
def open_timeline(strict: Strict) -> Callable[..., Timeline]:
    """Opens a report and waits until the timeline is live."""

    def open_page(report: Path, scheme: Scheme = "light", target: str = "") -> Timeline:
        page = strict.page(scheme)
        page.goto(f"{report.as_uri()}{target}")
        timeline = Timeline(page).wait()
        page.locator("#ks-timeline").evaluate("place => place.scrollIntoView()")
        return timeline.settle()

    return open_page


@pytest.fixture(scope="session")
def shot(keep: Callable[[bytes, str], None]) -> Callable[[Page, str], None]:
    """Takes a screenshot to look at."""
    return lambda page, name: keep(page.screenshot(), name)


@pytest.fixture(scope="session")
def slowness() -> Callable[[], float]:
    """How many times as long things take here and now as on a quiet machine of the kind that times are promised for.

    Where other work is done, a page has only a share of the machine. The average of the last minute knows nothing of
    work that has just begun, so who wants a processor now is counted too.
    """
    text = "".join(f'{{"name": "aten::op{n % 97}", "ts": {n * 7919}, "dur": {n % 1009}}}\n' for n in range(200_000))
    packed = zlib.compress(text.encode())

    def unpack(_: int) -> float:
        start = time.perf_counter()
        zlib.decompress(packed)
        return time.perf_counter() - start

    def unpacking() -> float:
        # On all processors at once, as a page works: where two are halves of one, each is slower then.
        count = os.cpu_count() or 1
        with ThreadPoolExecutor(count) as threads:
            return statistics.mean(threads.map(unpack, range(count)))

    def wanting() -> int:
        time.sleep(0.02)
        return int(Path("/proc/loadavg").read_text().split()[3].split("/")[0])

    def measure() -> float:
        now = statistics.mean(wanting() for _ in range(10)) if Path("/proc/loadavg").exists() else 1
        others = max(os.getloadavg()[0], now) / (os.cpu_count() or 1)
        return max(1.0, others, statistics.median(unpacking() for _ in range(5)) / UNPACKING_S)

    return measure


@pytest.fixture(scope="session")
def keep() -> Callable[[bytes, str], None]:
    """Keeps a picture to look at, in KINETOSCOPE_SHOTS if that names a folder.

    With KINETOSCOPE_UPDATE_IMAGES=1 those named `readme-…` go to docs/images too.
    """

    def save(taken: bytes, name: str) -> None:
        SHOTS.mkdir(parents=True, exist_ok=True)
        (SHOTS / f"{name}.png").write_bytes(taken)
        if name.startswith("readme-") and os.environ.get("KINETOSCOPE_UPDATE_IMAGES") == "1":
            IMAGES.mkdir(parents=True, exist_ok=True)
            (IMAGES / f"{name.removeprefix('readme-')}.png").write_bytes(taken)

    return save


@pytest.fixture(scope="session")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Callable[[ks.Trace], Path]:
    """Writes the report of a trace, once."""
    written: dict[int, Path] = {}

    def write(trace: ks.Trace) -> Path:
        if id(trace) not in written:
            written[id(trace)] = trace.report(tmp_path_factory.mktemp("report") / "report.html")
        return written[id(trace)]

    return write


@pytest.fixture
def written(tmp_path: Path) -> Callable[[object], ks.Trace]:
    """Reads a trace that the test writes down."""

    def read(content: object) -> ks.Trace:
        path = tmp_path / "trace.json"
        path.write_text(json.dumps(content))
        return ks.read(path)

    return read
