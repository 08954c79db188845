"""`kinetoscope.hta` answers what HTA 0.6.1 answered; where it does not, docs/hta.md says why."""

from __future__ import annotations

import functools
import gzip
import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import pandas
import pytest
from kinetoscope.hta import TraceAnalysis

pytestmark = [
    pytest.mark.shared,
    pytest.mark.filterwarnings("ignore:.*:RuntimeWarning"),  # what cannot be drawn, launches that HTA leaves out
]

HTA = "facebookresearch__HolisticTraceAnalysis/tests/data"
TRACES = {
    "amd_trace": "amd_trace/mi250_minitoy_train_ROCm6_2_kineto",
    "critical_path__alexnet": "critical_path/alexnet/benchmark_result_2869224_1695835535_trace",
    "critical_path__cuda_event_sync": "critical_path/cuda_event_sync/event_sync_trace",
    "cupti_profiler": "cupti_profiler/benchmark_result_924719_1679055439_trace",
    "mtia_inference_trace": "mtia_inference_trace/mtia_inference_rank_0",
    "nccl_parser_config": "nccl_parser_config/nccl_data",
    "nccl_parser_config.inc": "nccl_parser_config/nccl_data",
    "ns_resolution_trace": "ns_resolution_trace/rank-0.Apr_03_18_51_38.1102.pt.trace",
    "ns_resolution_trace.inc": "ns_resolution_trace/rank-0.Apr_03_18_51_38.1102.pt.trace",
    "timeline_analysis": "timeline_analysis/sampled_rank-0",
    "trace_diff__control": "trace_diff/control/",
    "trace_diff__control.inc": "trace_diff/control/",
    "triton_example": "triton_example/triton_example",
}
# HTA takes a host operator of this trace, which has the argument `stream`, for work of stream 0.
TRITON = "triton_example"
# Times of this trace have 16 digits before the point: HTA's float loses up to 2 µs of each event, here none is lost.
FLOATS = ("ns_resolution_trace",)
LOST_US = 2
# Waits (`cuda_sync`) are work to HTA: idle, computing, other, all.
WITHOUT_WAITS = {
    "critical_path__alexnet": [12_854_103, 10_630, 55_511, 12_920_244],
    "critical_path__cuda_event_sync": [212, 49, 2, 263],
}
# Operators with their kernels: HTA takes those of any thread.
NUM_CALLS = {"timeline_analysis": 172, "mtia_inference_trace": 0}
# Launches whose names HTA's launch statistics do not know, but its queues do.
NUM_LAUNCHES = {"amd_trace": 16, "triton_example": 1}


class Pair:
    """HTA's answers, and ours to be asked."""

    def __init__(self, shared: Path, name: str) -> None:
        self.name = name
        self.golden = json.loads((shared.parent / "golden/hta" / f"{name}.json").read_text())
        self.rank: int = self.golden["ranks"][0]
        found = sorted((shared / HTA).glob(f"{TRACES[name]}*"))
        self.ours = TraceAnalysis({self.rank: str(found[0])}, include_last_profiler_step=name.endswith(".inc"))

    def heads(self, key: str) -> list[list[list[Any]]]:
        """The rows of each of HTA's frames, with their index first; none where HTA raised."""
        value = self.golden[key].get("v") or []
        frames = value if isinstance(value, list) else [value] if "head" in value else list(value.values())
        return [frame["head"] for frame in frames]

    def head(self, key: str) -> list[list[Any]]:
        return next(iter(self.heads(key)), [])


@functools.cache
def pair_of(shared: Path, name: str) -> Pair:
    return Pair(shared, name)


@pytest.fixture(params=TRACES)
def pair(request: pytest.FixtureRequest, shared: Path) -> Pair:
    return pair_of(shared, request.param)


def is_near(ours: Any, theirs: Any, slack: float) -> bool:
    if theirs is None or isinstance(theirs, str):
        return ours == theirs or (theirs is None and math.isnan(ours))
    return ours == pytest.approx(theirs, rel=1e-9, abs=max(slack, 1e-9))


