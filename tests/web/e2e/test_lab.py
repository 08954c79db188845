"""The widget in a real JupyterLab."""

from __future__ import annotations

import base64
import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import kinetoscope as ks
import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

FIXTURE = Path(__file__).resolve().parents[2] / "data/synthetic_cuda/kineto_trace_0.json.gz"
CELLS = [
    "import kinetoscope as ks\ntrace = ks.read('traces/kineto_trace_0.json.gz')\nwidget = trace.timeline()\nwidget",
    "print('chosen', widget.selection, widget.range)",
    "widget.goto(int(trace.events.to_pandas().query(\"name == 'aten::relu'\")['id'].iloc[0]))",
    "trace.timeline(height=300)",
]
# What a first start would ask the reader, and the internet, about.
QUIET = {
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "apputils-extension/themes": {"theme": "JupyterLab Light"},
}


def notebook() -> dict[str, Any]:
    def cell(at: int, source: str) -> dict[str, Any]:
        empty: dict[str, Any] = {"execution_count": None, "metadata": {}, "outputs": []}
        return {"cell_type": "code", "id": f"cell{at}", "source": source, **empty}

    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    cells = [cell(at, source) for at, source in enumerate(CELLS)]
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


class Lab:
    """A running server, and the folder that it serves."""

    def __init__(self, folder: Path) -> None:
        self.notebooks = folder / "notebooks"
        shutil.copytree(FIXTURE.parent, self.notebooks / "traces")
        settings = folder / "settings/@jupyterlab"
        for name, content in QUIET.items():
            (settings / name).parent.mkdir(parents=True, exist_ok=True)
            (settings / f"{name}.jupyterlab-settings").write_text(json.dumps(content))
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.url = f"http://127.0.0.1:{probe.getsockname()[1]}"
        self._log = (folder / "log").open("w")
        self._server = subprocess.Popen(
            self._command(folder), env=self._env(folder), stdout=self._log, stderr=self._log
        )
        self._wait(folder / "log")

    def _command(self, folder: Path) -> list[str]:
        port = self.url.rpartition(":")[2]
        options = {
            "ServerApp.ip": "127.0.0.1",
            "ServerApp.port": port,
            "ServerApp.port_retries": "0",
            "ServerApp.root_dir": str(self.notebooks),
            "ServerApp.open_browser": "False",
            "ServerApp.allow_root": "True",
            "IdentityProvider.token": "",
            "LabApp.user_settings_dir": str(folder / "settings"),
            "LabApp.workspaces_dir": str(folder / "workspaces"),
        }
        return [sys.executable, "-m", "jupyterlab", *(f"--{name}={value}" for name, value in options.items())]

    def _env(self, folder: Path) -> dict[str, str]:
        own = {name: str(folder / name.lower()) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR")}
        return {**os.environ, **own, "JUPYTER_PLATFORM_DIRS": "1"}

    def _wait(self, log: Path) -> None:
        for _ in range(300):
            if self._answers():
                return
            time.sleep(0.2)
        message = f"expected JupyterLab to start, found:\n{log.read_text()[-2000:]}"
        raise AssertionError(message)

    def _answers(self) -> bool:
        try:
            port = int(self.url.rpartition(":")[2])
            with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=1)) as connection:
                connection.request("GET", "/api")
                return connection.getresponse().status == http.HTTPStatus.OK
        except OSError:
            return False

    def close(self) -> None:
        self._server.terminate()
        self._server.wait(20)
        self._log.close()


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    running = Lab(tmp_path_factory.mktemp("lab"))
    yield running
    running.close()


class Notebook:
    """A notebook that is open in the browser."""

    def __init__(self, lab: Lab, page: Page, name: str) -> None:
        self.page = page
        self.path = lab.notebooks / f"{name}.ipynb"
        self.path.write_text(json.dumps(notebook()))
        page.goto(f"{lab.url}/lab/workspaces/{name}/tree/{name}.ipynb")
        page.locator(".jp-NotebookPanel .jp-Cell").first.wait_for(timeout=60_000)
        page.locator(".jp-Notebook-ExecutionIndicator[data-status='idle']").wait_for(timeout=60_000)

    def run(self, at: int) -> None:
        cell = self.page.locator(".jp-CodeCell").nth(at)
        prompt = cell.locator(".jp-InputArea-prompt")
        # What is sent before the kernel listens is lost.
        for _ in range(4):
            # A kernel that is slow to start makes JupyterLab ask whether to wait.
            for accept in self.page.locator("dialog.jp-Dialog .jp-mod-accept").all():
                accept.click()
            prompt.click()
            self.page.keyboard.press("Shift+Enter")
            for _ in range(40):
                if re.fullmatch(r"\[\d+\]:", prompt.inner_text().strip()):
                    return
                self.page.wait_for_timeout(200)
        message = f"expected cell {at} to run"
        raise AssertionError(message)

    def saved(self) -> str:
        before = self.path.stat().st_mtime_ns
        self.page.keyboard.press("Control+s")
        for _ in range(100):
            if self.path.stat().st_mtime_ns != before and self.path.read_text().endswith("}\n"):
                return self.path.read_text()
            self.page.wait_for_timeout(100)
        message = "expected the notebook to be saved"
        raise AssertionError(message)


@pytest.fixture
def opened(lab: Lab, browser: Any, strict_pages: Callable[[str], Any]) -> Callable[..., Notebook]:
    def open_page(name: str, scheme: str = "light") -> Notebook:
        return Notebook(lab, strict_pages(lab.url).page(scheme, width=1280, height=860), name)

    return open_page


