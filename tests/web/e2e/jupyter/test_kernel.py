"""The kernel answers where the browser cannot: for a trace that is too large, and where WebAssembly may not run."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

SHOW = "widget = trace.timeline()\nwidget"
_QUEUE = "kinetoscope._notebook.request_queue"
SILENCE = f"import {_QUEUE}\n{_QUEUE}.RequestQueue.put = lambda *_: None\n"
LARGE = "import kinetoscope._notebook.widget\nkinetoscope._notebook.widget.BROWSER_EVENTS = 100\n"
# As a page's policy has it without 'wasm-unsafe-eval'.
FORBIDDEN = """
for (const name of ["compile", "instantiate", "compileStreaming", "instantiateStreaming"])
    WebAssembly[name] = () => Promise.reject(new WebAssembly.CompileError("refused by Content Security Policy"));
WebAssembly.Module = function () { throw new WebAssembly.CompileError("refused by Content Security Policy"); };
"""


def forbid(page: Page) -> None:
    page.add_init_script(FORBIDDEN)


def look_around(timeline: Any) -> None:
    """Zooms, searches and reads, as one does."""
    before = timeline.settle().picture()
    assert timeline.focus().press("w", "w", "w").picture() != before
    assert timeline.search("gemm") == "36 hits"
    timeline.page.keyboard.press("Enter")
    assert "gemm" in timeline.settle().details()["name"]


def test_a_large_trace_is_shown_by_the_kernel(
    opened: Callable[..., Any], timeline_on: Any, read_fixture: str, shot: Callable[[Page, str], None]
) -> None:
    notebook = opened("large", [f"{read_fixture}{LARGE}{SHOW}"])
    notebook.run(0)
    page = notebook.page
    timeline = timeline_on(page).wait()
    page.locator(".ks-strip[role=status]", has_text="325 events: the trace stays in the kernel").wait_for()
    assert page.evaluate("globalThis[Symbol.for('kinetoscope.modules')]") is None, "no core is compiled"
    shot(page, "widget-large")
    look_around(timeline)


def test_the_picture_is_the_same_whoever_answers(
    opened: Callable[..., Any], timeline_on: Any, read_fixture: str
) -> None:
    pictures: list[str] = []
    for name, before in (("here", ""), ("there", LARGE)):
        notebook = opened(name, [f"{read_fixture}{before}{SHOW}"])
        notebook.run(0)
        timeline = timeline_on(notebook.page).wait()
        if before:
            notebook.page.locator(".ks-strip button").click()
        pictures.append(timeline.settle().picture())
    assert pictures[0] == pictures[1]


def test_the_kernel_answers_where_webassembly_is_forbidden(
    opened: Callable[..., Any], timeline_on: Any, read_fixture: str, shot: Callable[[Page, str], None]
) -> None:
    notebook = opened("forbidden", [f"{read_fixture}{SHOW}"], prepare=forbid)
    notebook.run(0)
    page = notebook.page
    timeline = timeline_on(page).wait()
    page.locator(".ks-strip[role=status]", has_text="does not allow WebAssembly").wait_for()
    shot(page, "widget-forbidden")
    look_around(timeline)


def test_a_kernel_that_is_silent_is_spoken_of_and_the_picture_is_there(
    opened: Callable[..., Any], read_fixture: str, shot: Callable[[Page, str], None]
) -> None:
    """Also a kernel that is gone: nobody can tell the two apart."""
    notebook = opened("silent", [f"{read_fixture}{SILENCE}{SHOW}"])
    notebook.run(0)
    page = notebook.page
    page.locator(".ks-waiting", has_text="Check that the kernel is running").wait_for()
    assert page.locator("svg.ks-picture path").count() > 0
    shot(page, "widget-silent")


def test_a_kernel_that_falls_silent_is_spoken_of(
    opened: Callable[..., Any], timeline_on: Any, read_fixture: str
) -> None:
    notebook = opened("falls", [f"{read_fixture}{LARGE}{SHOW}", f"{SILENCE}print('silent')"])
    notebook.run(0)
    page = notebook.page
    timeline = timeline_on(page).wait().settle()
    notebook.run(1)
    notebook.output("silent")
    timeline.focus().page.keyboard.press("/")
    page.keyboard.insert_text("gemm")
    page.locator(".ks-strip[role=alert]", has_text="Python does not answer").wait_for()
    assert timeline.ink(timeline.tracks) > 0, "what was drawn stays"
