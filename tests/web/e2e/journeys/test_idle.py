"""A newcomer looks for where the device idles, and why."""

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


def test_the_slowest_iteration_waited_for_its_data(reported: Reported, visit: Visit, snap: Snap) -> None:
    timeline = visit(reported("training")[1])
    page = timeline.page
    page.locator(".ks-card", has_text="slowest").get_by_role("link").click()
    timeline.settle()
    assert page.locator(".ks-busy b").inner_text() == "56 % busy"
    snap(timeline, "idle-iteration")
    page.wait_for_timeout(300)
    for _ in range(2):
        timeline.focus().press("g")
        if "data loading stall" in page.locator(".ks-finding h3").inner_text().lower():
            break
    snap(timeline, "idle-finding")
    assert "more workers" in page.locator(".ks-details").inner_text()
    page.get_by_role("tab", name="Event").click()
    details = timeline.settle().details()
    assert details["name"].startswith("enumerate(DataLoader)")
    assert details["iteration"] == str(synthetic_training.STALLED)


@pytest.mark.parametrize(
    "name",
    [
        "training",
        pytest.param("owlv2", marks=pytest.mark.shared),
        pytest.param("lotus", marks=pytest.mark.shared),
        pytest.param("graph", marks=pytest.mark.shared),
    ],
)
def test_the_longest_gap_is_shown_with_its_reason(name: str, reported: Reported, visit: Visit, snap: Snap) -> None:
    trace, report = reported(name)
    timeline = visit(report)
    page = timeline.page
    page.locator(".ks-nav").get_by_role("link", name="Idle").click()
    idle = page.locator("#idle")
    rows = trace.idle().tables["gaps"].select("dur_ns", "after_id", "category", "host_event_name").rows()
    names = dict(trace.events.select("id", "name").rows())
    # What a communication ends, other ranks have a say in.
    rows = [row for row in rows if not str(names[row[1]]).startswith("nccl")]
    dur, after, reason, host = max(rows, key=lambda row: int(str(row[0])))
    assert f"{reason}: " in idle.locator(".ks-note").first.inner_text(), "the word is explained"
    snap(timeline, f"idle-{name}-reasons")
    row = idle.locator("table").last.locator("tbody tr").first
    assert str(reason) in row.inner_text()
    row.get_by_role("link", name="show").click()
    timeline.settle()
    assert page.url.endswith(f"#gap={after}")
    explained(timeline, snap, (name, str(reason), host))
    duration = page.locator(".ks-gap .ks-facts dd").first.inner_text()
    assert str(dur).startswith(re.sub(r"\D", "", duration)), "without zeros at its end"
    on_screen(timeline, trace, after)
    timeline.press("Escape").settle()
    assert page.locator(".ks-gap").count() == 0, "the timeline has the focus"
    page.evaluate("id => { location.hash = `#event=${id}`; }", after)
    page.locator(".ks-event").wait_for()
    timeline.settle().press("i")
    explained(timeline, snap, (name, str(reason), host))


def on_screen(timeline: Any, trace: ks.Trace, event: int) -> None:
    """The row of the event's stream is visible, between the header and the pane."""
    track = trace.query({"type": "event", "id": event}).data["track"]
    row = timeline.page.locator(f"[data-row='track-{track}']").bounding_box()
    picture = timeline.page.locator(".ks-stage > .ks-picture").bounding_box()
    assert picture["y"] <= row["y"] + row["height"] / 2 <= picture["y"] + picture["height"]


def explained(timeline: Any, snap: Snap, expected: tuple[str, str, object]) -> None:
    """As Python explains it; and its end is a link."""
    name, reason, host = expected
    page = timeline.page
    gap = page.locator(".ks-gap")
    gap.wait_for()
    snap(timeline, f"idle-{name}-why")
    assert reason in gap.locator(".ks-facts").inner_text()
    assert host is None or str(gap.locator(".ks-host .ks-link").first.get_attribute("title")).startswith(str(host))
