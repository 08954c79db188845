"""Traces in the file browser of JupyterLab and Notebook: a double click opens them, no kernel is needed."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import kinetoscope as ks
import pytest
from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator, Locator, Page

pytestmark = pytest.mark.browser

DATA = Path(__file__).resolve().parents[3] / "data"
PAUSE = 60_000
"""Milliseconds that a server on a busy machine may take."""


class FileBrowser:
    """The file browser of JupyterLab (`jupyterlab`) or Notebook (`notebook`), at a folder."""

    def __init__(self, page: Page, server: Any, folder: str) -> None:
        self.page = page
        self.module = server.module
        self.folder = server.notebooks / folder
        self.folder.mkdir(exist_ok=True)
        self._url = f"{server.url}/lab/workspaces/{folder}/tree/{folder}?reset"
        if server.module == "notebook":
            self._url = f"{server.url}/tree/{folder}"

    def put(self, name: str, content: Path | bytes) -> None:
        if isinstance(content, Path):
            shutil.copy(content, self.folder / name)
        else:
            (self.folder / name).write_bytes(content)

    def go(self) -> FileBrowser:
        self.page.goto(self._url)
        self.item().first.wait_for(timeout=PAUSE)
        return self

    def item(self, name: str = "") -> Locator:
        return self.page.locator(".jp-DirListing-item", has_text=name)

    def open(self, name: str) -> FrameLocator:
        """Opens a file by a double click, and returns the page that shows it."""
        if self.module == "notebook":
            with self.page.context.expect_page() as opened:
                self.item(name).dblclick()
            self.page = opened.value
        else:
            self.item(name).dblclick()
        return self.frame()

    def frame(self) -> FrameLocator:
        return self.page.frame_locator(".jp-Document iframe")


@pytest.fixture
def browse(
    request: pytest.FixtureRequest, served: Callable[[str], Any], strict_pages: Callable[[str], Any]
) -> Callable[..., FileBrowser]:
    """A file browser at an empty folder."""

    def open_browser(folder: str, module: str = "jupyterlab", scheme: str = "light") -> FileBrowser:
        server = served(module)
        again = f"-{request.node.execution_count}" if getattr(request.node, "execution_count", 1) > 1 else ""
        page = strict_pages(server.url).page(scheme, width=1280, height=860)
        return FileBrowser(page, server, f"{folder}{again}")

    return open_browser


def shows(frame: FrameLocator, title: str) -> FrameLocator:
    """Waits until a trace is shown with its timeline."""
    expect(frame.locator("h1")).to_contain_text(title, timeout=PAUSE)
    frame.locator(".ks-tracks[data-cost]").wait_for(timeout=PAUSE)
    return frame


@pytest.mark.parametrize("module", ["jupyterlab", "notebook"])
def test_a_double_click_opens_a_recording(browse: Any, module: str, data: Path, shot: Any) -> None:
    files = browse("double", module)
    for path in (data / "synthetic_cuda").glob("*.json.gz"):
        files.put(path.name, path)
    trace = ks.read(data / "synthetic_cuda/kineto_trace_0.json.gz")
    frame = shows(files.go().open("kineto_trace_0"), "kineto_trace_0.json.gz")
    # The Execution Trace beside it was read, too.
    expect(frame.locator("main")).to_contain_text("157 nodes")
    expect(frame.get_by_role("button", name="Save a copy")).to_be_visible()
    expect(frame.get_by_role("button", name="Copy link")).to_have_count(0)
    # Which kernels are costliest?
    name = trace.kernels().rows()[0][trace.kernels().columns.index("name")]
    expect(frame.locator("#kernels tbody tr").first).to_contain_text(name.split("<")[0])
    frame.locator(".ks-tracks").scroll_into_view_if_needed()
    shot(files.page, f"extension-{module}")


def test_a_page_reaches_neither_its_host_nor_the_server(browse: Any, data: Path) -> None:
    files = browse("apart")
    files.put("kineto_trace_0.json.gz", data / "minimal_cpu/kineto_trace_0.json.gz")
    body = shows(files.go().open("kineto_trace_0"), "kineto_trace_0").locator("body")
    name = "error => error.name"
    assert body.evaluate("() => { try { return parent.document.title } catch (error) { return error.name } }") == (
        "SecurityError"
    )
    assert body.evaluate(f"() => fetch('/api/contents').then(() => 'reached', {name})") == "TypeError"


def test_an_execution_trace_brings_its_kineto_trace(browse: Any, data: Path) -> None:
    files = browse("execution")
    for path in (data / "synthetic_cuda").glob("*.json.gz"):
        files.put(path.name, path)
    frame = shows(files.go().open("torch_et_0"), "kineto_trace_0.json.gz")
    expect(frame.locator("main")).to_contain_text("157 nodes")
    # A notebook gets what the page shows.
    files.page.get_by_role("button", name="Use in notebook").click()
    cell = files.page.locator(".jp-NotebookPanel .jp-CodeCell").first
    expect(cell).to_contain_text('trace = ks.read("kineto_trace_0.json.gz")', timeout=PAUSE)


def test_each_name_of_a_trace_is_known(browse: Any, data: Path) -> None:
    packed = (data / "minimal_cpu/kineto_trace_0.json.gz").read_bytes()
    files = browse("names")
    for name in ("host_1.1790000.pt.trace.json", "run.trace.json"):
        files.put(name, gzip.decompress(packed))
    files.put("step.pt.trace.json.gz", packed)
    ks.read(packed).save(files.folder / "saved.kscope")
    files.go()
    for path in files.folder.iterdir():
        files.item(path.name).dblclick()
        shows(files.frame(), path.name)
        files.page.locator(".lm-TabBar-tab.jp-mod-current .lm-TabBar-tabCloseIcon").click()


def test_a_memory_snapshot_opens(browse: Any, data: Path) -> None:
    files = browse("memory")
    files.put("oom.pickle", gzip.decompress((data / "memory_cuda/failed.pickle.gz").read_bytes()))
    frame = files.go().open("oom.pickle")
    expect(frame.locator("h1")).to_contain_text("oom.pickle", timeout=PAUSE)
    frame.get_by_role("button", name="Peak", exact=True).wait_for()


def test_an_export_of_nsight_systems_opens(browse: Any, data: Path) -> None:
    files = browse("nsight")
    files.put("report1.sqlite", (data / "synthetic_nsight/nsys_0.sqlite").read_bytes())
    shows(files.go().open("report1.sqlite"), "report1.sqlite")


def test_what_is_no_trace_says_so(browse: Any) -> None:
    files = browse("broken")
    files.put("kineto_trace_0.json", b"hello")
    files.put("model.pickle", b"hello")
    frame = files.go().open("kineto_trace_0")
    expect(frame.locator(".ks-failed .ks-status")).to_contain_text(
        "found text that is not a JSON object", timeout=PAUSE
    )
    files.page.locator(".lm-TabBar-tab.jp-mod-current .lm-TabBar-tabCloseIcon").click()
    files.item("model.pickle").dblclick()
    said = files.frame().locator(".ks-failed .ks-status")
    expect(said).to_contain_text("expected a memory snapshot, by its name, found text", timeout=PAUSE)


def test_a_file_beyond_the_browser_is_not_fetched(browse: Any) -> None:
    files = browse("huge")
    files.put("huge.pt.trace.json", b"{}")
    fetched: list[str] = []

    def enlarged(route: Any) -> None:
        answer = route.fetch()
        model = answer.json()
        route.fulfill(response=answer, json={**model, "size": 3_000_000_000})

    files.go()
    files.page.route(re.compile(r"/api/contents/[^/]*/huge\.pt\.trace\.json(\?|$)"), enlarged)
    files.page.on("request", lambda request: fetched.append(request.url))
    frame = files.open("huge")
    said = frame.locator(".ks-failed .ks-status")
    expect(said).to_contain_text("expected at most 2 GB in a browser", timeout=PAUSE)
    expect(said).to_contain_text("ks.read")
    assert not [url for url in fetched if "/files/" in url]


def test_a_file_beyond_the_memory_of_the_browser_says_so(browse: Any, data: Path) -> None:
    files = browse("full")
    files.put("kineto_trace_0.json.gz", data / "minimal_cpu/kineto_trace_0.json.gz")
    # As Chromium fails: a connection that breaks off gives the same error.
    files.page.add_init_script("Response.prototype.blob = async () => { throw new TypeError('Failed to fetch') }")
    said = files.go().open("kineto_trace_0").locator(".ks-failed .ks-status")
    expect(said).to_contain_text("kineto_trace_0.json.gz: the browser has no memory for this file of", timeout=PAUSE)


def test_other_json_opens_on_demand(browse: Any, data: Path) -> None:
    files = browse("demand")
    content = gzip.decompress((data / "minimal_cpu/kineto_trace_0.json.gz").read_bytes())
    files.put("result.json", content)
    files.go().item("result.json").click(button="right")
    files.page.locator(".lm-Menu-itemLabel", has_text=re.compile("^Open With$")).hover()
    files.page.locator(".lm-Menu-itemLabel", has_text=re.compile("^Kinetoscope$")).click()
    shows(files.frame(), "result.json")


def test_keys_open_it_and_its_theme_is_that_of_the_host(browse: Any, data: Path, served: Any, shot: Any) -> None:
    files = browse("keys")
    files.put("kineto_trace_0.json.gz", data / "synthetic_cuda/kineto_trace_0.json.gz")
    page = files.go().page
    page.emulate_media(color_scheme="null")  # an emulated scheme would reach into frames
    files.item("kineto_trace_0").click()
    page.keyboard.press("Enter")
    frame = shows(files.frame(), "kineto_trace_0")
    ground = "element => getComputedStyle(element).backgroundColor"
    assert frame.locator("body").evaluate(ground) == "rgb(245, 246, 248)"
    page.locator(".lm-MenuBar-itemLabel", has_text="Settings").click()
    page.locator(".lm-Menu-itemLabel", has_text=re.compile("^Theme$")).hover()
    page.locator(".lm-Menu-itemLabel", has_text=re.compile("^JupyterLab Dark$")).click()
    expect(frame.locator("body")).to_have_css("background-color", "rgb(13, 17, 23)")
    expect(frame.locator(".ks-root")).to_have_attribute("data-theme", "dark")
    expect(page.locator("#jupyterlab-splash")).to_have_count(0)
    shot(page, "extension-dark")
    page.reload()
    shows(files.frame(), "kineto_trace_0")
    page.locator(".lm-MenuBar-itemLabel", has_text="Settings").click()
    page.locator(".lm-Menu-itemLabel", has_text=re.compile("^Theme$")).hover()
    page.locator(".lm-Menu-itemLabel", has_text=re.compile("^JupyterLab Light$")).click()
    expect(frame.locator("body")).to_have_css("background-color", "rgb(245, 246, 248)")


def test_a_button_reads_it_in_a_notebook(browse: Any, data: Path, notebook_of: Any, served: Any) -> None:
    files = browse("used")
    (files.folder / "runs").mkdir(exist_ok=True)
    files.put('runs/it\'s "0".pt.trace.json.gz', data / "minimal_cpu/kineto_trace_0.json.gz")
    files.put("open.ipynb", json.dumps(notebook_of(["1", "2"])).encode())
    page = files.go().page
    files.item("open.ipynb").dblclick()
    page.locator(".jp-NotebookPanel .jp-Cell").first.wait_for(timeout=PAUSE)
    files.item("runs").dblclick()
    shows(files.open("it's"), "it's")
    page.get_by_role("button", name="Use in notebook").click()
    cells = page.locator(".jp-NotebookPanel:visible .jp-CodeCell")
    expect(cells).to_have_count(3)
    expect(cells.nth(1)).to_contain_text('trace = ks.read("runs/it\'s \\"0\\".pt.trace.json.gz")')


@pytest.mark.parametrize("module", ["jupyterlab", "notebook"])
def test_without_a_notebook_a_new_one_reads_it(browse: Any, module: str, data: Path) -> None:
    files = browse("fresh", module)
    files.put("kineto_trace_0.json.gz", data / "minimal_cpu/kineto_trace_0.json.gz")
    shows(files.go().open("kineto_trace_0"), "kineto_trace_0")
    page = files.page
    button = page.get_by_role("button", name="Use in notebook")
    if module == "notebook":
        with page.context.expect_page() as opened:
            button.click()
        page = opened.value
    else:
        button.click()
    cell = page.locator(".jp-NotebookPanel .jp-CodeCell").first
    expect(cell).to_contain_text('trace = ks.read("kineto_trace_0.json.gz")', timeout=PAUSE)
    saved = json.loads(next(files.folder.glob("Untitled*.ipynb")).read_text())
    assert saved["metadata"]["kernelspec"]["name"] == "python3"
    command = [sys.executable, "-c", "".join(saved["cells"][0]["source"])]
    subprocess.run(command, cwd=files.folder, check=True, timeout=60)


def test_the_launcher_opens_the_empty_page(browse: Any, data: Path) -> None:
    files = browse("launched")
    files.put("note.txt", b"")
    page = files.go().page
    page.locator(".jp-LauncherCard", has_text="Open a trace").click()
    frame = page.frame_locator("iframe[title=Kinetoscope]")
    frame.locator("input[type=file]").set_input_files(data / "minimal_cpu/kineto_trace_0.json.gz")
    shows(frame, "kineto_trace_0")


def test_the_command_palette_of_notebook_opens_the_empty_page(browse: Any, data: Path) -> None:
    files = browse("palette", "notebook")
    files.put("note.txt", b"")
    page = files.page
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    files.go()
    page.keyboard.press("Control+Shift+c")
    page.locator(".lm-CommandPalette-input").fill("open a trace")
    page.locator(".lm-CommandPalette-item", has_text="Open a trace").click()
    frame = page.frame_locator("iframe[title=Kinetoscope]")
    frame.locator("input[type=file]").set_input_files(data / "minimal_cpu/kineto_trace_0.json.gz")
    shows(frame, "kineto_trace_0")
    # The document manager fails where file types are added while it reads its settings.
    assert not [text for text in complaints if "Cannot convert undefined" in text]
