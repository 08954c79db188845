"""Memory timelines, in both of their forms."""

from __future__ import annotations

import gzip
import itertools
import json
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytestmark = pytest.mark.unit

CATEGORIES = (
    *("parameter", "optimizer_state", "input", "temporary", "activation", "gradient", "autograd_detail", "unknown"),
)
"""In the order of `_CATEGORY_TO_INDEX` of torch.profiler._memory_profiler."""
ACTIONS = ("preexisting", "create", "increment_version", "destroy")
"""In the order of `Action`, which counts from 1."""

Sizes = list[tuple[int | None, list[int]]]


def timeline_of(content: bytes | Path) -> ks.MemoryTimeline:
    timeline = ks.read(content)
    assert isinstance(timeline, ks.MemoryTimeline)
    return timeline


def sizes(timeline: ks.MemoryTimeline) -> Sizes:
    found: Sizes = []
    for time, total, *each in timeline.sizes.rows():
        assert total == sum(each)
        found.append((time, each))
    return found


def health(timeline: ks.MemoryTimeline) -> dict[str, int]:
    return dict(timeline.health.select("kind", "count").rows())


def sums(raw: list[list[int]]) -> Sizes:
    """The sizes of raw actions, as torch adds them up but for the unit of time."""
    first = min((time for time, *_ in raw if time >= 0), default=None)
    found: Sizes = []
    bytes_of = [0] * len(CATEGORIES)
    for time, group in itertools.groupby(raw, key=lambda entry: entry[0]):
        for _, _, size, category in group:
            bytes_of[category] += size
        found.append((time if time >= 0 else first, list(bytes_of)))
    return found


def check_raw(timeline: ks.MemoryTimeline, raw: list[list[int]]) -> None:
    expected = [
        (time if time >= 0 else None, ACTIONS[action - 1], CATEGORIES[category], size)
        for time, action, size, category in raw
    ]
    assert timeline.actions.rows() == expected
    assert sizes(timeline) == sums(raw)
    assert len(timeline.health) == 0


def test_the_raw_form(data: Path) -> None:
    path = data / "memory_cpu/memory_timeline.raw.json.gz"
    raw = json.loads(gzip.decompress(path.read_bytes()))
    check_raw(timeline_of(path), raw)
    check_raw(timeline_of(json.dumps(raw).encode()), raw)


def test_the_form_of_sizes(data: Path) -> None:
    path = data / "memory_cpu/memory_timeline.json"
    times, rows = json.loads(path.read_bytes())
    timeline = timeline_of(path)
    assert sizes(timeline) == [(time * 1000, row[1:]) for time, row in zip(times, rows, strict=True)]
    assert (len(timeline.actions), len(timeline.health), timeline.metadata) == (0, 0, {})
    assert sizes(timeline_of(gzip.compress(path.read_bytes()))) == sizes(timeline)


def test_both_forms_give_the_same_sizes(data: Path) -> None:
    """The last of each microsecond, which torch rounds through a float; what was there before has a row of its own."""
    raw, coarse = (sizes(timeline_of(path)) for path in sorted((data / "memory_cpu").iterdir(), reverse=True))
    of_each = {int((time or 0) / 1000) * 1000: row for time, row in raw}
    assert raw[0][1] == coarse[0][1]
    assert of_each == {time: row for time, row in coarse if time is not None}


@pytest.mark.shared
def test_a_real_one(shared: Path) -> None:
    folder = shared / "facebookresearch__HolisticTraceAnalysis/tests/data/memory_analysis"
    path = folder / "memory_timeline.raw.gz"
    raw = json.loads(gzip.decompress(path.read_bytes()))
    assert len(raw) == 16_845
    check_raw(timeline_of(path), raw)


TIME = st.integers(-1, 2**63 - 1)
ENTRY = st.tuples(TIME, st.integers(1, 4), st.integers(-(2**50), 2**50), st.integers(0, 7)).map(list)


