"""The widget in Notebook 7, and what is left of it where no kernel is."""

from __future__ import annotations

import json
import subprocess
import sys
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


@pytest.fixture
def run_notebook(
    tmp_path: Path, read_fixture: str, notebook_of: Callable[[list[str]], dict[str, Any]]
) -> Callable[[str], Path]:
    """Runs a cell without a browser and gives the page that nbconvert makes of the notebook."""

    def run(source: str) -> Path:
        data = Path(__file__).resolve().parents[3] / "data/synthetic_cuda"
        (tmp_path / "traces").symlink_to(data)
        path = tmp_path / "shared.ipynb"
        path.write_text(json.dumps(notebook_of([read_fixture + source])))
        # As notebooks are saved by default; where the state of widgets is, the page asks the internet for their code.
        options = ["--to", "html", "--execute", "--ExecutePreprocessor.store_widget_state=False"]
        command = [sys.executable, "-m", "nbconvert", *options, path.name]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=120)
        return path.with_suffix(".html")

    return run


def test_a_static_timeline_lives_in_nbconverts_page(
    run_notebook: Callable[[str], Path], browser: Any, timeline_on: Any, shot: Callable[[Page, str], None]
) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.route("http**", lambda route: route.abort())  # the template's own; nothing of ours
    page.goto(run_notebook("trace.render_static()").as_uri())
    frame = page.frame_locator("iframe[srcdoc]")
    frame.locator(".ks-tracks[data-cost]").wait_for(timeout=30_000)
    assert "Time by event kind" in frame.locator("main").inner_text()
    shot(page, "static-nbconvert")
    page.close()


def test_a_widget_leaves_a_summary_in_nbconverts_page(
    run_notebook: Callable[[str], Path], browser: Any, shot: Callable[[Page, str], None]
) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900}, java_script_enabled=False)
    page.route("http**", lambda route: route.abort())
    page.goto(run_notebook("trace.timeline()").as_uri())
    page.locator(".ks svg path").first.wait_for()
    assert "Time by event kind" in page.locator(".ks").inner_text()
    shot(page, "widget-nbconvert")
    page.close()
