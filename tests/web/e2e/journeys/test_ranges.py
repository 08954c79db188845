"""A performance engineer compares iterations and sums up what a search finds, with as few actions as possible."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest

pytestmark = pytest.mark.browser

Visit = Callable[[Path], Any]
Snap = Callable[[Any, str], None]
Reported = Callable[[str], tuple[ks.Trace, Path]]

REAL = [pytest.param(name, marks=pytest.mark.shared) for name in ("resnet", "lotus")]


def click_iteration(timeline: Any, trace: ks.Trace, number: int) -> None:
    """Clicks the middle of an iteration in the strip above the tracks."""
    start, dur = next(row[1:] for row in iterations(trace) if row[0] == number)
    timeline.page.mouse.click(*timeline.iteration_point(trace, start + dur / 2))
    timeline.settle()


def iterations(trace: ks.Trace) -> list[tuple[Any, ...]]:
    return trace.iterations.select("iteration", "start_ns", "dur_ns").rows()


def to_timeline(timeline: Any) -> Any:
    timeline.page.locator(".ks-nav").get_by_role("link", name="Timeline").click()
    return timeline.settle()


@pytest.mark.parametrize("name", ["training", *REAL])
def test_two_clicks_compare_two_iterations(name: str, reported: Reported, visit: Visit, snap: Snap) -> None:
    trace, report = reported(name)
    timeline = to_timeline(visit(report))
    page = timeline.page
    # The longest ones can be hit.
    first, second = sorted(iterations(trace), key=lambda row: -row[2])[:2]
    click_iteration(timeline, trace, first[0])
    assert page.get_by_role("tab", selected=True).inner_text() == "Range"
    click_iteration(timeline, trace, second[0])
    panel = page.locator(".ks-range")
    assert f"A iteration {first[0]} (" in panel.locator("h3").inner_text()
    assert f"B iteration {second[0]} (" in panel.locator("h3").inner_text()
    panel.locator("td", has_text="step").first.wait_for()
    heads = panel.locator("thead th").all_inner_texts()
    assert heads[1:4] == ["A", "B", "B − A"]
    for canvas in panel.locator(".ks-aligned canvas").all():
        assert timeline.ink(canvas) > 50, "both iterations are drawn"
    snap(timeline, f"ranges-compare-{name}")
    panel.get_by_role("button", name="kernels").click()
    panel.get_by_role("button", name="name").wait_for()
    timeline.focus().press("Escape")
    assert page.get_by_role("tab", selected=True).inner_text() == "Range", "the comparison ends, the range stays"


@pytest.mark.parametrize("name", ["training", *REAL])
def test_a_search_is_summed_up(name: str, reported: Reported, visit: Visit, snap: Snap) -> None:
    trace, report = reported(name)
    timeline = to_timeline(visit(report))
    kernels = [dur for kind, dur in trace.events.select("kind", "dur_ns").rows() if kind == "kernel"]
    least = sorted(kernels)[len(kernels) // 2]
    long = [dur for dur in kernels if dur > least]
    page = timeline.page
    timeline.search(f"cat:kernel dur>{least}")
    page.get_by_role("button", name="List the hits").click()
    heading = page.locator(".ks-range h3")
    heading.get_by_text("total").wait_for()
    assert heading.inner_text().startswith(f"{len(long):,} hit")
    assert longest(max(long)) in heading.inner_text()
    snap(timeline, f"ranges-hits-{name}")
    page.locator(".ks-which select").select_option(label=f"hits ({len(long)})")
    page.locator(".ks-answer").get_by_role("button", name="dur").click()
    page.locator(".ks-answer tbody tr").first.get_by_role("button").first.click()
    assert timeline.settle().details()["duration"] == f"{max(long)} ns"


def longest(ns: int) -> str:
    """The beginning of the words for a longest duration."""
    return "longest " if ns < 0 else f"longest {str(ns)[0]}"


def test_alt_drag_compares_any_two_ranges(reported: Reported, visit: Visit) -> None:
    timeline = to_timeline(visit(reported("training")[1]))
    page, picture = timeline.page, timeline.overlay.bounding_box()

    def drag(start: float, end: float) -> str:
        page.keyboard.down("Alt")
        page.mouse.move(picture["x"] + start * picture["width"], picture["y"] + 8)
        page.mouse.down()
        page.mouse.move(picture["x"] + end * picture["width"], picture["y"] + 8, steps=5)
        page.mouse.up()
        page.keyboard.up("Alt")
        timeline.settle()
        return page.get_by_role("tab", selected=True).inner_text()

    assert drag(0.1, 0.3) == "Range", "the first range has none to be compared with"
    assert drag(0.5, 0.8) == "A | B"


def test_a_click_moves_nothing_beside_the_details(reported: Reported, visit: Visit) -> None:
    _, report = reported("training")
    timeline = to_timeline(visit(report))
    page = timeline.page
    if page.viewport_size["width"] < 1100:
        pytest.skip("the details open below the picture, which gets smaller")
    before = timeline.picture()
    x, y = timeline.point_at("stream 7", 0, 0.4)
    page.mouse.click(x, y)
    page.wait_for_timeout(400)
    assert page.get_by_role("tab", selected=True).inner_text() in {"Event", "Idle"}
    assert timeline.picture() == before
    page.get_by_role("button", name="Close the details").click()
    page.reload()
    timeline.wait()
    assert page.locator(".ks-details").count() == 0, "the browser keeps it"


def test_each_rank_is_one_row(trained: Any, tmp_path: Path, visit: Visit, snap: Snap) -> None:
    job = ks.read_dir(trained.before)
    timeline = to_timeline(visit(job.report(tmp_path / "job.html")))
    page = timeline.page
    timeline.focus().press("t")
    names = page.locator(".ks-scrolled .ks-row")
    assert names.count() == len(job)
    for at, row in enumerate(names.all()):
        assert f"rank {at}" in row.inner_text()
        assert "%" in row.locator(".ks-time-bar").inner_text()
    snap(timeline, "ranges-ranks")
    timeline.focus().press("t")
    assert names.count() > len(job)
