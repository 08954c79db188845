"""`kinetoscope.hta` answers what HTA 0.6.1 answered; where it does not, docs/hta.md says why."""

from __future__ import annotations

import functools
import gzip
import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from kinetoscope.hta import TraceAnalysis

pytestmark = pytest.mark.shared

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
# Times with parts of a µs: HTA cuts both ends of every event, by less than 1 µs each.
DECIMAL = ("amd", "mtia", "nccl", "ns_", "triton")
LOST_US = 2
# HTA takes a host operator of this trace, which has the argument `stream`, for work of stream 0.
TRITON = "triton_example"
# Waits (`cuda_sync`) are work to HTA: idle, computing, other, all.
WITHOUT_WAITS = {
    "critical_path__alexnet": [12_854_103, 10_630, 55_511, 12_920_244],
    "critical_path__cuda_event_sync": [212, 49, 2, 263],
}
# Operators with their kernels: HTA takes those of any thread, and the outer one of two that begin together.
NUM_CALLS = {"mtia_inference_trace": 0, "timeline_analysis": 172}
# Launches whose names HTA does not know.
NUM_LAUNCHES = {"amd_trace": 16, "triton_example": 1, "mtia_inference_trace": 991}


class Pair:
    """HTA's answers, and ours to be asked."""

    def __init__(self, shared: Path, name: str) -> None:
        self.name = name
        self.golden = json.loads((shared.parent / "golden/hta" / f"{name}.json").read_text())
        self.rank: int = self.golden["ranks"][0]
        found = sorted((shared / HTA).glob(f"{TRACES[name]}*"))
        self.ours = TraceAnalysis({self.rank: str(found[0])}, include_last_profiler_step=name.endswith(".inc"))
        self.lost_us = LOST_US if name.startswith(DECIMAL) else 0

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


def test_steps(pair: Pair) -> None:
    assert pair.ours.get_profiler_steps() == pair.golden["profiler_steps"]["v"]


def test_temporal_breakdown(pair: Pair) -> None:
    ours = pair.ours.get_temporal_breakdown().to_numpy().tolist()
    if pair.name in WITHOUT_WAITS or pair.name == TRITON:
        assert [row[1:5] for row in ours] == [WITHOUT_WAITS.get(pair.name, [0, 1.76, 0, 1.76])]
        return
    theirs = [row[1:] for row in pair.head("temporal")]
    assert len(ours) == len(theirs) <= 1
    for row, golden in zip(ours, theirs, strict=True):
        num_events = pair.golden[f"rank{pair.rank}"]["n_gpu"]
        slack = pair.lost_us * num_events
        assert all(is_near(*values, slack) for values in zip(row[:4], golden[:4], strict=True))
        assert is_near(row[4], golden[4], pair.lost_us)
        assert all(is_near(*values, 100 * slack / golden[4]) for values in zip(row[5:], golden[5:], strict=True))


def test_overlap(pair: Pair) -> None:
    ours = pair.ours.get_comm_comp_overlap().to_numpy().tolist()
    theirs = [row[1:] for row in pair.head("overlap")]
    assert [row[0] for row in ours] == [row[0] for row in theirs]
    assert all(is_near(row[1], golden[1], pair.lost_us / 4) for row, golden in zip(ours, theirs, strict=True))


def test_types_of_kernels(pair: Pair) -> None:
    ours, _ = pair.ours.get_gpu_kernel_breakdown()
    found = {label: (us, share) for label, us, share in ours.to_numpy().tolist()}
    theirs = {} if pair.name == TRITON else {label: rest for _, label, *rest in pair.heads("kernel_breakdown")[0]}
    slack = pair.lost_us * pair.golden[f"rank{pair.rank}"]["n_gpu"]
    for label, (us, share) in theirs.items():
        assert is_near(found.get(label, (0, 0))[0], us, slack), label
        assert is_near(found.get(label, (0, 0))[1], share, pair.lost_us), label
    assert pair.lost_us or list(found) == list(theirs)


def test_kernels(pair: Pair) -> None:
    _, ours = pair.ours.get_gpu_kernel_breakdown()
    theirs = pair.heads("kernel_breakdown")[1]
    assert len(ours) == len(theirs)
    crowded = {row[7] for row in theirs if row[1] == "others"}  # HTA's other numbers of these are of their sums
    for row, golden in zip(ours.to_numpy().tolist(), theirs, strict=True):
        assert (row[0], *row[6:]) == (golden[1], *golden[7:])
        count = round(row[1] / row[5])
        if pair.name != TRITON:
            assert is_near(row[1], golden[2], pair.lost_us * count), row[0]
        if row[6] not in crowded and pair.name != TRITON:
            assert all(is_near(*values, pair.lost_us) for values in zip(row[2:6], golden[3:7], strict=True)), row[0]