@pytest.fixture
def kernel() -> dict[str, Any]:
    """The first gemm of the fixture."""
    columns: tuple[str, ...] = ("name", "start_ns", "dur_ns", "id")
    rows = ks.read(FIXTURE).events.select(*columns).rows()
    found: list[dict[str, Any]] = [dict(zip(columns, row, strict=True)) for row in rows if "gemm" in row[0]]
    return min(found, key=lambda row: row["start_ns"])


def test_the_widget_answers(
    opened: Callable[..., Notebook], timeline_on: Any, kernel: dict[str, Any], shot: Callable[[Page, str], None]
) -> None:
    notebook = opened("answers")
    notebook.run(0)
    page = notebook.page
    timeline = timeline_on(page).wait().settle()

    whole = timeline.picture()
    x, y = timeline.point_at("stream 7", 0, 0.1)
    page.mouse.move(x, y)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -300)
    page.keyboard.up("Control")
    assert timeline.settle().picture() != whole, "Ctrl and the wheel zoom"

    assert timeline.search("gemm") == "36 hits"
    page.keyboard.press("Enter")
    details = timeline.settle().details()
    assert (details["name"], details["duration"]) == (kernel["name"], f"{kernel['dur_ns']} ns")
    assert "aten::addmm" in page.locator(".ks-event").inner_text()
    page.locator(".jp-SideBar .lm-TabBar-tab[data-id='filebrowser']").click()  # the files beside it are of no interest
    timeline.focus().press(*["Enter"] * 4)
    shot(page, "readme-timeline-light")

    timeline.focus().press("[")
    assert timeline.details()["name"] == "cudaLaunchKernel"
    notebook.run(1)
    said = page.locator(".jp-OutputArea-output", has_text="chosen").inner_text()
    assert said.split()[1] not in {"None", str(kernel["id"])}

    notebook.run(2)
    page.locator(".ks-event-name", has_text="aten::relu").wait_for()


def test_keys_are_not_commands_of_the_notebook(opened: Callable[..., Notebook], timeline_on: Any) -> None:
    notebook = opened("keys")
    notebook.run(0)
    page = notebook.page
    timeline = timeline_on(page).wait().settle()
    page.mouse.click(*timeline.point_at("stream 7", 1, 0.15))
    before = timeline.settle().picture()
    for key in "ddxabwwjkmry":
        page.keyboard.press(key)
    assert page.locator(".jp-Cell").count() == len(CELLS), "d d deletes a cell, x cuts one, a and b add one"
    assert page.locator(".jp-MarkdownCell").count() == 0, "m turns a cell into prose"
    assert timeline.settle().picture() != before, "they move the timeline instead"
    assert "Mode: Command" in page.locator("#jp-main-statusbar").inner_text()


def test_the_trace_is_not_saved_with_the_notebook(opened: Callable[..., Notebook], timeline_on: Any) -> None:
    notebook = opened("saved")
    notebook.run(0)
    timeline = timeline_on(notebook.page).wait().settle()
    timeline.search("gemm")
    notebook.page.keyboard.press("Enter")
    timeline.settle()
    saved = notebook.saved()
    content = json.loads(saved)
    (output,) = content["cells"][0]["outputs"]
    assert {"text/html", "text/plain"} < set(output["data"]), "what is shown where there is no kernel"
    snapshot = base64.b64encode(ks.read(FIXTURE).snapshot()).decode()
    assert snapshot[:60] not in saved
    assert len(json.dumps(content["metadata"].get("widgets", {}))) < 4000
    assert len(saved) < 60_000


def test_two_widgets_share_the_compiled_core(opened: Callable[..., Notebook], timeline_on: Any) -> None:
    notebook = opened("two")
    notebook.run(0)
    timeline_on(notebook.page).wait()
    notebook.run(3)
    notebook.page.locator(".ks-tracks[data-cost]").nth(1).wait_for()
    compiled = "globalThis[Symbol.for('kinetoscope.modules')].size"
    assert notebook.page.evaluate(compiled) == 1
    heights = notebook.page.locator(".ks-root").evaluate_all("roots => roots.map(root => root.clientHeight)")
    assert heights[1] < heights[0]


def test_the_theme_follows(
    opened: Callable[..., Notebook], timeline_on: Any, shot: Callable[[Page, str], None]
) -> None:
    notebook = opened("theme")
    notebook.run(0)
    page = notebook.page
    timeline = timeline_on(page).wait().settle()
    root = page.locator(".ks-root")
    assert root.get_attribute("data-theme") == "light"
    corner = "canvas => [...canvas.getContext('2d').getImageData(canvas.width - 3, canvas.height - 3, 1, 1).data]"
    assert min(timeline.tracks.evaluate(corner)[:3]) > 200
    page.locator(".lm-MenuBar-itemLabel", has_text="Settings").click()
    page.locator(".lm-Menu-itemLabel", has_text=re.compile("^Theme$")).hover()
    page.locator(".lm-Menu-itemLabel", has_text=re.compile("^JupyterLab Dark$")).click()
    page.locator("body[data-jp-theme-light=false]").wait_for(state="attached")
    assert root.get_attribute("data-theme") == "dark"
    for _ in range(100):  # its colours come after its name
        if max(timeline.tracks.evaluate(corner)[:3]) < 60:
            break
        page.wait_for_timeout(100)
    assert max(timeline.settle().tracks.evaluate(corner)[:3]) < 60
    page.mouse.click(*timeline.point_at("stream 7", 1, 0.2))
    timeline.settle()
    shot(page, "widget-dark")
