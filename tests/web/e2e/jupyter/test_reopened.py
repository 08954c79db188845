"""Notebooks that are opened again: with another kernel, by somebody else, or without a widget manager."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = pytest.mark.browser

HINT = "run the cell in a notebook with Jupyter widgets for the interactive timeline"
TRACKS = ("thread 4200", "stream 7")
ALIGNED = "cells => cells.map(cell => getComputedStyle(cell).textAlign)"


@pytest.fixture
def reopened(opened: Callable[..., Any], timeline_on: Any, read_fixture: str) -> Callable[..., Page]:
    """Runs a cell, saves the notebook, and opens a copy of its file, which has a kernel of its own."""

    def reopen(name: str, source: str, change: Callable[[str], str] = lambda saved: saved, **options: Any) -> Page:
        notebook = opened(name, [f"{read_fixture}{source}"], **options)
        notebook.run(0)
        if "timeline" in source:
            timeline_on(notebook.page).wait()
        else:
            notebook.page.locator(".jp-OutputArea-output").first.wait_for()
        saved = notebook.saved()
        copy = notebook.path.with_stem(f"{name}-copy")
        copy.write_text(change(saved))
        # The first page stays: it may ask before it closes.
        page: Page = notebook.page.context.new_page()
        page.goto(notebook.page.url.replace(name, copy.stem))
        page.locator(".jp-Notebook-ExecutionIndicator[data-status='idle']").wait_for(timeout=60_000)
        return page

    return reopen


def distrusted(saved: str) -> str:
    """Changes an output, so that its signature is wrong."""
    content = json.loads(saved)
    for output in content["cells"][0]["outputs"]:
        output["data"]["text/plain"] = "from somebody else"
    return json.dumps(content)


def visible(locator: Locator) -> Locator:
    return locator.filter(visible=True)


def expect_picture(page: Page) -> None:
    """One picture that is loaded, and no name of a track as text."""
    picture = visible(page.locator(".jp-OutputArea img[src^='data:image/svg']"))
    picture.wait_for()
    assert picture.count() == 1
    assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") > 300
    box = picture.bounding_box()
    assert box is not None
    assert box["width"] > 300
    said = page.locator(".jp-OutputArea").first.inner_text()
    assert not any(name in said for name in TRACKS), said
    for error in ("model not found", "Loading widget", "Error", "No renderer"):
        assert error not in said


@pytest.mark.parametrize("module", ["jupyterlab", pytest.param("notebook", marks=pytest.mark.nightly)])
def test_a_new_kernel_leaves_the_picture(
    reopened: Callable[..., Page], shot: Callable[[Page, str], None], module: str
) -> None:
    page = reopened("newkernel", "trace.timeline()", module=module)
    page.get_by_text(HINT).wait_for()
    page.wait_for_timeout(2000)  # the widget manager gives up
    expect_picture(page)
    assert page.locator(".ks-card").count() == 7
    shot(page, f"reopened-{module}")


def test_the_summary_is_hidden_while_the_widget_lives(
    opened: Callable[..., Any], timeline_on: Any, read_fixture: str
) -> None:
    notebook = opened("lives", [f"{read_fixture}widget = trace.timeline()\nwidget", "widget.close()"])
    notebook.run(0)
    page = notebook.page
    timeline_on(page).wait()
    page.wait_for_timeout(2000)
    assert visible(page.locator("[data-ks-saved]")).count() == 0
    heights = "outputs => outputs.map(output => output.clientHeight)"
    assert page.locator(".jp-OutputArea-child").evaluate_all(heights)[1] == 0, "no gap below the widget"
    notebook.run(1)
    page.get_by_text(HINT).wait_for()
    expect_picture(page)


def test_the_same_kernel_keeps_the_widget(opened: Callable[..., Any], timeline_on: Any, read_fixture: str) -> None:
    notebook = opened("same", [f"{read_fixture}trace.timeline()"])
    notebook.run(0)
    timeline_on(notebook.page).wait()
    notebook.saved()
    page = notebook.page.context.new_page()
    page.goto(notebook.page.url)
    timeline_on(page).wait()
    assert visible(page.locator("[data-ks-saved]")).count() == 0


@pytest.mark.nightly
def test_saved_widgets_leave_one_picture(
    reopened: Callable[..., Page], served: Callable[[str], Any], shot: Callable[[Page, str], None]
) -> None:
    """JupyterLab makes the widget of its saved state, but nobody answers it."""
    settings = served("jupyterlab").settings / "@jupyter-widgets/jupyterlab-manager/plugin.jupyterlab-settings"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(json.dumps({"saveState": True}))
    try:
        page = reopened("withstate", "trace.timeline()")
        page.locator(".ks-waiting", has_text="Check that the kernel is running").wait_for()
        assert visible(page.locator("svg.ks-picture")).count() == 1
        assert visible(page.locator("[data-ks-saved]")).count() == 0
        shot(page, "reopened-with-state")
    finally:
        settings.unlink()


def test_no_widget_manager_leaves_the_picture(
    reopened: Callable[..., Page], served: Callable[[str], Any], shot: Callable[[Page, str], None]
) -> None:
    config = served("jupyterlab").config / "labconfig/page_config.json"
    config.parent.mkdir(parents=True, exist_ok=True)

    def disable(saved: str) -> str:
        config.write_text(json.dumps({"disabledExtensions": {"@jupyter-widgets/jupyterlab-manager": True}}))
        return saved

    try:
        page = reopened("nomanager", "trace.timeline()", disable)
        page.get_by_text(HINT).wait_for()
        expect_picture(page)
        shot(page, "reopened-without-manager")
    finally:
        shutil.rmtree(config.parent)


@pytest.mark.parametrize("source", ["trace", "trace.timeline()"])
@pytest.mark.parametrize("module", ["jupyterlab", pytest.param("notebook", marks=pytest.mark.nightly)])
def test_an_untrusted_notebook_is_readable(
    reopened: Callable[..., Page], shot: Callable[[Page, str], None], module: str, source: str
) -> None:
    name = f"untrusted{len(source)}"
    page = reopened(name, source, distrusted, module=module)
    page.locator("table").first.wait_for()
    assert page.locator(".jp-OutputArea style").count() == 0, "the notebook is not trusted"
    expect_picture(page)
    cards = page.locator("table").first.locator("tr")
    assert cards.first.inner_text().split() == ["recording", "complete"]
    assert set(cards.first.locator("th,td").evaluate_all(ALIGNED)) == {"left"}
    shot(page, f"{name}-{module}")


def test_an_untrusted_static_timeline_is_a_picture(
    reopened: Callable[..., Page], shot: Callable[[Page, str], None]
) -> None:
    page = reopened("untrustedstatic", "trace.render_static()", distrusted)
    expect_picture(page)
    assert page.locator("iframe[srcdoc]").count() == 0
    shot(page, "untrusted-static")