@given(st.lists(ENTRY, min_size=1, max_size=30), st.sampled_from([None, 0, 2]))
def test_any_actions_come_back(raw: list[list[int]], indent: int | None) -> None:
    check_raw(timeline_of(json.dumps(raw, indent=indent).encode()), raw)


@given(st.data())
def test_no_text_does_harm(data: st.DataObject) -> None:
    content = data.draw(st.sampled_from([b"[[1, 2, 3, 4], [-1, 1, 8, 7]]", b"[[1, 2], [[0,1,2,3,4,5,6,7,8]]]"]))
    text = bytearray(content)
    for _ in range(data.draw(st.integers(1, 4))):
        text[data.draw(st.integers(0, len(text) - 1))] = data.draw(st.integers(0, 255))
    try:
        found: Any = ks.read(bytes(text))
    except (ks.TraceError, OSError):
        return
    assert len(found.health) >= 0


def test_cut_anywhere_gives_what_is_whole(data: Path) -> None:
    for path in (data / "memory_cpu").iterdir():
        content = path.read_bytes()
        text = gzip.decompress(content) if path.suffix == ".gz" else content
        whole, last = sizes(timeline_of(text)), 0
        for end in range(3, len(text) - 1, 7):
            timeline = timeline_of(text[:end])
            assert health(timeline)["truncated"] == 1
            assert len(timeline.sizes) >= last
            last = len(timeline.sizes)
            if last > 1:
                assert sizes(timeline)[:-1] == whole[: last - 1]


def test_a_cut_stream_says_so(data: Path) -> None:
    content = (data / "memory_cpu/memory_timeline.raw.json.gz").read_bytes()
    timeline = timeline_of(content[:-200])
    assert health(timeline) == {"damaged_compression": 1, "truncated": 1}
    assert len(timeline.actions) > 0


def test_other_entries_are_counted() -> None:
    timeline = timeline_of(b"[[1, 2, 3, 0], [1, 9, 3, 0], [1, 2, 3, 8], {}, [1, 2, 3.5, 0]]")
    assert (len(timeline.actions), health(timeline)) == (1, {"not_an_entry": 4})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'<html>\n<head><meta charset="utf-8" /><title>GPU Memory Timeline HTML</title></head>', r"\.raw\.json\.gz"),
        (b"[[1, 2], [3, 4]]", "expected a memory timeline, found an array of another form"),
    ],
)
def test_what_is_no_timeline_is_refused(content: bytes, message: str) -> None:
    with pytest.raises(ks.TraceError, match=message):
        ks.read(content)


def test_tables_leave(data: Path, tmp_path: Path) -> None:
    timeline = timeline_of(data / "memory_cpu/memory_timeline.raw.json.gz")
    frame = timeline.sizes.to_pandas()
    parts = [f"{category}_bytes" for category in CATEGORIES]
    assert list(frame.columns) == ["time_ns", "total_bytes", *parts]
    assert timeline.export(tmp_path / "sizes.csv").read_text().startswith("time_ns,total_bytes,parameter_bytes")
    assert repr(timeline).startswith("a memory timeline: memory_timeline.raw.json.gz\n  sizes: ")
    assert "optimizer_state" in timeline._repr_html_()


def test_a_trace_is_asked_for_elsewhere(data: Path, tmp_path: Path) -> None:
    content = (data / "memory_cpu/memory_timeline.json").read_bytes()
    (tmp_path / "rank-0.json").write_bytes(content)
    with pytest.raises(ks.TraceError, match=r"expected a trace, found a memory timeline: .*; use ks\.read"):
        ks.read_dir(tmp_path)
    (tmp_path / "rank-1.json").write_bytes(b'[{"ph": "X", "name": "a", "ts": 1, "dur": 1}]')
    job = ks.read_dir(tmp_path)
    assert (len(job), list(job.skipped)) == (1, ["rank-0.json"])
