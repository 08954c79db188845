"""`kinetoscope.hta` says which ranks the others wait for."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pandas
import pytest
from kinetoscope.hta import TraceAnalysis

TORCHREC = "facebookresearch__torchrec/examples/golden_training/trace/sst_sleep_pl_dense_after_backward_2"
# How late each rank comes to the communication of each step, in µs.
LATE = [(0, 0, 0, 0), (200, 10, 300, 0), (10, 100, 20, 0)]


def event(category: str, name: str, ts: float, dur: float, **args: Any) -> dict[str, Any]:
    process, thread = (0, 20) if category == "kernel" else (1, 1)
    return {
        "ph": "X",
        "cat": category,
        "name": name,
        "pid": process,
        "tid": thread,
        "ts": ts,
        "dur": dur,
        "args": args,
    }


def step(number: int, late: int, dur: int = 700) -> list[dict[str, Any]]:
    """An all-reduce that no rank leaves before all have come."""
    ts = 1000 * number
    return [
        event("user_annotation", f"ProfilerStep#{number}", ts, 1000),
        event("cpu_op", "nccl:all_reduce", ts + late, 20),
        event("cuda_runtime", "cudaLaunchKernel", ts + late + 5, 5, correlation=number),
        event("kernel", "ncclDevKernel_AllReduce", ts + late + 50, dur - late, correlation=number, stream=20, device=0),
    ]


def analyzed(folder: Path, steps: list[list[dict[str, Any]]]) -> TraceAnalysis:
    for rank, events in enumerate(steps):
        content = {"distributedInfo": {"rank": rank, "world_size": 3}, "traceEvents": events}
        (folder / f"rank{rank}.json").write_text(json.dumps(content))
    return TraceAnalysis(trace_dir=str(folder))


@pytest.fixture
def analyzer(tmp_path: Path) -> TraceAnalysis:
    steps = [[made for number, late in enumerate(lates, 1) for made in step(number, late)] for lates in LATE]
    return analyzed(tmp_path, steps)


@pytest.mark.unit
def test_those_that_begin_late_in_the_most_steps_are_first(analyzer: TraceAnalysis) -> None:
    assert analyzer.get_profiler_steps() == [1, 2, 3]
    assert [analyzer.get_potential_stragglers(num_candidates=count) for count in (0, 1, 2, 3)] == [
        *([1], [1], [1, 2], [0, 1, 2]),
    ]
    assert analyzer.get_potential_stragglers([2], 1) == [2]
    assert analyzer.get_potential_stragglers([2, 4], 1) == [2]
    with pytest.raises(ValueError, match=r"expected some of the steps \[1, 2, 3\], found \[4\]"):
        analyzer.get_potential_stragglers(profiler_steps=[4])


@pytest.mark.unit
def test_where_all_communication_is_short_those_are_found_that_come_last(tmp_path: Path) -> None:
    steps = [[made for number, late in enumerate(lates, 1) for made in step(number, late, late + 8)] for lates in LATE]
    assert analyzed(tmp_path, steps).get_potential_stragglers(num_candidates=3) == [1, 2]


@pytest.mark.unit
def test_without_steps_those_are_found_that_come_last(tmp_path: Path) -> None:
    steps = [[made for number, late in enumerate(lates, 1) for made in step(number, late)] for lates in LATE]
    without = [[made for made in events if not made["name"].startswith("ProfilerStep")] for events in steps]
    analyzer = analyzed(tmp_path, without)
    assert analyzer.get_potential_stragglers(num_candidates=3) == [1, 2]
    with pytest.raises(ValueError, match=r"expected some of the steps \[\], found \[1\]"):
        analyzer.get_potential_stragglers([1])


@pytest.mark.unit
def test_others_may_find_them(analyzer: TraceAnalysis) -> None:
    def longest(df: pandas.DataFrame, symbols: Any, count: int, visualize: Any) -> pandas.Series:
        assert (set(df["iteration"]), count, visualize) == ({3}, 1, True)
        is_kernel = df["name"] == symbols.get_sym_index()["ncclDevKernel_AllReduce"]
        return pandas.Series(df[is_kernel].groupby("rank")["dur"].sum())

    assert analyzer.get_potential_stragglers([3], 1, visualize=True, straggler_identification_impl=longest) == [0]


@pytest.mark.unit
def test_one_rank_waits_for_nobody(analyzer: TraceAnalysis) -> None:
    alone = TraceAnalysis({0: analyzer.t.trace_files[0]})
    assert alone.get_potential_stragglers() == []


@pytest.mark.shared
def test_they_are_those_of_hta(shared: Path, tmp_path: Path) -> None:
    """HTA 0.5.0 answers these, or of the three the last two in the other order: all are late as often."""
    with tarfile.open(shared / "facebookresearch__param/et_replay/tests/inputs/dlrm_kineto.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    analyzer = TraceAnalysis(trace_dir=str(tmp_path / "dlrm_kineto"))
    assert [analyzer.get_potential_stragglers(num_candidates=count) for count in (1, 2, 3)] == [[7], [2, 7], [2, 6, 7]]


@pytest.mark.shared
def test_the_rank_that_slept(shared: Path) -> None:
    files = sorted((shared / TORCHREC).glob("*.json"))
    analyzer = TraceAnalysis({rank: str(file) for rank, file in enumerate(files)})
    assert analyzer.get_potential_stragglers(num_candidates=1) == [2]
