"""Compares WebAssembly with native code: reading the same bytes, and all analyses."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import urlencode

import analyses
import kinetoscope as ks
from case import Measured, Skipped, compared
from inputs import ROOT, plain
from pairs import Measure, alternate, timed
from playwright.sync_api import sync_playwright

NUM_PAIRS = 9
NUM_WARM = 2
GLUE = ROOT / "wasm/dist/kinetoscope_wasm.js"
MODULE = ROOT / "wasm/dist/kinetoscope.wasm"
WEB = Path(__file__).with_name("web")

Opened = Callable[[Path], AbstractContextManager[tuple[Measure, str]]]
"""Opens a host with a trace, and gives what loads it, and the host's name."""


def measure_node() -> list[Measured]:
    """In Node."""
    return _measured(_node)


def measure_analyses() -> list[Measured]:
    """All analyses in Node, of a trace that was just read."""
    source, names = plain(), analyses.names()
    text = source.path.read_bytes()
    requests = [{"type": "analyze", "name": name} for name in names]

    def native() -> float:
        trace = ks.read(text)
        return timed(lambda: [trace.query(request) for request in requests])()

    with _node(source.path, requests) as (ask, host):
        pairs = alternate(ask, native, NUM_PAIRS, num_warm=NUM_WARM)
    return [compared(f"{source.name}, {host}", pairs, pairs.ratios, "ms", "native, one thread")]


def measure_chromium() -> list[Measured]:
    """In headless Chromium."""
    return _measured(_chromium)


def _measured(opened: Opened) -> list[Measured]:
    source = plain()
    text = source.path.read_bytes()
    with opened(source.path) as (load, host):
        # Bytes that are not compressed are read by one thread.
        pairs = alternate(load, timed(lambda: ks.read(text)), NUM_PAIRS, num_warm=NUM_WARM)
    return [
        compared(f"{source.name}, {len(text) / 1e6:.1f} MB, {host}", pairs, pairs.inverse, "s", "native, one thread")
    ]


@contextmanager
def _node(trace: Path, requests: Sequence[dict[str, str]] = ()) -> Generator[tuple[Measure, str]]:
    node = shutil.which("node")
    if node is None:
        raise Skipped("no Node on the path")
    version = subprocess.run([node, "--version"], stdout=subprocess.PIPE, text=True, check=True)  # noqa: S603 - as found
    command = [node, WEB / "node.mjs", GLUE, MODULE, trace, *map(json.dumps, requests)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - ours
        yield partial(_asked, process), f"Node {version.stdout.strip()}"
        process.communicate()


def _asked(node: subprocess.Popen[str]) -> float:
    """One line asks for one load."""
    if node.stdin is None or node.stdout is None:
        return math.nan
    print(file=node.stdin, flush=True)
    return float(node.stdout.readline()) / 1000


@contextmanager
def _chromium(trace: Path) -> Generator[tuple[Measure, str]]:
    with _served(ROOT) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path(), args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        paths = {"glue": GLUE, "module": MODULE, "trace": trace}
        query = urlencode({name: f"/{path.relative_to(ROOT)}" for name, path in paths.items()})
        page.goto(f"{address}/benches/web/page.html?{query}")
        page.wait_for_function("window.load !== undefined")
        yield lambda: float(page.evaluate("load()")) / 1000, f"Chromium {browser.version}"
        browser.close()


def browser_path() -> str:
    """The Chromium that the tests use."""
    found = subprocess.run([ROOT / "scripts/browser.sh"], stdout=subprocess.PIPE, text=True, check=False)  # noqa: S603 - ours
    if found.returncode:
        raise Skipped("no Chromium, and none could be installed")
    return found.stdout.strip()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *_args: object) -> None:  # noqa: A002 - as the base class calls it
        """Says nothing of what was asked for."""


@contextmanager
def _served(folder: Path) -> Generator[str]:
    """The address under which a folder is served to this machine."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
