"""Someone's run went out of memory: which line holds the peak, and was there enough in pieces?"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

Shot = Callable[[Any, str], None]


@pytest.fixture(scope="module")
def snapshot(data: Path) -> ks.MemorySnapshot:
    found = ks.read(data / "memory_cuda/failed.pickle.gz")
    assert isinstance(found, ks.MemorySnapshot)
    return found


@pytest.fixture
def page(browser: Any, snapshot: ks.MemorySnapshot, tmp_path: Path) -> Iterator[Any]:
    page = browser.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.goto(snapshot.report(tmp_path / "memory.html").as_uri())
    page.locator(".ks-controls").first.wait_for()
    yield page
    page.close()
    assert problems == []


def picture(page: Any, part: str) -> str:
    return str(page.locator(f"[data-fragment={part}] svg.ks-chart").inner_html())


def test_the_page_says_why_and_what_helps(page: Any, snapshot: ks.MemorySnapshot, shot: Shot) -> None:
    (advice, asked) = snapshot.memory().tables["out_of_memory"].select("advice", "asked_bytes").rows()[0]
    section = page.locator("#out_of_memory")
    expect(section).to_contain_text(advice)
    expect(section).to_contain_text(str(asked >> 20))
    holder = snapshot.memory().tables["memory_holders"].select("site").rows()[0][0]
    expect(page.locator("#origins tbody tr").first).to_contain_text(holder.split(" (")[0])
    shot(page, "memory-page")


def test_a_search_leads_to_the_memory_at_that_moment(page: Any, snapshot: ks.MemorySnapshot) -> None:
    page.get_by_role("searchbox").fill("segment_free")
    rows = page.locator("#events tbody tr")
    expect(rows).to_have_count(2)
    expect(page.locator("#events caption")).to_contain_text("1 to 2 of 2")
    row = int(rows.first.get_attribute("data-row"))
    page.locator("#events tbody tr button.ks-moment").first.click()
    expect(page.locator("#state h2")).to_contain_text(f"after action {row}")
    expect(page.locator("#state tbody tr")).to_have_count(len(snapshot.memory_state(row)))


def stack_of(snapshot: ks.MemorySnapshot, stack_id: int) -> list[str]:
    """The lines of a stack, innermost first."""
    frames = snapshot.frames.select("stack_id", "depth", "function", "file", "line").rows()
    mine = sorted((row[1:] for row in frames if row[0] == stack_id), key=lambda row: row[0])
    place = [(function or "", file or "", "" if line is None else f":{line}") for _, function, file, line in mine]
    return [f"{function} ({file}{line})" for function, file, line in place]


def test_rows_of_events_open_their_stack(page: Any, snapshot: ks.MemorySnapshot) -> None:
    row = page.locator("#events tbody tr").nth(20)
    button = row.get_by_role("button", name="Stack", exact=True)
    button.press("Enter")
    expect(button).to_have_attribute("aria-expanded", "true")
    (stack,) = snapshot.actions.select("stack_id").rows()[int(row.get_attribute("data-row"))]
    lines = row.locator("pre").inner_text().splitlines()
    # Names of more than a thousand characters are cut in their middle.
    assert [line[:600] for line in lines] == [line[:600] for line in stack_of(snapshot, int(stack))]
    assert len(lines) > 1
    button.press("Enter")
    expect(row.locator("pre")).to_have_count(0)


def test_it_works_by_keys_alone(page: Any) -> None:
    before = picture(page, "state")
    page.get_by_role("button", name="Peak", exact=True).press("Enter")
    expect(page.locator("#state h2")).to_contain_text("at the peak")
    assert picture(page, "state") != before
    slider = page.get_by_role("slider")
    slider.focus()
    page.keyboard.press("Home")
    expect(page.locator("#state h2")).to_contain_text("after action 0")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#state h2")).to_contain_text("after action 1")
    whole = picture(page, "bands")
    page.get_by_role("button", name="Zoom in").press("Enter")
    zoomed = picture(page, "bands")
    assert zoomed != whole
    page.get_by_role("button", name="Later").first.press("Enter")
    assert picture(page, "bands") != zoomed
    page.get_by_role("button", name="All", exact=True).press("Enter")
    assert picture(page, "bands") == whole
    # A pause takes room by time, not by action.
    page.get_by_role("button", name="By time").press("Enter")
    assert "10 s" in picture(page, "bands")
    assert "10 s" not in whole
    page.get_by_role("button", name="By action").press("Enter")
    assert picture(page, "bands") == whole


def test_a_drag_zooms_to_the_peak(page: Any, snapshot: ks.MemorySnapshot) -> None:
    (peak,) = snapshot.memory().select("peak_ns").rows()[0]
    (first,) = snapshot.actions.select("time_ns").rows()[0]
    (last,) = snapshot.actions.select("time_ns").rows()[-1]
    box = page.locator("[data-fragment=bands] svg.ks-chart").bounding_box()
    wide, left = box["width"] / 784, box["x"] + (12 + 70) / 784 * box["width"]
    at = left + (peak - first) / (last - first) * 690 * wide
    page.mouse.move(at - 20, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(at + 20, box["y"] + box["height"] / 2, steps=4)
    page.mouse.up()
    expect(page.locator("[data-fragment=bands] svg.ks-chart")).to_contain_text(re.compile(r"peak 231 MiB"))
    assert page.locator(".ks-shade").count() == 0


def test_later_pages_of_events(page: Any, snapshot: ks.MemorySnapshot) -> None:
    later, earlier = (page.locator("#events").get_by_role("button", name=name) for name in ("Later", "Earlier"))
    expect(earlier).to_be_disabled()
    shown = []
    while later.is_enabled():
        shown += [int(row.get_attribute("data-row")) for row in page.locator("#events tbody tr").all()]
        later.click()
    shown += [int(row.get_attribute("data-row")) for row in page.locator("#events tbody tr").all()]
    assert shown == list(range(len(snapshot.actions)))
    earlier.click()
    expect(page.locator("#events caption")).to_contain_text("1,001 to 1,100")


def test_the_slider_follows_the_moment(page: Any, snapshot: ks.MemorySnapshot) -> None:
    slider = page.get_by_role("slider")
    actions = snapshot.actions.select("action", "time_ns").rows()
    (peak,) = snapshot.memory().select("peak_ns").rows()[0]
    for name in ("End", "Peak", "Failure"):
        page.get_by_role("button", name=name, exact=True).click()
        at = int(slider.input_value())
        if name == "Peak":
            assert actions[at][1] == peak
            # After this action the state is that of the peak.
            assert snapshot.memory_state(at).rows() == snapshot.memory_state("peak").rows()
        else:
            last = len(actions) - 1
            assert at == (last if name == "End" else max(row for row, (kind, _) in enumerate(actions) if kind == "oom"))


def test_a_band_tells_its_allocation(page: Any, snapshot: ks.MemorySnapshot) -> None:
    bands = page.locator("[data-fragment=bands]")
    widest = bands.locator("rect[data-row]").evaluate_all(
        """all => all.map((one, at) => [one.getAttribute("width") * one.getAttribute("height"), at])
            .sort((a, b) => b[0] - a[0])[0][1]"""
    )
    band = bands.locator("rect[data-row]").nth(widest)
    band.scroll_into_view_if_needed()
    band.hover()
    tip, kept = page.locator(".ks-tip"), page.locator("pre[aria-live]")
    expect(tip).to_be_in_viewport()
    hovered = tip.inner_text().splitlines()
    expect(kept).to_be_hidden()
    band.click()
    site, facts, *stack = kept.inner_text().splitlines()
    found = re.fullmatch(
        r"[\d.]+ [KMG]iB \((\d+) bytes\), ([a-z ]+), from (?:action (\d+)|before the first action) "
        r"to (?:action (\d+)|the end)(?:, for (\d+) actions?)?",
        facts,
    )
    assert found, facts
    size, _, first, last, long = found.groups()
    if first is not None:
        actions = snapshot.actions.select("size_bytes", "stack_id").rows()
        assert actions[int(first)][0] == int(size)
        assert stack == stack_of(snapshot, int(actions[int(first)][1]))
        assert last is None or int(last) - int(first) == int(long)
    assert hovered[: 2 + min(len(stack), 6)] == [site, facts, *stack[:6]]
    page.mouse.move(0, 0)
    expect(tip).to_be_hidden()
    expect(kept).to_be_visible()
    bands.focus()
    page.keyboard.press("ArrowRight")
    expect(kept).not_to_have_text("\n".join([site, facts, *stack]))
    page.get_by_role("button", name="By time").press("Enter")
    bands.focus()
    page.keyboard.press("ArrowRight")
    expect(kept).to_contain_text(re.compile(r"from [^,]* (?:ns|µs|ms|s|0) to "))


def test_names_of_a_file_are_only_text(browser: Any, tmp_path: Path) -> None:
    evil = "<img src=x onerror=alert(1)>"
    frames = [{"name": evil, "filename": evil, "line": 1}]
    actions = [
        {"action": kind, "time_us": time, "addr": 1, "size": 4096, "frames": frames}
        for time, kind in enumerate(["alloc", "free_completed"])
    ]
    path = tmp_path / "evil.json"
    path.write_text(json.dumps({"segments": [], "device_traces": [actions]}))
    page = browser.new_page()
    page.goto(ks.read(path).report(tmp_path / "evil.html").as_uri())
    page.locator(".ks-controls").first.wait_for()
    page.locator("[data-fragment=bands]").focus()
    page.keyboard.press("ArrowRight")
    page.get_by_role("button", name="Stack", exact=True).first.click()
    assert [lines.count(evil) for lines in page.locator("pre:visible").all_inner_texts()] == [4, 2]
    assert page.locator("img").count() == 0
    page.close()