def assert_same(pair: Pair, ours: list[list[Any]], theirs: list[list[Any]]) -> None:
    """Equal row by row; where HTA's floats lose time, near to its answer."""
    if not pair.name.startswith(FLOATS):
        assert len(ours) == len(theirs)
        slack = 0.0
    else:
        slack = LOST_US * pair.golden[f"rank{pair.rank}"]["n_gpu"]
    for row, golden in zip(ours, theirs, strict=slack == 0.0):
        assert all(is_near(*values, slack) for values in zip(row, golden, strict=True)), (row, golden)


def test_steps(pair: Pair) -> None:
    assert pair.ours.get_profiler_steps() == pair.golden["profiler_steps"]["v"]


def test_temporal_breakdown(pair: Pair) -> None:
    ours = pair.ours.get_temporal_breakdown(visualize=False).to_numpy().tolist()
    if pair.name in WITHOUT_WAITS:
        assert [row[1:5] for row in ours] == [WITHOUT_WAITS[pair.name]]
    elif pair.name != TRITON:
        assert_same(pair, ours, [row[1:] for row in pair.head("temporal")])


def test_overlap(pair: Pair) -> None:
    assert_same(
        pair,
        pair.ours.get_comm_comp_overlap(visualize=False).to_numpy().tolist(),
        [row[1:] for row in pair.head("overlap")],
    )


def test_types_of_kernels(pair: Pair) -> None:
    ours, _ = pair.ours.get_gpu_kernel_breakdown(visualize=False)
    if pair.name != TRITON:
        assert_same(pair, ours.to_numpy().tolist(), [row[1:] for row in pair.heads("kernel_breakdown")[0] if row[2]])


def test_kernels(pair: Pair) -> None:
    _, ours = pair.ours.get_gpu_kernel_breakdown(visualize=False)
    theirs = [row[1:] for row in pair.heads("kernel_breakdown")[1]]
    crowded = {row[6] for row in theirs if row[0] == "others"}  # HTA's other numbers of these are of their sums
    if pair.name != TRITON:
        rows = [[*row[:2], *row[6:]] if row[6] in crowded else row for row in ours.to_numpy().tolist()]
        assert_same(pair, rows, [[*row[:2], *row[6:]] if row[6] in crowded else row for row in theirs])


def test_idle_time(pair: Pair) -> None:
    sums, intervals = (
        pair.ours.get_idle_time_breakdown([pair.rank], visualize=False, show_idle_interval_stats=True)
        if pair.golden[f"rank{pair.rank}"]["n_gpu"]
        else (pandas.DataFrame(), pandas.DataFrame())
    )
    golden_sums, golden_intervals = pair.heads("idle") or ([], [])
    assert_same(pair, sums.to_numpy().tolist(), [row[1:] for row in golden_sums])
    assert intervals is not None
    assert_same(pair, intervals.reset_index().to_numpy().tolist(), golden_intervals)


def test_launches(pair: Pair) -> None:
    ours = pair.ours.get_cuda_kernel_launch_stats([pair.rank], visualize=False)[pair.rank]
    golden = pair.golden["launch"]["v"][str(pair.rank)]
    assert len(ours) == NUM_LAUNCHES.get(pair.name, golden["shape"][0])
    by_correlation = {int(row[0]): row for row in ours.to_numpy().tolist()}
    assert_same(pair, [by_correlation[row[1]] for row in golden["head"]], [row[1:] for row in golden["head"]])


def test_queue_length(pair: Pair) -> None:
    ours = pair.ours.get_queue_length_summary([pair.rank])
    theirs = pair.head("ql_summary")
    found = {} if ours is None else dict(zip(ours.index.tolist(), ours.to_numpy().tolist(), strict=True))
    assert len(found) == len(theirs)
    for rank, stream, *row in theirs:  # points at one time are in the order of an unstable sort, in HTA
        values = zip(found[rank, stream], row, strict=True)
        assert all(is_near(value, golden, abs(golden or 0) / 50) for value, golden in values)


