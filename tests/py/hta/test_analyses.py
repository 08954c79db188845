"""`kinetoscope.hta` has HTA's methods: their arguments, the shape of what they return, several ranks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import kinetoscope as ks
import pytest
from kinetoscope.hta import TraceAnalysis
from kinetoscope.hta.trace_analysis import TimeSeriesTypes

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.unit,
    pytest.mark.filterwarnings("ignore:no way to show the picture:RuntimeWarning"),  # ATen's delays are always drawn
]


def event(category: str, name: str, thread: int, times: tuple[float, float], **args: Any) -> dict[str, Any]:
    process = 0 if category.startswith(("gpu", "kernel")) else 1
    ts, dur = times
    return {"ph": "X", "cat": category, "name": name, "pid": process, "tid": thread, "ts": ts, "dur": dur, "args": args}


def launched(number: int, call: float, name: str, stream: int, times: tuple[float, float]) -> list[dict[str, Any]]:
    category = "gpu_memcpy" if name.startswith("Memcpy") else "kernel"
    more = {"bytes": 4000, "memory bandwidth (GB/s)": 2.0} if category == "gpu_memcpy" else {}
    args = {"correlation": number, "stream": stream, "device": 0, **more}
    call_name = "cudaMemcpyAsync" if more else "cudaLaunchKernel"
    return [
        event("cuda_runtime", call_name, 1, (call, 2), correlation=number),
        event(category, name, stream, times, **args),
    ]


# Work of the first step runs into the second, which is left out.
EVENTS = [
    event("user_annotation", "ProfilerStep#1", 1, (0, 50)),
    event("user_annotation", "ProfilerStep#2", 1, (50, 50)),
    *launched(1, 1, "gemm", 7, (10, 10)),
    *launched(2, 5, "ncclDevKernel_AllReduce", 8, (15, 10)),
    *launched(3, 30, "Memcpy HtoD (Pageable -> Device)", 7, (40, 2)),
    *launched(4, 48, "gemm", 7, (45, 15)),
    *launched(5, 70, "relu", 7, (75, 5)),
    event("gpu_user_annotation", "forward", 7, (9, 40)),
    event("gpu_user_annotation", "layer", 7, (9.5, 11)),
]


@pytest.fixture
def analyzer(tmp_path: Path) -> TraceAnalysis:
    return TraceAnalysis(trace_files={rank: write(tmp_path, rank) for rank in (0, 3)})


def write(folder: Path, rank: int) -> str:
    path = folder / f"rank{rank}.json"
    path.write_text(json.dumps({"distributedInfo": {"rank": rank}, "traceEvents": EVENTS}))
    return str(path)


def test_steps_and_breakdowns_leave_out_the_last_step(analyzer: TraceAnalysis, tmp_path: Path) -> None:
    assert analyzer.get_profiler_steps() == [1]
    temporal = analyzer.get_temporal_breakdown(visualize=False)
    assert temporal.columns.tolist() == [
        *("rank", "idle_time(us)", "compute_time(us)", "non_compute_time(us)", "kernel_time(us)"),
        *("idle_time_pctg", "compute_time_pctg", "non_compute_time_pctg"),
    ]
    # from 10 to 60: gemm 10 to 20, communication to 25, a copy from 40 to 42, gemm from 45 on
    row = [18, 25, 7, 50, 36, 50, 14]
    assert temporal.to_numpy().tolist() == [[0, *row], [3, *row]]
    whole = TraceAnalysis(trace_files={0: write(tmp_path, 0)}, include_last_profiler_step=True)
    assert whole.get_temporal_breakdown(visualize=False)["kernel_time(us)"].tolist() == [70]


@pytest.mark.parametrize(("correlation", "is_kept"), [(5, False), (0, False), (-1, True), (None, True)])
@pytest.mark.parametrize("has_last_step", [False, True])
def test_analyses_count_the_work_of_the_frame(
    tmp_path: Path, correlation: int | None, *, is_kept: bool, has_last_step: bool
) -> None:
    """As in HTA 0.6.1: with steps, the frame leaves out work whose `correlation` no host event has."""
    orphan = {} if correlation is None else {"correlation": correlation}
    events = [
        event("user_annotation", "ProfilerStep#1", 1, (100, 100)),
        event("user_annotation", "ProfilerStep#2", 1, (200, 100)),
        event("cuda_runtime", "cudaLaunchKernel", 1, (110, 2), correlation=11),
        event("cuda_runtime", "cudaLaunchKernel", 1, (210, 2), correlation=12),
        event("kernel", "orphan", 7, (101, 20), device=0, stream=7, **orphan),
        event("kernel", "k1", 7, (130, 10), device=0, stream=7, correlation=11),
        event("kernel", "k2", 7, (230, 10), device=0, stream=7, correlation=12),
    ]
    path = tmp_path / "rank0.json"
    path.write_text(json.dumps({"distributedInfo": {"rank": 0}, "traceEvents": events}))
    analyzer = TraceAnalysis(trace_files={0: str(path)}, include_last_profiler_step=has_last_step)
    frame = analyzer.t.get_trace(0)
    runs = {**({1: 20} if is_kept else {}), 30: 10, **({130: 10} if has_last_step else {})}
    assert sorted(frame.loc[frame["stream"] >= 0, "ts"]) == list(runs)
    temporal = analyzer.get_temporal_breakdown(visualize=False)
    assert temporal["compute_time(us)"].tolist() == [sum(runs.values())]
    assert temporal["kernel_time(us)"].tolist() == [max(runs) + 10 - min(runs)]
    kernels = analyzer.get_gpu_kernel_breakdown(visualize=False)[1]
    assert ("orphan" in kernels["name"].tolist()) == is_kept
    # Our own analyses count all device work.
    assert sum(time for (time,) in ks.read(path).breakdown().select("compute_ns").rows()) == 40_000


def test_overlap(analyzer: TraceAnalysis) -> None:
    assert analyzer.get_comm_comp_overlap(visualize=False).to_numpy().tolist() == [[0, 50], [3, 50]]


def test_kernels(analyzer: TraceAnalysis) -> None:
    types, kernels = analyzer.get_gpu_kernel_breakdown(visualize=False, num_kernels=10)
    assert types.to_numpy().tolist() == [
        ["COMPUTATION", 40, 62.5],
        ["COMMUNICATION", 10, 15.6],
        ["COMPUTATION overlapping COMMUNICATION", 10, 15.6],
        ["MEMORY", 4, 6.2],
    ]
    gemm = kernels[(kernels["name"] == "gemm") & (kernels["rank"] == 3)]
    assert gemm.to_numpy().tolist() == [["gemm", 25, 15, 10, pytest.approx(3.5355339), 12.5, "COMPUTATION", 3]]
    types, kernels = analyzer.get_gpu_kernel_breakdown(visualize=False, include_memory_kernels=False)
    assert not types["kernel_type"].str.contains("MEMORY").any()
    assert "MEMORY" not in set(kernels["kernel_type"])


def test_shorter_kernels_are_together(tmp_path: Path) -> None:
    runs = [("long", 50), ("middle", 30), ("short", 4), ("short", 8), ("least", 2)]
    events = [event("kernel", name, 7, (100 * at, dur), stream=7) for at, (name, dur) in enumerate(runs)]
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"traceEvents": events}))
    _, kernels = TraceAnalysis(trace_files={0: str(path)}).get_gpu_kernel_breakdown(visualize=False, num_kernels=2)
    rows = {name: rest for name, *rest in kernels.to_numpy().tolist()}
    assert list(rows) == ["long", "middle", "others"]
    assert rows["others"][:5] == [14, 8, 2, pytest.approx(3.0550505), pytest.approx(14 / 3)]


def test_idle_time(analyzer: TraceAnalysis) -> None:
    sums, intervals = analyzer.get_idle_time_breakdown(visualize=False, ranks=[3], streams=[7])
    assert intervals is None
    # 20 to 40: the copy was launched at 30; 42 to 45: launched later, too, by clocks that disagree
    assert sums.to_numpy().tolist() == [[3, 7, "host_wait", 23, 1], [3, 7, "other", 0, 0]]
    _, intervals = analyzer.get_idle_time_breakdown(visualize=False, show_idle_interval_stats=True)
    assert intervals is not None
    assert intervals.loc["host_wait", ["stream", "count", "max"]].tolist() == [7, 2, 20]


def test_launches(analyzer: TraceAnalysis) -> None:
    stats = analyzer.get_cuda_kernel_launch_stats(visualize=False, ranks=[0, 3])
    assert list(stats) == [0, 3]
    assert stats[3].columns.tolist() == ["correlation", "cpu_duration", "gpu_duration", "launch_delay"]
    assert stats[3].to_numpy().tolist() == [[1, 2, 10, 7], [2, 2, 10, 8], [3, 2, 2, 8], [4, 2, 15, 0]]
    assert len(analyzer.get_cuda_kernel_launch_stats(visualize=False, include_memory_events=False)[0]) == 3


def test_frequent_sequences(tmp_path: Path) -> None:
    calls = [event("cpu_op", "aten::linear", 1, (100 * at, 50)) for at in range(3)]
    work = [
        launched(1 + 10 * at + place, 100 * at + place, name, 7, (100 * at + 10 * place + 5, 2))
        for at, names in enumerate(["abc", "abc", "ab"])
        for place, name in enumerate(names)
    ]
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"traceEvents": [*calls, *(made for pair in work for made in pair)]}))
    analyzer = TraceAnalysis(trace_files={0: str(path)})
    found = analyzer.get_frequent_cuda_kernel_sequences("linear", str(tmp_path), min_pattern_len=2)
    assert found.columns.tolist() == ["pattern", "count", "GPU kernel duration (us)", "CPU op duration (us)"]
    assert found.to_numpy().tolist() == [["aten::linear|a|b|c", 2, 12, 100], ["aten::linear|a|b", 1, 4, 50]]
    assert len(analyzer.get_frequent_cuda_kernel_sequences("linear", str(tmp_path))) == 1
    for operator, folder in (("", str(tmp_path)), ("linear", ""), ("linear", str(tmp_path / "missing"))):
        with pytest.warns(RuntimeWarning, match="expected the name of an operator and a writable folder"):
            assert analyzer.get_frequent_cuda_kernel_sequences(operator, folder).empty


def marked(path: Path) -> dict[str, Any]:
    """The patterns of each event that has some."""
    events = json.loads(path.read_text())["traceEvents"]
    return {event["name"]: event["args"]["Patterns"] for event in events if "Patterns" in event["args"]}


def test_frequent_sequences_are_marked_in_the_trace(tmp_path: Path) -> None:
    other = event("cpu_op", "aten::add", 1, (90, 5), shape=[1])
    span = event("Trace", "PyTorch Profiler (0)", 1, (0, 100), Op=0)
    call = [event("cpu_op", "aten::linear", 1, (0, 50)), event("cpu_op", "aten::mm", 1, (1, 9), dims=3)]
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"traceEvents": [*call, *launched(1, 2, "gemm", 7, (20, 5)), other, span]}))
    analyzer = TraceAnalysis(trace_files={0: str(path)})
    (tmp_path / "out").mkdir()
    analyzer.get_frequent_cuda_kernel_sequences("linear", str(tmp_path / "out"), min_pattern_len=1)
    written = tmp_path / "out/overlaid_trace.json"
    members = ("aten::linear", "aten::mm", "cudaLaunchKernel", "gemm")
    assert marked(written) == {name: {"aten::linear|gemm": 1} for name in members}
    *_, short, names = json.loads(written.read_text())["traceEvents"]
    assert (short["name"], short["args"], names["args"]) == ("0", {}, {"Op": 0, "0": "aten::add"})
    analyzer.get_frequent_cuda_kernel_sequences(
        "linear", str(tmp_path / "out"), min_pattern_len=1, compress_other_kernels=False
    )
    assert json.loads(written.read_text())["traceEvents"][-2:] == [other, span]


def test_aten_operators_with_their_kernels(analyzer: TraceAnalysis, tmp_path: Path) -> None:
    calls = [
        made
        for at in (0, 100)
        for made in (event("cpu_op", "aten::mm", 1, (at, 50)), event("cpu_op", "mm", 1, (at + 1, 9)))
    ]
    first = [launched(1, 2, "a", 7, (20, 5)), launched(2, 12, "b", 7, (25, 5)), launched(5, 60, "c", 7, (70, 5))]
    second = [launched(3, 106, "a", 7, (120, 5)), launched(4, 112, "b", 7, (125, 5))]
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"traceEvents": [*calls, *(made for pair in (*first, *second) for made in pair)]}))
    analyzer = TraceAnalysis(trace_files={0: str(path), 2: str(path)})
    found = analyzer.get_aten_op_kernels_and_delay(ranks=[0, 2], sort_by=["avg_runtime_delay"])
    assert list(found) == [0, 2]
    assert found[2].columns.tolist() == [
        *("aten_op_name", "kernel_sequence", "occurrence_count", "avg_aten_op_launch_delay", "avg_runtime_delay"),
    ]
    assert found[2].to_numpy().tolist() == [["aten::mm", "a -> b", 2, 4, 16]]


def test_counters_are_written_beside_the_trace(tmp_path: Path) -> None:
    content = {"baseTimeNanoseconds": 1_700_000_000_000_000_000, "traceEvents": EVENTS}
    (tmp_path / "rank.json").write_text(json.dumps(content))
    analyzer = TraceAnalysis(trace_files={0: str(tmp_path / "rank.json")})
    analyzer.generate_trace_with_counters()
    document = json.loads((tmp_path / "rank_with_counters.json").read_text())
    points = document["traceEvents"][len(EVENTS) :]
    assert [event["name"] for event in document["traceEvents"][: len(EVENTS)]] == [event["name"] for event in EVENTS]
    assert points[0] == {"ph": "C", "name": "Queue Length", "id": 7, "pid": 0, "ts": 1, "args": {"Queue Length": 1}}
    assert points[-2:] == [
        {"ph": "C", "name": "Memcpy HtoD", "pid": 0, "ts": at, "args": {"Memcpy BW": gbps}}
        for at, gbps in ((40, 2), (42, 0))
    ]
    analyzer.generate_trace_with_counters(TimeSeriesTypes.MEMCPY_BANDWIDTH, [0], "_bandwidth")
    events = json.loads((tmp_path / "rank_bandwidth.json").read_text())["traceEvents"]
    assert {event["name"] for event in events if event["ph"] == "C"} == {"Memcpy HtoD"}


@pytest.mark.filterwarnings("ignore:expected a launch for each CUPTI range:RuntimeWarning")
def test_counters_of_cupti(tmp_path: Path) -> None:
    events = [
        *(event("cpu_op", name, 1, (at, 20)) for at, name in ((0, "aten::linear"), (50, "aten::add"))),
        event("cpu_op", "aten::mm", 1, (1, 10)),
        *(event("cuda_runtime", "cudaLaunchKernel", 1, (at, 1), correlation=at) for at in (2, 51)),
        *(event("cuda_profiler_range", f"kernel{at}", 0, (at, 5), inst=at) for at in (60, 70)),
    ]
    path = tmp_path / "trace.json"
    for kept, found in ((events, 1), (events[:-1], 0), (events[:-2], 0)):
        path.write_text(json.dumps({"traceEvents": kept}))
        frames = TraceAnalysis(trace_files={0: str(path)}).get_cupti_counter_data_with_operators([0])
        assert len(frames) == found
        for frame in frames:
            assert frame[
                ["name", "inst", "index_runtime", "op_stack", "top_level_op", "bottom_level_op"]
            ].to_numpy().tolist() == [
                ["kernel60", 60, 3, ["aten::linear", "aten::mm"], "aten::linear", "aten::mm"],
                ["kernel70", 70, 4, ["aten::add"], "aten::add", "aten::add"],
            ]


def test_queues(analyzer: TraceAnalysis) -> None:
    series = analyzer.get_queue_length_time_series(ranks=[3])
    assert list(series) == [3]
    assert series[3].columns.tolist() == ["ts", "pid", "tid", "stream", "queue_length"]
    assert series[3].loc[2].tolist() == [1, 0, 7, 7, 1]  # the first launch
    summary = analyzer.get_queue_length_summary(ranks=[0, 3])
    assert summary is not None
    assert summary.index.tolist() == [(0, 7), (0, 8), (3, 7), (3, 8)]
    assert summary[("queue_length", "count")].tolist() == [6, 2, 6, 2]
    blocked = analyzer.get_time_spent_blocked_on_full_queue(series, max_queue_length=1)
    assert blocked["stream"].tolist() == [7, 8]
    assert blocked["duration_at_max_queue_length"].tolist() == [9 + 10, 10]
    assert analyzer.get_time_spent_blocked_on_full_queue(series).empty


def test_bandwidth(analyzer: TraceAnalysis) -> None:
    series = analyzer.get_memory_bw_time_series()
    assert series[0].to_numpy().tolist() == [[40, 0, "Memcpy HtoD", 2], [42, 0, "Memcpy HtoD", 0]]
    assert series[0].index.tolist() == [0, 1]
    summary = analyzer.get_memory_bw_summary([0, 3])
    assert summary is not None
    assert summary.index.tolist() == [(0, "Memcpy HtoD"), (3, "Memcpy HtoD")]
    assert summary[("memory_bw_gbps", "mean")].tolist() == [2, 2]


def test_copies_without_a_bandwidth_have_an_empty_summary(tmp_path: Path) -> None:
    events = launched(1, 1, "Memcpy HtoD", 7, (10, 10))
    del events[1]["args"]["memory bandwidth (GB/s)"]
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"traceEvents": events}))
    summary = TraceAnalysis(trace_files={0: str(path)}).get_memory_bw_summary()
    assert summary is not None
    assert (len(summary), summary.columns[0]) == (0, ("memory_bw_gbps", "count"))


def test_annotations(analyzer: TraceAnalysis) -> None:
    device = analyzer.get_gpu_user_annotation_breakdown(visualize=False)
    assert device is not None
    assert device[["name", "sum (us)", "rank"]].to_numpy().tolist() == [
        *(["forward", 40, 0], ["layer", 10, 0]),
        *(["forward", 40, 3], ["layer", 10, 3]),
    ]
    host = analyzer.get_gpu_user_annotation_breakdown(visualize=False, use_gpu_annotation=False)
    assert host is not None
    assert host["name"].tolist() == ["ProfilerStep#1"] * 2
    annotated = analyzer.get_gpu_kernels_with_user_annotations(3)
    assert annotated is not None
    found = annotated[["s_name", "s_user_annotation"]].to_numpy().tolist()
    assert found == [
        ["gemm", "layer"],
        ["ncclDevKernel_AllReduce", ""],
        ["Memcpy HtoD (Pageable -> Device)", "forward"],
        ["gemm", "forward"],
    ]


def test_without_device_work_there_is_nothing(tmp_path: Path) -> None:
    path = tmp_path / "host.json"
    path.write_text(json.dumps({"traceEvents": [event("cpu_op", "aten::add", 1, (0, 2))]}))
    analyzer = TraceAnalysis(trace_files={0: str(path)})
    assert analyzer.get_temporal_breakdown(visualize=False).empty
    assert all(frame.empty for frame in analyzer.get_gpu_kernel_breakdown(visualize=False))
    assert analyzer.get_idle_time_breakdown(visualize=False)[0].empty
    assert analyzer.get_cuda_kernel_launch_stats(visualize=False)[0].empty
    assert analyzer.get_queue_length_summary() is None
    assert analyzer.get_memory_bw_summary() is None
    assert analyzer.get_gpu_user_annotation_breakdown(visualize=False) is None
    assert analyzer.get_gpu_kernels_with_user_annotations(0) is None
    assert analyzer.get_aten_op_kernels_and_delay()[0].empty
    assert analyzer.get_cupti_counter_data_with_operators() == []
    with pytest.warns(RuntimeWarning, match="expected operators with 'add' in their names and 3 kernels, found none"):
        assert analyzer.get_frequent_cuda_kernel_sequences("add", str(tmp_path)).empty
    assert analyzer.get_profiler_steps() == []
