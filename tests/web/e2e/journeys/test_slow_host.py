"""Somebody looks for the slow host among 1,024 ranks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from support.large_job import ON_A_MACHINE, write_job

pytestmark = pytest.mark.browser

NUM_RANKS = 1_024
SLOW = 77
"""The machine whose ranks come late."""

SCREEN_PX = 800


@pytest.fixture(scope="module")
def page_of_job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    late = range(SLOW * ON_A_MACHINE, (SLOW + 1) * ON_A_MACHINE)
    folder = write_job(tmp_path_factory.mktemp("fleet"), NUM_RANKS, late)
    return ks.read_dir(folder, progress=False).report(folder / "report.html")


def test_the_slow_host_is_on_the_first_screen(
    page_of_job: Path, visit: Callable[[Path], Any], snap: Callable[[Any, str], None]
) -> None:
    timeline = visit(page_of_job)
    page = timeline.page
    page.set_viewport_size({"width": 1280, "height": SCREEN_PX})
    page.evaluate("scrollTo(0, 0)")
    snap(timeline, "slow-host-first-screen")
    said = page.get_by_text(f"at machine {SLOW}").first
    box = said.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < SCREEN_PX
    page.get_by_role("link", name="Timeline", exact=True).click()
    timeline.settle()
    snap(timeline, "slow-host-timeline")
    ranks = [name for name in page.locator(".ks-name").all_inner_texts() if name.startswith("rank ")]
    first = SLOW * ON_A_MACHINE
    assert any(f"rank {rank}" in name for name in ranks for rank in range(first, first + ON_A_MACHINE)), ranks
    page.get_by_role("link", name="Topology", exact=True).click()
    snap(timeline, "slow-host-topology")
    awaited = page.locator("#topology figure", has_text="Pairs of ranks").locator("tbody tr").first
    assert any(str(rank) in awaited.inner_text() for rank in range(first, first + ON_A_MACHINE))


def test_a_page_of_a_thousand_ranks_stays_small(page_of_job: Path) -> None:
    assert page_of_job.stat().st_size < 10_000_000
