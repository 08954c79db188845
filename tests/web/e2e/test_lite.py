"""The notebook on the documentation site, whose Python runs in the page. `make docs` builds it."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

REPOSITORY = Path(__file__).resolve().parents[3]
SITE = REPOSITORY / "site"
TRACE = REPOSITORY / "tests/data/synthetic_cuda/kineto_trace_0.json.gz"
# Python starts in half a minute where benches/RESULTS.md was measured.
PATIENCE_MS = 180_000

pytestmark = pytest.mark.skipif(not (SITE / "lite").exists(), reason="`make docs` builds the notebook")


class Handler(SimpleHTTPRequestHandler):
    def log_request(self, code: object = "-", size: object = "-") -> None:
        """Keeps the test's output clean."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(SITE))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture
def opened(address: str, strict_pages: Callable[[str], Any]) -> Iterator[Callable[[str], Page]]:
    """Opens the notebook in one of the applications. Its pages fetch nothing from elsewhere."""
    pages = strict_pages(address)

    def open_page(application: str) -> Page:
        page = pages.page(width=1280, height=1000)
        page.goto(f"{address}lite/{application}/index.html?path=try.ipynb")
        page.locator(".jp-CodeCell").first.wait_for()
        return page

    yield open_page
    assert [url for url in pages.fetched if not url.startswith(("data:", f"blob:{address}"))] == []


def select(page: Page, menu: str, item: str) -> None:
    page.locator(".lm-MenuBar-itemLabel", has_text=re.compile(f"^{menu}$")).click()
    page.locator(".lm-Menu-itemLabel", has_text=re.compile(f"^{item}$")).click()


def test_the_notebook_runs(opened: Any, timeline_on: Any, shot: Callable[[Page, str], None]) -> None:
    page = opened("notebooks")
    select(page, "Run", "Run All Cells")
    outputs = page.locator(".jp-OutputArea-output")
    outputs.first.wait_for(timeout=PATIENCE_MS)
    for text in ["complete", "busy_ns", "sum_functor", "launch_bound"]:
        outputs.filter(has_text=text).first.wait_for()
    page.locator(".jp-CodeCell", has_text="trace.timeline()").scroll_into_view_if_needed()
    timeline = timeline_on(page).wait().settle()
    assert page.locator(".ks-error, [role=alert]").count() == 0
    shot(page, "lite")
    timeline.search("sum")
    page.locator(".jp-CodeCell", has_text="trace.report(").scroll_into_view_if_needed()
    outputs.filter(has_text="report.html").first.wait_for()


def test_own_traces_are_read(opened: Any, tmp_path: Path) -> None:
    page = opened("lab")
    plain = tmp_path / "plain.json"
    plain.write_bytes(gzip.decompress(TRACE.read_bytes()))
    with page.expect_file_chooser() as chooser:
        page.locator("jp-button[data-command='filebrowser:upload'], .jp-ToolbarButton [title^='Upload']").first.click()
    chooser.value.set_files([TRACE, plain])
    for path in [TRACE, plain]:
        page.locator(".jp-DirListing-item", has_text=path.name).wait_for()
    page.locator(".jp-CodeCell .cm-content").first.click()
    page.keyboard.press("Control+a")
    names = [TRACE.name, plain.name]
    page.keyboard.insert_text(f"import kinetoscope as ks\n[len(ks.read(name).events) for name in {names}]")
    page.keyboard.press("Shift+Enter")
    said = page.locator(".jp-CodeCell").first.locator(".jp-OutputArea-output")
    said.first.wait_for(timeout=PATIENCE_MS)
    first, second = re.findall(r"\d+", said.last.inner_text())
    assert first == second
    assert int(first) > 100
