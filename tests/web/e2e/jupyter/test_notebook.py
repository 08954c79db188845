"""The widget in Notebook 7, and what is left of it where no kernel is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser


def test_the_widget_answers_in_notebook_7(
    opened: Callable[..., Any], timeline_on: Any, read_fixture: str, shot: Callable[[Page, str], None]
) -> None:
    notebook = opened(
        "seven",
        [f"{read_fixture}widget = trace.timeline()\nwidget", "print('chosen', widget.selection)"],
        module="notebook",
    )
    notebook.run(0)
    page = notebook.page
    timeline = timeline_on(page).wait().settle()
    assert timeline.search("gemm") == "36 hits"
    page.keyboard.press("Enter")
    timeline.settle().details()
    shot(page, "widget-notebook")
    for key in "ddxab":
        page.keyboard.press(key)
    assert page.locator(".jp-Cell").count() == 2, "d d deletes a cell, x cuts one, a and b add one"
    notebook.run(1)
    assert "None" not in notebook.output("chosen")


def test_a_static_timeline_lives_in_nbconverts_page(
    converted: Callable[[str], Path], browser: Any, timeline_on: Any, shot: Callable[[Page, str], None]
) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.route("http**", lambda route: route.abort())  # the template's own; nothing of ours
    page.goto(converted("trace.render_static()").as_uri())
    frame = page.frame_locator("iframe[srcdoc]")
    frame.locator(".ks-tracks[data-cost]").wait_for()
    assert "Time by event kind" in frame.locator("main").inner_text()
    shot(page, "static-nbconvert")
    page.close()


def test_a_widget_leaves_a_summary_in_nbconverts_page(
    converted: Callable[[str], Path], browser: Any, shot: Callable[[Page, str], None]
) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900}, java_script_enabled=False)
    page.route("http**", lambda route: route.abort())
    page.goto(converted("trace.timeline()").as_uri())
    page.locator(".ks-picture img").wait_for()
    assert "Time by event kind" in page.locator(".ks").inner_text()
    shot(page, "widget-nbconvert")
    page.close()
