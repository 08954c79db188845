"""A large trace: how big its report is, how soon there is a picture, and how long a frame takes."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import kinetoscope as ks
import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.shared]

TRACE = "AMD-AGI__TraceLens/tests/traces/h100/google_owlv2-large-patch14-ensemble__1016001.json.gz"
REPORT_BYTES = 2_800_000
FIRST_PICTURE_S = 1.0
TRIES = 20
PAUSE_S = 4
FRAME_MS = 8.0


@pytest.fixture(scope="module")
def report(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = shared / TRACE
    if not path.is_file():
        pytest.skip(f"no {TRACE} in the folder of real traces")
    return ks.read(path).report(tmp_path_factory.mktemp("owlv2") / "report.html")


def test_the_report_is_small(report: Path) -> None:
    assert report.stat().st_size <= REPORT_BYTES


def seconds_to_picture(strict: Any, timeline_on: Any, report: Path) -> float:
    page = strict.page()
    start = time.perf_counter()
    page.goto(report.as_uri())
    timeline_on(page).wait()
    taken = time.perf_counter() - start
    page.close()  # what it still does would make the next one late
    return taken


def test_the_first_picture_comes_soon(
    report: Path, strict: Any, timeline_on: Any, slowness: Callable[[], float]
) -> None:
    # Other work on the machine can only make it later, so the best of some is the truth; a slow minute is waited for.
    # What a page does itself is no other work: how slow the machine is, is measured before it is there.
    taken: list[float] = []
    while len(taken) < TRIES and min(taken, default=FIRST_PICTURE_S) >= FIRST_PICTURE_S:
        if taken:
            time.sleep(PAUSE_S)
        taken.append(1 / slowness() * seconds_to_picture(strict, timeline_on, report))
    assert min(taken) < FIRST_PICTURE_S, taken


@pytest.mark.alone
def test_frames_are_quick(report: Path, open_timeline: Callable[..., Any], shot: Callable[[Page, str], None]) -> None:
    timeline = open_timeline(report).focus()
    page = timeline.page
    shot(page, "report-owlv2")
    page.mouse.move(*timeline.point_at("stream 7", 1, 0.3))
    timeline.press("w", "w", "w", "w")
    costs: list[float] = []
    for key in ("d", "a") * 3:
        page.keyboard.down(key)
        page.wait_for_timeout(1400)  # long enough for the costs of the frames before to be forgotten
        page.keyboard.up(key)
        costs.append(float(timeline.tracks.get_attribute("data-cost") or "inf"))
    assert min(costs) < FRAME_MS, costs


def test_everything_is_on_the_screen_at_every_zoom(report: Path, open_timeline: Callable[..., Any]) -> None:
    timeline = open_timeline(report).focus()
    pictures = {timeline.picture()}
    for _ in range(12):
        timeline.page.keyboard.press("w")
        pictures.add(timeline.settle().picture())
    assert len(pictures) == 13
    assert timeline.page.locator(".ks-error").count() == 0
