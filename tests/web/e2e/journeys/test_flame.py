"""Someone asks which module makes the device wait, and which line: the flame graph, by mouse and by keys alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

Visit = Callable[[Path], Any]
Snap = Callable[[Any, str], None]
Reported = Callable[[str], tuple[ks.Trace, Path]]

SAID = ".ks-said"
FRAME = ".ks-flame-frame"


def opened(timeline: Any) -> Any:
    timeline.focus().press("e")
    timeline.page.locator(".ks-flame-crumbs", has_text="in all").wait_for()
    return timeline.page


def test_the_widest_frame_leads_to_the_timeline(reported: Reported, visit: Visit, snap: Snap) -> None:
    trace, report = reported("training")
    timeline = visit(report)
    page = opened(timeline)
    choices = page.locator(".ks-flame-choices select")
    choices.nth(1).select_option("idle_ns")
    choices.nth(0).select_option("stack")
    graph = trace.flamegraph(by="stack", weight="idle_ns")
    rows = graph.select("depth", "name", "total_weight", "largest_id").rows()
    said = page.locator(SAID)
    said.filter(has_text=f"{len(rows)} frames").wait_for()
    for _ in range(1 + max(row[0] for row in rows)):
        page.keyboard.press("ArrowDown")
    # Inwards, each time to the widest frame: the first of the level, as they are in order.
    path = [rows[0]]
    for row in rows[1:]:
        if row[0] != path[-1][0] + 1:
            break
        path.append(row)
    assert page.locator(".ks-flame-name").get_attribute("title") == path[-1][1]
    snap(timeline, "flame-idle")
    page.keyboard.press("t")
    timeline.settle()
    assert page.locator(".ks-flame").count() == 0
    assert timeline.details()["id"] == str(path[-1][3])


def test_callers_and_callees_of_one_kernel(reported: Reported, visit: Visit, snap: Snap) -> None:
    trace, report = reported("training")
    timeline = visit(report)
    page = opened(timeline)
    kernel = trace.kernels().select("name", "total_ns").rows()[0]
    page.keyboard.press("/")
    page.keyboard.type(str(kernel[0])[:24])
    page.locator(".ks-flame-choices .ks-hits").wait_for()
    snap(timeline, "flame-search")
    page.keyboard.press("Escape")
    for _ in range(12):
        page.keyboard.press("ArrowDown")
    chosen = page.locator(".ks-flame-name").get_attribute("title")
    page.get_by_role("button", name="Callers").click()
    page.locator(".ks-flame-crumbs", has_text="callers of").wait_for()
    graph = trace.flamegraph(focus=str(chosen), direction="callers")
    [first] = graph.select("total_weight").rows(0, 1)
    page.locator(SAID).filter(has_text=f"{len(graph)} frame").wait_for()
    assert first[0] == sum(
        total for name, total in trace.flamegraph().select("name", "total_weight").rows() if name == chosen
    )
    snap(timeline, "flame-callers")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    assert page.locator(".ks-flame-crumbs", has_text="callers of").count() == 0


def test_an_iteration_and_a_marked_range(reported: Reported, visit: Visit, snap: Snap) -> None:
    trace, report = reported("training")
    timeline = visit(report)
    page = opened(timeline)
    weight = page.locator(".ks-flame-crumbs button").first
    whole = weight.inner_text()
    [iteration] = trace.iterations.select("iteration").rows()[1]
    page.locator(".ks-flame-choices select").nth(2).select_option(label=f"ProfilerStep#{iteration}")
    expect(weight).not_to_have_text(whole)
    graph = trace.flamegraph(iteration=int(iteration))
    [(total,)] = graph.tables["flamegraph_coverage"].select("total_weight").rows()
    value, unit = re.match(r"([\d.]+) (\S+) in all", weight.inner_text()).groups()  # type: ignore[union-attr] - it matches
    scale = {"ms": 1e6, "µs": 1e3, "s": 1e9, "ns": 1}[unit]
    assert abs(float(value) * scale - total) <= total * 1e-3
    snap(timeline, "flame-iteration")


def test_a_faster_run_is_blue(trained: Any, visit: Visit, snap: Snap, tmp_path: Path) -> None:
    before, after = (Path(folder) / "kineto_trace_0.json.gz" for folder in trained)
    changes = ks.diff(before, after)
    path = tmp_path / "changes.html"
    changes.report(path)
    timeline = visit(path)
    timeline.focus().press("e")
    page = timeline.page
    page.locator(".ks-flame-crumbs", has_text="before and after").wait_for()
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    rows = changes.flamegraph().select("depth", "change_weight").rows()
    assert rows[0][1] < 0, "the second run is faster"
    assert "→" in page.locator(FRAME).inner_text()
    assert "−" in page.locator(FRAME).inner_text()
    snap(timeline, "flame-change")


def test_a_slow_rank_against_the_median(visit: Visit, snap: Snap, tmp_path: Path, data: Path) -> None:
    job = ks.read_dir(data / "mlp_gloo")
    path = tmp_path / "job.html"
    job.report(path)
    times = {rank: sum(dur for (dur,) in job[rank].iterations.select("dur_ns").rows()) for rank in job.ranks}
    # Of two ranks, the faster one counts as the median.
    median, slow = sorted(times, key=lambda rank: times[rank])
    timeline = visit(path)
    page = opened(timeline)
    for label, choice in (("Trace", f"rank {slow}"), ("Against", f"rank {median} (median)")):
        page.locator(".ks-flame-choices label", has_text=label).locator("select").select_option(label=choice)
    page.locator(".ks-flame-crumbs", has_text="before and after").wait_for()
    rows = job.diff(slow).flamegraph().select("name", "change_weight").rows()
    page.locator(SAID).filter(has_text=f"{len(rows)} frames").wait_for()
    page.keyboard.press("ArrowDown")
    assert ("+" if rows[0][1] > 0 else "−") in page.locator(FRAME).inner_text()
    snap(timeline, "flame-against-median")
    assert f"from rank {median} (median) to rank {slow}" in page.locator("#flame").inner_text()


def test_the_graph_is_as_it_was_left(reported: Reported, visit: Visit) -> None:
    _, report = reported("training")
    timeline = visit(report)
    page = opened(timeline)
    page.locator(".ks-flame-choices select").nth(1).select_option("host_ns")
    page.keyboard.press("/")
    page.keyboard.type("aten")
    for key in ("Enter", "Escape", "Enter"):
        page.keyboard.press(key)
    page.get_by_role("button", name="Callees").click()
    page.locator(".ks-flame-crumbs", has_text="callees of").wait_for()
    page.keyboard.press("ArrowDown")
    left = page.locator(".ks-flame").inner_text()
    weight = page.locator(".ks-flame-choices select").nth(1)
    page.keyboard.press("t")
    timeline.settle()
    assert page.locator(".ks-flame").count() == 0
    page.keyboard.press("e")
    page.locator(".ks-flame").wait_for()
    assert page.locator(".ks-flame").inner_text() == left
    assert weight.input_value() == "host_ns"
    page.keyboard.press("e")
    timeline.focus().press("r")
    timeline.focus().press("e")
    expect(page.locator(".ks-flame-crumbs")).not_to_contain_text("callees of")


def test_enter_walks_through_the_hits(reported: Reported, visit: Visit) -> None:
    trace, report = reported("training")
    timeline = visit(report)
    page = opened(timeline)
    names = [name for (name,) in trace.flamegraph().select("name").rows()]
    count = sum("aten::add" in name for name in names)
    assert count > 2
    page.keyboard.press("/")
    page.keyboard.type("aten::add")
    hits, chosen = page.locator(".ks-flame-choices .ks-hits"), page.locator(".ks-flame-name")
    for key, at in (("Enter", 1), ("Enter", 2), ("Shift+Enter", 1), ("Shift+Enter", count)):
        page.keyboard.press(key)
        expect(hits).to_contain_text(f"{at} of {count} ·")
        assert "aten::add" in str(chosen.get_attribute("title"))


def test_the_hovered_frame_is_told_beside_the_chosen_one(reported: Reported, visit: Visit) -> None:
    trace, report = reported("training")
    timeline = visit(report)
    page = opened(timeline)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    names = page.locator(".ks-flame-name")
    chosen = names.get_attribute("title")
    box = page.locator(".ks-flame-picture canvas").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 20, box["y"] + 9)
    (first,) = trace.flamegraph().select("name").rows()[0]
    expect(names).to_have_count(2)
    assert [name.get_attribute("title") for name in names.all()] == [first, chosen]
    expect(page.locator(".ks-flame-hovered")).to_be_in_viewport()
    expect(page.get_by_role("button", name="Callers")).to_be_visible()


def test_a_long_name_leaves_room_to_close_it(reported: Reported, visit: Visit) -> None:
    trace, report = reported("training")
    timeline = visit(report)
    page = opened(timeline)
    page.set_viewport_size({"width": 420, "height": 800})
    page.keyboard.press("/")
    page.keyboard.insert_text(max((name for (name,) in trace.flamegraph().select("name").rows()), key=len))
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Callees").click()
    crumb = page.get_by_role("button", name="callees of")
    text, mark = crumb.evaluate(
        """crumb => [...crumb.childNodes].filter(node => node.textContent.trim()).slice(0, 2).map(node => {
            const range = document.createRange();
            range.selectNode(node);
            const { left, right } = (node.getBoundingClientRect ? node : range).getBoundingClientRect();
            return [left, right, node.scrollWidth > node.clientWidth && getComputedStyle(node).textOverflow];
        })"""
    )
    box = crumb.bounding_box()
    assert text[2] == "ellipsis"
    assert box["x"] <= text[0] < text[1] <= mark[0] < mark[1] <= box["x"] + box["width"]
    assert box["width"] > 150
    crumb.click()
    expect(crumb).to_have_count(0)