def test_bandwidth(pair: Pair) -> None:
    ours = pair.ours.get_memory_bw_summary([pair.rank])
    theirs = pair.head("bw_summary")
    found = {} if ours is None else dict(zip(ours.index.tolist(), ours.to_numpy().tolist(), strict=True))
    assert len(found) == len(theirs)
    for rank, name, *row in theirs:
        values = list(zip(found[rank, name], row, strict=True))
        del values[3]  # the least is what sums of floats left over, in HTA
        assert all(is_near(value, golden, abs(golden or 0) / 50) for value, golden in values), name


@pytest.mark.parametrize("side", ["gpu", "cpu"])
def test_annotations(pair: Pair, side: str) -> None:
    ours = pair.ours.get_gpu_user_annotation_breakdown(use_gpu_annotation=side == "gpu", visualize=False)
    theirs = [row[1:] for row in pair.head(f"ua_{side}")]
    found = [] if ours is None else ours.to_numpy().tolist()
    assert len(found) >= len(theirs) == min(len(found), 40)
    assert_same(pair, found[: len(theirs)], theirs)


def test_frequent_sequences(pair: Pair, tmp_path: Path) -> None:
    ours = pair.ours.get_frequent_cuda_kernel_sequences("aten::linear", str(tmp_path), rank=pair.rank)
    if "EXC" not in pair.golden["freq"]:
        assert ours.to_numpy().tolist() == [row[1:] for row in pair.head("freq")]


def test_aten_delays(pair: Pair) -> None:
    ours = pair.ours.get_aten_op_kernels_and_delay([pair.rank])[pair.rank]
    if pair.name in NUM_CALLS:
        assert len(ours) == NUM_CALLS[pair.name]
        return
    if "v" in pair.golden["aten_delay"]:
        assert len(ours) == pair.golden["aten_delay"]["v"][str(pair.rank)]["shape"][0]
        found = {(operator, kernels): rest for operator, kernels, *rest in ours.to_numpy().tolist()}
        rows = [row[1:] for row in pair.head("aten_delay")]
        assert_same(pair, [[*row[:2], *found[row[0], row[1]]] for row in rows], rows)


def test_counters_of_cupti(shared: Path) -> None:
    (frame,) = pair_of(shared, "cupti_profiler").ours.get_cupti_counter_data_with_operators([0])
    columns = ["index", "ts", "index_runtime", "op_stack", "top_level_op", "bottom_level_op"]
    rows = frame[columns].to_numpy().tolist()
    # HTA's answer, in which one range has no name
    assert (len(rows), rows[0], rows[-1]) == (
        77,
        [4107, 2498229, 473, ["aten::rand", "aten::uniform_"], "aten::rand", "aten::uniform_"],
        [4183, 11726985, 4081, ["aten::linear", "aten::addmm"], "aten::linear", "aten::addmm"],
    )
    assert rows[1][3] == ["aten::conv2d", "aten::convolution", "aten::_convolution", "aten::cudnn_convolution"]


def test_counters_in_a_trace(shared: Path, tmp_path: Path) -> None:
    found = next((shared / HTA / "critical_path/alexnet").iterdir())
    (tmp_path / "rank.json.gz").write_bytes(found.read_bytes())
    TraceAnalysis({0: str(tmp_path / "rank.json.gz")}).generate_trace_with_counters()
    events = json.loads(gzip.decompress((tmp_path / "rank_with_counters.json.gz").read_bytes()))["traceEvents"]
    points = [event for event in events if event["ph"] == "C"]
    assert len(events) == 1408 + len(points)
    # as HTA writes them
    assert Counter((point["name"], point.get("id")) for point in points) == {
        ("Queue Length", 7): 182,
        ("Queue Length", 20): 14,
        ("Memcpy HtoD", None): 32,
        ("Memset", None): 6,
    }
    assert [(point["ts"], point["args"]) for point in (points[0], points[-2])] == [
        (1695835572943558, {"Queue Length": 1}),
        (1695835585863748, {"Memcpy BW": 0.22535211267605634}),
    ]
