"""Someone who uses only the keyboard: from the top of the page to the line that launched the slowest kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import synthetic_training

pytestmark = pytest.mark.browser

ACTIVE = """() => {
    let active = document.activeElement;
    while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement;
    return active ? active.getAttribute("aria-label") || active.title || active.innerText || "" : "";
}"""


def tab_to(page: Any, name: str) -> None:
    """Presses Tab until something of this name has the focus."""
    for _ in range(250):
        page.keyboard.press("Tab")
        if page.evaluate(ACTIVE).startswith(name):
            return
    message = f"expected Tab to come to {name!r}"
    raise AssertionError(message)


def test_all_of_it_by_keys_alone(
    reported: Callable[[str], Any], visit: Callable[..., Any], snap: Callable[[Any, str], None]
) -> None:
    timeline = visit(reported("training")[1])
    page = timeline.page
    tab_to(page, "Timeline")
    page.keyboard.press("Enter")
    timeline.settle()
    assert page.evaluate(ACTIVE).startswith("Timeline of"), "the jump leads there"
    snap(timeline, "keyboard-stage")
    page.keyboard.press("?")
    assert "Next hit" in page.get_by_role("dialog").inner_text()
    snap(timeline, "keyboard-help")
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("masked_fill_kernel")
    page.locator(".ks-hits").wait_for()
    for _ in range(1 + 3 * synthetic_training.SLOW + 1):  # three blocks an iteration, the second of them is slow
        page.keyboard.press("Enter")
        timeline.settle()
    assert timeline.details()["duration"] == "608620 ns"
    page.keyboard.press("Escape")
    timeline.settle()
    page.keyboard.press("[")
    assert timeline.settle().details()["name"] == "cudaLaunchKernel"
    for _ in range(2):
        page.keyboard.press("p")
        timeline.settle()
    assert timeline.details()["name"] == synthetic_training.SLOW_FRAME
    snap(timeline, "keyboard-line")
    page.keyboard.press("n")
    page.keyboard.type("why so slow?")
    page.keyboard.press("Enter")
    page.keyboard.press("r")
    page.locator(".ks-range").get_by_text("time by kind").wait_for()
    timeline.settle()
    snap(timeline, "keyboard-range")
    tab_to(page, "kernels")
    page.keyboard.press("Enter")
    page.locator(".ks-range .ks-answer").wait_for()
    for _ in range(2):  # what is selected, then the range
        page.keyboard.press("Escape")
    page.keyboard.press("Home")
    timeline.settle()
    snap(timeline, "keyboard-end")
    assert page.locator(".ks-stage:focus").count() == 1
