"""Several traces on one timeline: what each is called, and how their times are laid over each other."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest

pytest.importorskip("anywidget")
pytestmark = pytest.mark.unit


def steps(path: Path, start: int, numbers: range) -> ks.Trace:
    events = [
        {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{number}", "pid": 1, "tid": 1, "ts": at, "dur": 50}
        for number, at in zip(numbers, range(start, start + 1000, 100), strict=False)
    ]
    path.write_text(json.dumps({"traceEvents": events}))
    return ks.read(path)


def overview(widget: Any) -> dict[str, Any]:
    return widget._timeline_session._overview


def test_a_job_is_on_one_timeline_with_its_ranks(data: Path) -> None:
    job = ks.read_dir(data / "mlp_gloo")
    widget = job.timeline()
    groups = [group["name"] for group in overview(widget)["groups"] if group["parent"] is None]
    assert groups == ["rank 0", "rank 1"]
    assert overview(widget)["num_events"] == sum(trace.num_events for trace in job)
    alone = job.timeline(rank=1)
    assert overview(alone)["num_events"] == job[1].num_events
    with pytest.raises(ValueError, match="found \\[7\\]"):
        job.timeline(rank=7)


def test_both_sides_of_a_comparison_have_their_common_iteration_at_one_place(tmp_path: Path) -> None:
    before, after = steps(tmp_path / "a.json", 5_000, range(2, 6)), steps(tmp_path / "b.json", 90_000, range(4, 8))
    widget = ks.diff(before, after).timeline()
    parts = overview(widget)["parts"]
    assert [part["name"] for part in parts] == ["before", "after"]
    starts = [{each["iteration"]: each["start"] for each in part["iterations"]} for part in parts]
    assert starts[0][4] == starts[1][4] == 200_000
    page = ks.diff(before, after).report(tmp_path / "page.html").read_text()
    assert "<p><b>before</b> a.json</p><p><b>after</b> b.json</p>" in page
    picture = page[page.index('<svg class="ks-picture') :]
    picture = picture[: picture.index("</svg>")]
    names = [name for name in re.findall(r">(\w+)</text>", picture) if name.isalpha()]
    assert names == ["before", "after"], "threads have names of two words"
    drawn = sorted({float(x) for x in re.findall(r"M([\d.]+) \d+h", picture)})
    assert drawn[1] - drawn[0] > 50, "as they were recorded, all steps of a side are one line in the picture"
    recorded = ks.diff(before, after).timeline(align="recorded")
    assert overview(recorded)["duration"] == 85_000_000 + 350_000


def test_without_a_common_iteration_the_starts_are(tmp_path: Path) -> None:
    before, after = steps(tmp_path / "a.json", 5_000, range(2)), steps(tmp_path / "b.json", 90_000, range(4, 8))
    widget = ks.diff(before, after).timeline()
    assert [part["iterations"][0]["start"] for part in overview(widget)["parts"]] == [0, 0]
