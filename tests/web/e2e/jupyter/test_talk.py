"""What is chosen in the timeline is known in the next cell, and the next cell moves the timeline."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser


def test_a_cell_knows_what_is_chosen(
    opened: Callable[..., Any], timeline_on: Any, read_fixture: str, shot: Callable[[Page, str], None]
) -> None:
    follow = "widget.on_select(seen.append); widget.on_range(lambda span: 1 / 0)"
    notebook = opened(
        "talk",
        [
            f"{read_fixture}seen = []\nwidget = trace.timeline()\n{follow}\nwidget",
            "print('chosen', widget.selection, seen, len(widget.selected_events))",
            "print('range', widget.range, len(widget.selected_events), trace.num_events)",
        ],
    )
    notebook.run(0)
    page = notebook.page
    timeline = timeline_on(page).wait().settle()
    timeline.search("gemm")
    page.keyboard.press("Enter")
    timeline.settle().details()
    notebook.run(1)
    _, selection, seen, count = notebook.output("chosen").split()
    assert seen == f"[{selection}]"
    assert int(count) == 1, "a kernel alone"

    page.locator(".ks-toolbar").scroll_into_view_if_needed()  # the next cell may have moved it out of sight
    ruler = timeline.overlay.bounding_box()
    page.mouse.move(ruler["x"] + 200, ruler["y"] + 5)
    page.mouse.down()
    page.mouse.move(ruler["x"] + 400, ruler["y"] + 5, steps=5)
    page.mouse.up()
    page.locator(".ks-strip[role=alert]", has_text="ZeroDivisionError: division by zero").wait_for()
    shot(page, "widget-error")
    notebook.run(2)
    *_, inside, whole = notebook.output("range").split()
    assert 0 < int(inside) < int(whole)


def test_a_view_that_comes_late_shows_what_was_asked_for(
    opened: Callable[..., Any], timeline_on: Any, read_fixture: str
) -> None:
    find = "relu = int(trace.events.to_pandas().query(\"name == 'aten::relu'\")['id'].iloc[0])\n"
    notebook = opened(
        "late",
        [
            f"{read_fixture}{find}widget = trace.timeline()\nwidget.goto(relu)\nNone",
            "widget",
            "widget.close()\nprint('closed')",
        ],
    )
    notebook.run(0)
    notebook.run(1)
    page = notebook.page
    timeline_on(page).wait()
    page.locator(".ks-event-name", has_text="aten::relu").wait_for()
    notebook.run(2)
    notebook.output("closed")
    page.locator(".ks-root").wait_for(state="detached")
