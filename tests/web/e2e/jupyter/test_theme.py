"""Timelines follow the theme of JupyterLab, in every part and in both directions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = pytest.mark.browser

TOP = 5
# The most frequent colours of a canvas, as `red,green,blue`.
COLORS = """(canvas, top) => {
    const { width, height } = canvas;
    const copy = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    const { data } = copy.getImageData(0, 0, width, height);
    const counts = new Map();
    for (let i = 0; i < data.length; i += 4) {
        const color = `${data[i]},${data[i + 1]},${data[i + 2]}`;
        counts.set(color, (counts.get(color) ?? 0) + 1);
    }
    return [...counts].sort((a, b) => b[1] - a[1]).slice(0, top).map(([color]) => color);
}"""


def colors(canvas: Locator) -> list[str]:
    found: list[str] = canvas.evaluate(COLORS, TOP)
    return found


def brightness(color: str) -> int:
    return max(map(int, color.split(",")))


def wait_until(page: Page, done: Callable[[], bool]) -> None:
    """The colours of a theme come after its name."""
    for _ in range(50):
        if done():
            return
        page.wait_for_timeout(100)
    assert done()


def test_all_canvases_follow(opened: Callable[..., Any], timeline_on: Any, read_fixture: str, shot: Any) -> None:
    notebook = opened("theme", [f"{read_fixture}trace.timeline()"])
    notebook.run(0)
    page = notebook.page
    timeline = timeline_on(page).wait().settle()
    root = page.locator(".ks-root")
    canvases = [timeline.tracks, page.locator(".ks-minimap")]
    assert root.get_attribute("data-theme") == "light"
    light = [colors(canvas) for canvas in canvases]
    for canvas in canvases:
        assert brightness(colors(canvas)[0]) > 200
    page.mouse.move(5, 5)  # a pointer in the timeline would repaint it

    notebook.use_theme("JupyterLab Dark")
    wait_until(page, lambda: root.get_attribute("data-theme") == "dark")
    for canvas, before in zip(canvases, light, strict=True):
        wait_until(page, lambda canvas=canvas: brightness(colors(canvas)[0]) < 60)
        assert not set(colors(canvas)) & set(before), "no bar keeps its colour"
    shot(page, "widget-dark")

    notebook.use_theme("JupyterLab Light")
    for canvas, before in zip(canvases, light, strict=True):
        wait_until(page, lambda canvas=canvas, before=before: colors(canvas) == before)
    shot(page, "widget-light-again")


def test_a_static_timeline_follows(opened: Callable[..., Any], read_fixture: str, shot: Any) -> None:
    def unset(page: Page) -> None:
        """Emulated preferences outweigh the scheme that the host gives to a frame."""
        page.emulate_media(color_scheme="null")

    notebook = opened("statictheme", [f"{read_fixture}trace.render_static()"], prepare=unset)
    notebook.run(0)
    page = notebook.page
    frame = page.frame_locator("iframe[srcdoc]")
    frame.locator(".ks-tracks[data-cost]").wait_for(timeout=30_000)
    root, body = frame.locator(".ks-root"), frame.locator("body")
    ground = "body => getComputedStyle(body).backgroundColor"
    canvases = [frame.locator(".ks-tracks"), frame.locator(".ks-minimap")]
    wait_until(page, lambda: root.get_attribute("data-theme") == "light")
    light = body.evaluate(ground)

    notebook.use_theme("JupyterLab Dark")
    wait_until(page, lambda: root.get_attribute("data-theme") == "dark")
    assert body.evaluate(ground) != light
    for canvas in canvases:
        wait_until(page, lambda canvas=canvas: brightness(colors(canvas)[0]) < 60)
    shot(page, "static-dark")

    notebook.run(0)
    frame.locator(".ks-tracks[data-cost]").wait_for(timeout=30_000)
    wait_until(page, lambda: root.get_attribute("data-theme") == "dark")
    notebook.use_theme("JupyterLab Light")
    wait_until(page, lambda: root.get_attribute("data-theme") == "light")
    assert body.evaluate(ground) == light
