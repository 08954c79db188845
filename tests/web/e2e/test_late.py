"""A timeline whose answers come late, as those of a kernel that is far away."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.browser

COUNT = 30_000


@pytest.fixture(scope="module")
def script(bundled: Callable[[str], Path]) -> Path:
    """What opens a timeline."""
    return bundled("late")


@pytest.fixture(scope="module")
def kineto() -> str:
    """A trace without a name, of a thread and a stream with many events each."""

    def event(thread: int, at: int) -> dict[str, object]:
        name = f"gemm_{at % 7}" if at % 3 else "relu"
        return {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": thread, "ts": 20 * at, "dur": 15}

    events = [event(thread, at) for thread in (1, 2) for at in range(COUNT)]
    return base64.b64encode(gzip.compress(json.dumps(events).encode())).decode()


# Each state of the timeline in turn: whether it waits, what it says, and since when. The page itself looks, for a slow
# machine asks too late.
WATCH = """() => {
    window.seen = [];
    const look = () => {
        const root = [...document.querySelectorAll("*")].find(element => element.shadowRoot)?.shadowRoot ?? document;
        const busy = root.querySelector(".ks-picture")?.getAttribute("aria-busy") ?? "";
        const said = root.querySelector("[aria-live=polite]")?.textContent ?? "";
        if (`${seen.at(-1)?.slice(0, 2)}` !== `${[busy, said]}`) seen.push([busy, said, performance.now()]);
        requestAnimationFrame(look);
    };
    look();
}"""


@pytest.fixture
def late(script: Path, strict: Any, kineto: str, tmp_path: Path) -> Callable[..., Any]:
    """Opens a timeline whose answers take so many milliseconds."""

    def open_page(ms: int, scheme: str = "light") -> Any:
        path = tmp_path / "late.html"
        path.write_text("<!doctype html><meta charset=utf-8><title>late</title><body></body>")
        page = strict.page(scheme)
        page.goto(path.as_uri())
        page.add_script_tag(content=script.read_text())
        page.evaluate(WATCH)
        page.evaluate("([kineto, ms, theme]) => late.open(kineto, ms, theme)", [kineto, ms, scheme])
        return page

    return open_page


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_is_on_its_way_is_told(
    late: Callable[..., Any], shot: Callable[..., None], slowness: Callable[[], float], scheme: str
) -> None:
    slower = max(slowness(), 1)
    page = late(2500, scheme)
    page.wait_for_function("seen.some(([busy]) => busy === 'true')", timeout=2000 * slower)
    shot(page, f"late-{scheme}")
    page.wait_for_function("seen.at(-1)[1] === 'Events loaded'")
    states = {(busy, said): at for busy, said, at in reversed(page.evaluate("seen"))}
    waits, told, loaded = (
        states[state] for state in (("true", ""), ("true", "Loading events"), ("false", "Events loaded"))
    )
    assert waits < told <= waits + 1000 * slower
    assert told < loaded <= told + 5000 * slower


def test_what_comes_soon_is_not(late: Callable[..., Any]) -> None:
    page = late(20)
    page.locator(".ks-tracks[data-cost]").wait_for()
    picture = page.locator(".ks-picture")
    watch = """element => new Promise(resolve => {
        let count = 0;
        new MutationObserver(() => count++).observe(element, {attributeFilter: ["aria-busy"]});
        setTimeout(() => resolve(count), 800);
    })"""
    assert picture.evaluate(watch) == 0


def test_what_was_seen_from_afar_stays_while_the_finer_is_on_its_way(
    late: Callable[..., Any], shot: Callable[..., None]
) -> None:
    page = late(0)
    page.locator(".ks-tracks[data-cost]").wait_for()
    page.wait_for_timeout(500)
    page.evaluate("late.take(5000)")
    page.locator(".ks-stage").focus()
    ink = """canvas => {
        const copy = new OffscreenCanvas(canvas.width, 60).getContext("2d", { willReadFrequently: true });
        copy.drawImage(canvas, 0, -24);
        const { data } = copy.getImageData(0, 0, canvas.width, 60);
        let count = 0;
        for (let i = 0; i < data.length; i += 4) if (Math.abs(data[i] - data[i + 2]) > 40) count++;
        return count;
    }"""
    before = page.locator(".ks-tracks").evaluate(ink)
    assert before > 10_000
    for key in ("w", "w", "w", "s", "s"):
        page.keyboard.press(key)
        page.wait_for_timeout(150)
        assert page.locator(".ks-tracks").evaluate(ink) > before / 2
        assert page.locator(".ks-picture").get_attribute("aria-busy") == "false"
    shot(page, "late-zoom")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_one_of_many_hits_can_be_gone_to(
    late: Callable[..., Any], shot: Callable[..., None], scheme: str
) -> None:
    page = late(5, scheme)
    page.locator(".ks-tracks[data-cost]").wait_for()
    box = page.get_by_label("Search event names")
    box.fill("gemm")
    hits = page.locator(".ks-hits")
    hits.get_by_text("40,000 hits").wait_for()
    page.wait_for_timeout(300)
    shot(page, f"late-hits-{scheme}")
    box.press("Shift+Enter")
    hits.get_by_text("40,000 of 40,000").wait_for()
    page.locator(".ks-details").get_by_text(f"gemm_{(COUNT - 1) % 7}").first.wait_for()
    box.press("Enter")
    hits.get_by_text("1 of 40,000").wait_for()


def test_a_trace_without_a_name_has_the_hosts(late: Callable[..., Any]) -> None:
    page = late(0)
    assert (page.locator(".ks-stage").get_attribute("aria-label") or "").startswith("Timeline of run.json:")
