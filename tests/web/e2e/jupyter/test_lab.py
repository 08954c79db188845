"""The widget in a real JupyterLab."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import kinetoscope as ks
import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

FIXTURE = Path(__file__).resolve().parents[3] / "data/synthetic_cuda/kineto_trace_0.json.gz"
CELLS = [
    "import kinetoscope as ks\ntrace = ks.read('traces/kineto_trace_0.json.gz')\nwidget = trace.timeline()\nwidget",
    "print('chosen', widget.selection, widget.range)",
    "widget.goto(int(trace.events.to_pandas().query(\"name == 'aten::relu'\")['id'].iloc[0]))",
    "trace.timeline(height=300)",
]


@pytest.fixture
def kernel() -> dict[str, Any]:
    """The first gemm of the fixture."""
    columns: tuple[str, ...] = ("name", "start_ns", "dur_ns", "id")
    rows = ks.read(FIXTURE).events.select(*columns).rows()
    found: list[dict[str, Any]] = [dict(zip(columns, row, strict=True)) for row in rows if "gemm" in row[0]]
    return min(found, key=lambda row: row["start_ns"])


def test_the_widget_answers(
    opened: Callable[..., Any], timeline_on: Any, kernel: dict[str, Any], shot: Callable[[Page, str], None]
) -> None:
    notebook = opened("answers", CELLS)
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
    timeline.focus().press(*["Enter"] * 4)
    shot(page, "widget-light")

    timeline.focus().press("[")
    assert timeline.details()["name"] == "cudaLaunchKernel"
    notebook.run(1)
    said = page.locator(".jp-OutputArea-output", has_text="chosen").inner_text()
    assert said.split()[1] not in {"None", str(kernel["id"])}

    notebook.run(2)
    page.locator(".ks-event-name", has_text="aten::relu").wait_for()


def test_keys_are_not_commands_of_the_notebook(opened: Callable[..., Any], timeline_on: Any) -> None:
    notebook = opened("keys", CELLS)
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
    timeline.search("ddxabm")
    assert page.locator(".jp-Cell").count() == len(CELLS), "what is typed into the search is no command either"
    for key in "ddxabm":
        page.keyboard.press(key)
    assert page.locator(".jp-Cell").count() == len(CELLS)
    assert "Mode: Command" in page.locator("#jp-main-statusbar").inner_text()


def test_the_trace_is_not_saved_with_the_notebook(opened: Callable[..., Any], timeline_on: Any) -> None:
    notebook = opened("saved", CELLS)
    notebook.run(0)
    timeline = timeline_on(notebook.page).wait().settle()
    timeline.search("gemm")
    notebook.page.keyboard.press("Enter")
    timeline.settle()
    saved = notebook.saved()
    content = json.loads(saved)
    _, output = content["cells"][0]["outputs"]
    assert set(output["data"]) == {"text/html", "text/plain"}, "what is shown where there is no kernel"
    snapshot = base64.b64encode(ks.read(FIXTURE).snapshot()).decode()
    assert snapshot[:60] not in saved
    assert len(json.dumps(content["metadata"].get("widgets", {}))) < 4000
    assert len(saved) < 60_000


def test_two_widgets_share_the_compiled_core(opened: Callable[..., Any], timeline_on: Any) -> None:
    notebook = opened("two", CELLS)
    notebook.run(0)
    timeline_on(notebook.page).wait()
    notebook.run(3)
    notebook.page.locator(".ks-tracks[data-cost]").nth(1).wait_for()
    notebook.page.wait_for_function("globalThis[Symbol.for('kinetoscope.modules')]?.size === 1")
    heights = notebook.page.locator(".ks-root").evaluate_all("roots => roots.map(root => root.clientHeight)")
    assert heights[1] < heights[0]
