"""The report where WebAssembly may not run: it says so, and everything that needs none stays."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import kinetoscope as ks
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser


def test_a_report_without_webassembly_says_so_and_keeps_its_picture(
    cuda: ks.Trace, tmp_path: Path, strict_pages: Callable[[str], Any], shot: Callable[[Page, str], None]
) -> None:
    report = cuda.report(tmp_path / "report.html")
    page_text = report.read_text()
    assert page_text.count("'wasm-unsafe-eval'") == 1
    report.write_text(page_text.replace("'wasm-unsafe-eval'", ""))
    page = strict_pages("file://").page()
    page.goto(report.as_uri())
    page.locator("[role=alert]", has_text="Cannot show the timeline").wait_for()
    assert page.locator("#ks-timeline svg path").count() > 0
    assert page.locator("main table").count() > 3
    shot(page, "report-forbidden")
