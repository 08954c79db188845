"""Real Jupyter servers, and notebooks that are open in the browser."""

from __future__ import annotations

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

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

HERE = Path(__file__).resolve().parent
FIXTURE = HERE.parents[2] / "data/synthetic_cuda/kineto_trace_0.json.gz"
# What a first start would ask the reader, and the internet, about.
QUIET = {
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "apputils-extension/themes": {"theme": "JupyterLab Light"},
}


def notebook(sources: list[str]) -> dict[str, Any]:
    def cell(at: int, source: str) -> dict[str, Any]:
        empty: dict[str, Any] = {"execution_count": None, "metadata": {}, "outputs": []}
        return {"cell_type": "code", "id": f"cell{at}", "source": source, **empty}

    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    cells = [cell(at, source) for at, source in enumerate(sources)]
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


class Server:
    """A running server of JupyterLab (`jupyterlab`) or Notebook (`notebook`), and the folder that it serves."""

    def __init__(self, folder: Path, module: str) -> None:
        self.module = module
        self.notebooks = folder / "notebooks"
        shutil.copytree(FIXTURE.parent, self.notebooks / "traces")
        self.settings = folder / "settings"
        self.config = folder / "jupyter_config_dir"
        settings = self.settings / "@jupyterlab"
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
        return [sys.executable, "-m", self.module, *(f"--{name}={value}" for name, value in options.items())]

    def _env(self, folder: Path) -> dict[str, str]:
        own = {name: str(folder / name.lower()) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR")}
        return {**os.environ, **own, "JUPYTER_PLATFORM_DIRS": "1"}

    def address(self, name: str) -> str:
        """Where a notebook is opened."""
        if self.module == "notebook":
            return f"{self.url}/notebooks/{name}.ipynb"
        return f"{self.url}/lab/workspaces/{name}/tree/{name}.ipynb"

    def _wait(self, log: Path) -> None:
        for _ in range(300):
            if self._answers():
                return
            time.sleep(0.2)
        message = f"expected {self.module} to start, found:\n{log.read_text()[-2000:]}"
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


class Notebook:
    """A notebook that is open in the browser."""

    def __init__(self, server: Server, page: Page, name: str, content: str) -> None:
        self.page = page
        self.path = server.notebooks / f"{name}.ipynb"
        self.path.write_text(content)
        page.goto(server.address(name))
        page.locator(".jp-NotebookPanel .jp-Cell").first.wait_for(timeout=60_000)
        page.locator(".jp-Notebook-ExecutionIndicator[data-status='idle']").wait_for(timeout=60_000)

    def run(self, at: int) -> None:
        cell = self.page.locator(".jp-CodeCell").nth(at)
        prompt = cell.locator(".jp-InputArea-prompt")
        # What is sent before the kernel listens is lost.
        for _ in range(4):
            self.accept()
            prompt.click()
            self.page.keyboard.press("Shift+Enter")
            for _ in range(40):
                if re.fullmatch(r"\[\d+\]:", prompt.inner_text().strip()):
                    return
                self.page.wait_for_timeout(200)
        message = f"expected cell {at} to run"
        raise AssertionError(message)

    def accept(self) -> None:
        """Says yes where JupyterLab asks, as whether to wait for a kernel that is slow to start."""
        for accept in self.page.locator("dialog.jp-Dialog .jp-mod-accept").all():
            accept.click()

    def run_all(self) -> None:
        """Runs the first cell, so that the kernel listens, then starts all cells."""
        self.run(0)
        self.accept()
        self.page.locator(".lm-MenuBar-itemLabel", has_text=re.compile("^Run$")).click()
        self.page.locator(".lm-Menu-itemLabel", has_text=re.compile("^Run All Cells$")).click()

    def saved(self) -> str:
        before = self.path.stat().st_mtime_ns
        for attempt in range(200):
            if attempt % 20 == 0:  # it does nothing while JupyterLab ends an earlier save
                self.accept()
                self.page.keyboard.press("Control+s")
            if self.path.stat().st_mtime_ns != before and self.path.read_text().endswith("}\n"):
                return self.path.read_text()
            self.page.wait_for_timeout(100)
        message = "expected the notebook to be saved"
        raise AssertionError(message)

    def use_theme(self, name: str) -> None:
        """Selects a theme in the menu, as `JupyterLab Dark`."""
        self.page.locator(".lm-MenuBar-itemLabel", has_text="Settings").click()
        self.page.locator(".lm-Menu-itemLabel", has_text=re.compile("^Theme$")).hover()
        self.page.locator(".lm-Menu-itemLabel", has_text=re.compile(f"^{name}$")).click()
        is_light = str(not name.endswith("Dark")).lower()
        self.page.locator(f"body[data-jp-theme-light={is_light}]").wait_for(state="attached")

    def output(self, text: str) -> str:
        """What a cell said that holds `text`, once it has."""
        said = self.page.locator(".jp-OutputArea-output", has_text=text).last
        said.wait_for()
        return said.inner_text()


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Server]]:
    """Servers by their modules, each started when it is first asked for."""
    running: dict[str, Server] = {}

    def serve(module: str) -> Server:
        if module not in running:
            pytest.importorskip(module)
            running[module] = Server(tmp_path_factory.mktemp(module), module)
        return running[module]

    yield serve
    for server in running.values():
        server.close()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Servers and kernels are other programs, slow on a busy machine. The report names every second try."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.fixture
def opened(
    request: pytest.FixtureRequest, served: Callable[[str], Server], browser: Any, strict_pages: Callable[[str], Any]
) -> Callable[..., Notebook]:
    """Opens a notebook of these cells, or a copy of one, in JupyterLab or in another server."""
    # The kernel of a first try still runs.
    suffix = "-again" if getattr(request.node, "execution_count", 1) > 1 else ""

    def open_page(
        name: str,
        cells: list[str] | Path,
        *,
        module: str = "jupyterlab",
        prepare: Callable[[Page], object] | None = None,
    ) -> Notebook:
        server = served(module)
        page = strict_pages(server.url).page("light", width=1280, height=860)
        if prepare:
            prepare(page)
        content = cells.read_text() if isinstance(cells, Path) else json.dumps(notebook(cells))
        return Notebook(server, page, f"{name}{suffix}", content)

    return open_page


@pytest.fixture(scope="session")
def notebook_of() -> Callable[[list[str]], dict[str, Any]]:
    """Makes the content of a notebook of cells."""
    return notebook


@pytest.fixture
def converted(tmp_path: Path, read_fixture: str) -> Callable[..., Path]:
    """Runs a cell without a browser, and returns the page that nbconvert makes of the notebook."""

    def convert(source: str, theme: str = "light") -> Path:
        (tmp_path / "traces").symlink_to(FIXTURE.parent)
        path = tmp_path / "shared.ipynb"
        path.write_text(json.dumps(notebook([read_fixture + source])))
        # As notebooks are saved by default. With saved widgets, the page fetches their code.
        options = ["--to", "html", "--execute", f"--theme={theme}", "--ExecutePreprocessor.store_widget_state=False"]
        command = [sys.executable, "-m", "nbconvert", *options, path.name]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=120)
        return path.with_suffix(".html")

    return convert


@pytest.fixture(scope="session")
def read_fixture() -> str:
    """The cell that reads the trace beside the notebook."""
    return "import kinetoscope as ks\ntrace = ks.read('traces/kineto_trace_0.json.gz')\n"
