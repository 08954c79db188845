"""The widget as the README shows it: a training on a GPU, with the kernel that is slow chosen in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
import synthetic_training

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

CELLS = ['import kinetoscope as ks\n\ntrace = ks.read("run/kineto_trace_0.json.gz")\ntrace.timeline(height=640)', ""]


def test_the_picture_of_a_widget(
    opened: Callable[..., Any],
    served: Callable[[str], Any],
    timeline_on: Any,
    shot: Callable[[Page, str], None],
) -> None:
    synthetic_training.write(served("jupyterlab").notebooks / "run")
    notebook = opened("training", CELLS)
    page = notebook.page
    page.locator(".jp-SideBar .lm-TabBar-tab[data-id='filebrowser']").click()  # the files beside it are of no interest
    notebook.run(0)
    timeline = timeline_on(page).wait().settle()
    timeline.search("masked_fill_kernel")
    for _ in range(3 * synthetic_training.SLOW + 2):  # three blocks an iteration, the second of them is slow
        page.keyboard.press("Enter")
        timeline.settle()
    page.keyboard.press("Escape")
    for key in "www":
        timeline.focus().press(key)
    timeline.press("f")
    assert "hide_padding" in page.locator(".ks-chain").inner_text()
    page.locator(".ks-toolbar").scroll_into_view_if_needed()
    shot(page, "readme-timeline-light")
