"""What the screen counts is what Python counts: events of tracks, hits of a search, and the tables of a range."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest

pytestmark = pytest.mark.browser

REAL = {
    "resnet": "AMD-AGI__TraceLens/tests/traces/mi300/resnet_act_checkpoint.json.gz",
    "control": "facebookresearch__HolisticTraceAnalysis/tests/data/nccl_parser_config/nccl_data.json.gz",
}


@pytest.fixture(
    params=["cuda", *(pytest.param(name, marks=pytest.mark.shared) for name in REAL)],
    scope="module",
)
def trace(request: pytest.FixtureRequest) -> ks.Trace:
    if request.param == "cuda":
        return request.getfixturevalue("cuda")
    path: Path = request.getfixturevalue("shared") / REAL[request.param]
    if not path.is_file():
        pytest.skip(f"no {REAL[request.param]} in the folder of real traces")
    return ks.read(path)


@pytest.fixture
def timeline(trace: ks.Trace, reports: Callable[..., Path], strict: Any, timeline_on: Any) -> Any:
    page = strict.page(height=4000)
    page.goto(reports(trace).as_uri())
    return timeline_on(page).wait().settle()


def span_of(trace: ks.Trace) -> tuple[int, int]:
    """The middle half, as the address of a page counts."""
    starts = [row[0] for row in trace.events.select("start_ns").rows()]
    duration = max(starts) - min(starts)
    return duration // 4, 3 * duration // 4


def test_what_is_on_the_screen_is_what_python_counts(trace: ks.Trace, timeline: Any, tmp_path: Path) -> None:
    rows = trace.events.select("process", "thread", "name", "start_ns", "dur_ns").rows()
    page = timeline.page
    timeline.focus().press("{", "{")  # low enough to be on the screen, all of them
    titles = page.locator(".ks-track .ks-name").evaluate_all("all => all.map(name => name.title)")
    shown = [int(found[1].replace(",", "")) for title in titles if (found := re.search(r"([\d,]+) events?\b", title))]
    assert sorted(shown) == sorted(Counter((process, thread) for process, thread, *_ in rows).values())
    assert f"{len(rows):,} events" in page.locator(".ks-toolbar").inner_text()

    start, end = span_of(trace)
    page.evaluate(f"location.hash = 'range={start}-{end}'")
    inside = {"start_ns": trace.origin_ns + start, "end_ns": trace.origin_ns + end}
    panel = page.locator(".ks-range")
    for name in ("kernels", "operators"):
        panel.get_by_role("button", name=name, exact=True).click()
        panel.locator(".ks-answer").wait_for()
        with page.expect_download() as download:
            panel.get_by_role("button", name="CSV").click()
        download.value.save_as(tmp_path / name)
        with (tmp_path / name).open(encoding="utf-8", newline="") as file:
            table = [(row["name"], int(row["count"]), int(row["total_ns"])) for row in csv.DictReader(file)]
        expected = trace.analyze(name, **inside).select("name", "count", "total_ns").rows()
        assert table == expected  # all rows, of which the panel shows some

    names = Counter(name for _, _, name, *_ in rows)
    for text in ("gemm", "aten::", next(iter(names))):
        count = sum(number for name, number in names.items() if text.lower() in name.lower())
        said = timeline.search(text) if count else ""
        assert not count or said == f"{count:,} hit{'s' if count > 1 else ''}"
        page.keyboard.press("Escape")
        timeline.settle()
