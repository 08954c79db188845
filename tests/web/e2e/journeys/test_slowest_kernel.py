"""A newcomer looks for the slowest kernel of iteration 3, and for the line of Python that launched it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
import synthetic_training

pytestmark = pytest.mark.browser

Visit = Callable[[Path], Any]
Snap = Callable[[Any, str], None]
Reported = Callable[[str], tuple[ks.Trace, Path]]


def slowest(trace: ks.Trace, iteration: int) -> dict[str, Any]:
    """The longest device event that runs in an iteration, as the details of the timeline have it."""
    rows = trace.kernels(iteration=iteration).select("max_ns", "longest_id").rows()
    return trace.query({"type": "event", "id": max(rows)[1]}).data


def walk(timeline: Any, iteration: int, snap: Callable[[str], None]) -> None:
    """From the top of the page to the kernel."""
    page = timeline.page
    snap("page")
    row = page.locator("#iterations tbody tr", has=page.locator(f"td:text-is('{iteration}')")).last
    row.get_by_role("link", name="show").click()
    timeline.settle()
    panel = page.locator(".ks-range")
    panel.get_by_text("time by kind").wait_for()
    snap("iteration")
    panel.get_by_role("button", name="kernels", exact=True).click()
    panel.get_by_role("button", name="max", exact=True).click()
    snap("kernels")
    panel.locator("tbody tr").first.get_by_role("button").first.click()
    timeline.settle()
    snap("kernel")


@pytest.mark.parametrize(
    ("name", "iteration"),
    [
        ("training", 3),
        pytest.param("lotus", 3, marks=pytest.mark.shared),
        pytest.param("resnet", 17, marks=pytest.mark.shared),
    ],
)
def test_the_slowest_kernel_and_its_line(
    name: str, iteration: int, reported: Reported, visit: Visit, snap: Snap
) -> None:
    trace, report = reported(name)
    timeline = visit(report)
    page = timeline.page
    walk(timeline, iteration, lambda step: snap(timeline, f"slowest-{name}-{step}"))
    expected = slowest(trace, iteration)
    details = timeline.details()
    assert details["name"] == expected["name"]
    assert details["duration"] == f"{expected['dur_ns']} ns"
    assert details["iteration"] == str(expected["iteration"]), "that of its launch, which may be an earlier one"
    line = page.locator(".ks-chain div", has_text=re.compile("your code|Python line")).get_by_role("button")
    if expected["frame"] is None:
        assert name != "training"
        assert line.count() == 0, "what no line launched names none"
        return
    assert line.get_attribute("title").startswith(expected["frame"]["name"])
    if name == "training":
        assert expected["name"] == synthetic_training.SLOW_KERNEL
        assert expected["frame"]["name"] == synthetic_training.SLOW_FRAME
    line.click()
    timeline.settle()
    assert timeline.details()["name"] == expected["frame"]["name"]
    snap(timeline, f"slowest-{name}-line")


def test_the_shortest_way_is_the_table_of_kernels(reported: Reported, visit: Visit) -> None:
    """Of the whole trace: sorted by the longest run, one click away from it."""
    trace, report = reported("training")
    timeline = visit(report)
    page = timeline.page
    table = page.locator("#kernels table").first
    table.get_by_role("button", name="longest").click()
    table.locator("tbody tr").first.get_by_role("link").click()
    assert timeline.settle().details()["name"] == slowest(trace, synthetic_training.SLOW)["name"]