def test_idle_time(pair: Pair) -> None:
    sums, intervals = pair.ours.get_idle_time_breakdown([pair.rank], show_idle_interval_stats=True)
    assert intervals is not None
    ours = sums.to_numpy().tolist()
    golden_sums, golden_intervals = pair.heads("idle") or ([], [])
    theirs = [row[1:] for row in golden_sums]
    if pair.lost_us:  # which category a gap is of may hang on the parts of a µs
        count = intervals["count"].sum() + len(intervals)
        for stream in {row[1] for row in theirs}:
            total, golden = (sum(row[3] for row in rows if row[1] == stream) for rows in (ours, theirs))
            assert is_near(total, golden, pair.lost_us * count)
        return
    for row, golden in zip(ours, theirs, strict=True):
        assert all(is_near(*values, 0) for values in zip(row, golden, strict=True))
    for (name, row), golden in zip(intervals.iterrows(), golden_intervals, strict=True):
        ours = [name, *row.tolist()]
        if golden[6] == 0:  # HTA counts a gap of no length
            assert (ours[3], ours[-1]) == (golden[3] - 1, golden[-1])
        else:
            # two digits, of which sums in another order may round the last otherwise
            assert all(is_near(*values, 0.011) for values in zip(ours, golden, strict=True))


def test_launches(pair: Pair) -> None:
    ours = pair.ours.get_cuda_kernel_launch_stats([pair.rank])[pair.rank]
    golden = pair.golden["launch"]["v"][str(pair.rank)]
    assert len(ours) == NUM_LAUNCHES.get(pair.name, golden["shape"][0])
    by_correlation: dict[int, list[list[float]]] = {}
    for correlation, *times in ours.to_numpy().tolist():
        by_correlation.setdefault(int(correlation), []).append(times)
    for _, correlation, *times in golden["head"]:
        candidates = by_correlation[correlation]
        assert any(all(is_near(*values, pair.lost_us) for values in zip(row, times, strict=True)) for row in candidates)


def test_queue_length(pair: Pair) -> None:
    ours = pair.ours.get_queue_length_summary([pair.rank])
    theirs = pair.head("ql_summary")
    found = {} if ours is None else dict(zip(ours.index.tolist(), ours.to_numpy().tolist(), strict=True))
    if pair.name == "mtia_inference_trace":  # the other launches are unknown to HTA
        assert all(found[rank, stream][0] >= row[0] for rank, stream, *row in theirs)
        return
    assert pair.name == TRITON or len(found) == len(theirs)
    for rank, stream, *row in theirs:
        values = zip(found[rank, stream], row, strict=True)
        assert all(is_near(value, golden, abs(golden or 0) / 100) for value, golden in values)


def test_bandwidth(pair: Pair) -> None:
    ours = pair.ours.get_memory_bw_summary([pair.rank])
    theirs = pair.head("bw_summary")
    found = {} if ours is None else dict(zip(ours.index.tolist(), ours.to_numpy().tolist(), strict=True))
    assert len(found) == len(theirs)
    for rank, name, *row in theirs:
        values = list(zip(found[rank, name], row, strict=True))
        del values[3]  # the least is what sums of floats left over, in HTA
        assert all(is_near(value, golden, abs(golden or 0) / 100) for value, golden in values), name


@pytest.mark.parametrize("side", ["gpu", "cpu"])
def test_annotations(pair: Pair, side: str) -> None:
    ours = pair.ours.get_gpu_user_annotation_breakdown(use_gpu_annotation=side == "gpu")
    theirs = pair.head(f"ua_{side}")
    found = [] if ours is None else ours.to_numpy().tolist()
    assert len(found) >= len(theirs) == min(len(found), 40)
    for row, (_, *golden) in zip(found, theirs, strict=False):
        count = round(row[1] / row[5]) if row[5] else 1
        assert (row[0], row[6]) == (golden[0], golden[6])
        assert is_near(row[1], golden[1], pair.lost_us * count)
        assert all(is_near(*values, pair.lost_us) for values in zip(row[2:6], golden[2:6], strict=True))


def test_frequent_sequences(pair: Pair) -> None:
    ours = pair.ours.get_frequent_cuda_kernel_sequences("aten::linear", "", rank=pair.rank)
    if "EXC" in pair.golden["freq"]:
        return
    theirs = [row[1:] for row in pair.head("freq")]
    assert ours.to_numpy().tolist() == theirs


def test_aten_delays(pair: Pair) -> None:
    ours = pair.ours.get_aten_op_kernels_and_delay([pair.rank])[pair.rank]
    found = {(operator, kernels): rest for operator, kernels, *rest in ours.to_numpy().tolist()}
    if pair.name in NUM_CALLS:
        assert len(found) == NUM_CALLS[pair.name]
        return
    for _, operator, kernels, *rest in pair.head("aten_delay"):
        assert all(is_near(*values, pair.lost_us / 2) for values in zip(found[operator, kernels], rest, strict=True))
    assert (
        "v" not in pair.golden["aten_delay"] or len(found) == pair.golden["aten_delay"]["v"][str(pair.rank)]["shape"][0]
    )


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
