"""Someone's run went out of memory: which line holds the peak, and was there enough in pieces?"""

from __future__ import annotations

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
