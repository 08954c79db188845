"""A hostile trace in a live notebook: its names stay text, in the timeline and in what the kernel answers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import kinetoscope as ks
import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

TRACE = Path(__file__).resolve().parents[3] / "data/hostile/kineto_trace_0.json.gz"
CELLS = [
    f"import kinetoscope as ks\ntrace = ks.read({str(TRACE)!r})\nwidget = trace.timeline()\nwidget",
    "trace",
    "trace.operators()",
    "ks.diff(trace, trace)",
    "widget.selected_events",
]


def test_hostile_names_stay_text(
    opened: Callable[..., Any], timeline_on: Any, shot: Callable[[Page, str], None]
) -> None:
    events = ks.read(TRACE).events.select("id", "name").rows()
    hostile = [(at, name) for at, name in events if "<" in (name or "")]
    assert len(hostile) > 1
    cells = [CELLS[0], *(f"widget.goto({at})" for at, _ in hostile), *CELLS[1:]]
    notebook = opened("hostile", cells)
    page = notebook.page
    notebook.run(0)
    timeline = timeline_on(page).wait().settle()
    for at, (_, name) in enumerate(hostile):
        notebook.run(1 + at)
        page.locator(".ks-event-name", has_text=name.strip()[:20]).wait_for()
    page.mouse.move(*timeline.settle().point_at("thread 4200", 0, 0.5))
    timeline.search("<script>")
    page.keyboard.press("Enter")
    timeline.settle()
    shot(page, "widget-hostile")
    for at in range(1 + len(hostile), len(cells)):
        notebook.run(at)
    page.locator(".jp-OutputArea-output table").first.wait_for(state="attached")  # it may be scrolled away
    assert page.evaluate("window.hostile") is None
    assert page.locator(".ks-timeline img, .ks-timeline iframe, .ks-timeline script").count() == 0
