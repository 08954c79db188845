"""`kinetoscope.hta` has HTA's frames, and knows the nodes of its events."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from kinetoscope.hta import TraceAnalysis, execution_trace
from kinetoscope.hta.common.trace import Trace
from kinetoscope.hta.common.trace_symbol_table import shorten_name

if TYPE_CHECKING:
    import kinetoscope as ks
    import pandas

ET_COLUMNS = ("op_schema", "input_shapes", "input_types", "output_shapes", "output_types")
HTA = "facebookresearch__HolisticTraceAnalysis/tests/data"
# What HTA 0.6.1 answered about frames of whole microseconds, by the file.
GOLDEN = {
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
    "triton_example": "triton_example/triton_example",
}

# What HTA makes of the pair in its own demo: the node of every event that it finds one for.
STEP = "ProfilerStep#"
SIMPLE_ADD_NODES = [
    *(3, 4, 5, 8, 9, 10, 13, 14, 15, 16, 17, 18, 21, 22, 23, 26, 27, 28, 29, 32, 35, 36, 39, 40, 41, 42, 44, 45, 46),
    *(49, 50, 51, 52, 55, 57, 58),
]


def event(name: str, ts: float, dur: float, **more: Any) -> dict[str, Any]:
    return {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 2, "ts": ts, "dur": dur, **more}


def frame_of(tmp_path: Path, *events: dict[str, Any]) -> pandas.DataFrame:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"traceEvents": events}))
    return TraceAnalysis(trace_files={0: str(path)}).t.get_trace(0)


@pytest.fixture(scope="session")
def cuda_frame(data: Path) -> pandas.DataFrame:
    traces = TraceAnalysis(trace_dir=str(data / "synthetic_cuda"), include_last_profiler_step=True).t
    traces.decode_symbol_ids(use_shorten_name=False)
    return traces.get_trace(0)


# --- the demo -----------------------------------------------------------------------------------------------------


def demo(folder: Path, et_name: str) -> pandas.DataFrame:
    analyzer = TraceAnalysis(trace_dir=str(folder))
    et = execution_trace.load_execution_trace(str(folder / et_name))
    execution_trace.correlate_execution_trace(analyzer.t, 0, et)
    trace_df = analyzer.t.get_trace(0)
    for column in (*ET_COLUMNS, "et_node_name"):
        execution_trace.add_et_column(trace_df, et, column)
    analyzer.t.decode_symbol_ids(use_shorten_name=False)
    return trace_df


@pytest.mark.unit
@pytest.mark.parametrize("name", ["transformer_cpu", "synthetic_cuda"])
def test_the_demo(data: Path, name: str) -> None:
    frame = demo(data / name, "torch_et_0.json.gz")
    linked = frame[frame["et_node"].notna()]
    assert frame["et_node"].dtype == "float64"
    assert len(linked) == frame["s_cat"].isin(["cpu_op", "user_annotation"]).sum() > 100
    # a node of the observed iteration stands for the equal call of others, which have other numbers
    names = [pair for pair in zip(linked["et_node_name"], linked["s_name"], strict=True) if STEP not in pair[1]]
    assert all(node == event for node, event in names)
    assert frame.loc[frame["et_node"].isna(), list(ET_COLUMNS)].isna().all(axis=None)
    addmm: Any = linked.loc[linked["s_name"] == "aten::addmm"].iloc[0]
    assert addmm["op_schema"].startswith("aten::addmm(")
    assert all(isinstance(addmm[column], list) for column in ET_COLUMNS[1:])
    assert addmm["input_shapes"][:3] == addmm["input_dims"][:3]


@pytest.mark.shared
def test_the_pair_of_the_demo(shared: Path) -> None:
    frame = demo(shared / HTA / "execution_trace", "benchmark_simple_add_et.json.gz")
    linked = frame[frame["et_node"].notna()]
    assert (len(frame), linked["et_node"].tolist()) == (55, SIMPLE_ADD_NODES)
    assert (linked["et_node_name"] == linked["s_name"]).all()


@pytest.mark.unit
def test_traces_of_different_runs(data: Path) -> None:
    traces = TraceAnalysis(trace_dir=str(data / "synthetic_cuda")).t
    et = execution_trace.load_execution_trace(str(data / "transformer_cpu/torch_et_0.json.gz"))
    with pytest.warns(RuntimeWarning, match="are they of the same run"):
        execution_trace.correlate_execution_trace(traces, 0, et)
    assert traces.get_trace(0)["et_node"].isna().all()


@pytest.mark.unit
def test_nodes_have_the_names_of_et_replay(data: Path) -> None:
    et = execution_trace.load_execution_trace(str(data / "minimal_cpu/torch_et_0.json.gz"))
    node = next(node for node in et.nodes.values() if node.name == "aten::addmm")
    assert et.nodes[node.id] is node
    assert node.rf_id
    assert len(node.inputs) == len(node.input_shapes) == len(node.input_types) > 0


@pytest.mark.unit
def test_what_was_forgotten_is_said(data: Path) -> None:
    traces = TraceAnalysis(trace_dir=str(data / "minimal_cpu")).t
    et = execution_trace.load_execution_trace(str(data / "minimal_cpu/torch_et_0.json.gz"))
    columns = traces.get_trace(0).columns.tolist()
    with pytest.warns(RuntimeWarning, match="call correlate_execution_trace before adding op_schema"):
        execution_trace.add_et_column(traces.get_trace(0), et, "op_schema")
    execution_trace.correlate_execution_trace(traces, 0, et)
    with pytest.warns(RuntimeWarning, match=r"expected one of et_node_name, .*, found pool"):
        execution_trace.add_et_column(traces.get_trace(0), et, "pool")
    assert traces.get_trace(0).columns.tolist() == [*columns, "et_node"]
    with pytest.raises(ValueError, match=r"expected one of the ranks \[0\], found 1"):
        traces.get_trace(1)


# --- the frame ----------------------------------------------------------------------------------------------------


@pytest.mark.unit
def test_rows_are_labelled_by_their_place_in_the_file(cuda_frame: pandas.DataFrame, cuda: ks.Trace) -> None:
    names = dict(cuda.events.select("id", "name").rows())
    assert (cuda_frame.index == cuda_frame["index"]).all()
    assert cuda_frame["s_name"].to_dict() == {label: names[label] for label in cuda_frame.index}


@pytest.mark.unit
def test_device_events_and_their_launches_know_each_other(cuda_frame: pandas.DataFrame) -> None:
    launched = cuda_frame.loc[(cuda_frame["stream"] >= 0) & (cuda_frame["index_correlation"] > 0)]
    launches = cuda_frame.loc[launched["index_correlation"]]
    assert len(launched) > 60
    assert (launches["index_correlation"].to_numpy() == launched.index).all()
    assert (launches["correlation"].to_numpy() == launched["correlation"]).all()
    assert (launches["iteration"].to_numpy() == launched["iteration"]).all()
    assert (cuda_frame.loc[cuda_frame["s_cat"] == "cpu_op", "index_correlation"] == -1).all()


@pytest.mark.unit
def test_times_begin_at_0(cuda_frame: pandas.DataFrame) -> None:
    assert cuda_frame["ts"].min() == 0
    assert (cuda_frame["end"] == cuda_frame["ts"] + cuda_frame["dur"]).all()
    assert (str(cuda_frame["ts"].dtype), str(cuda_frame["dur"].dtype)) == ("int64", "float64")


@pytest.mark.unit
def test_the_last_step_is_left_out(data: Path) -> None:
    folder = str(data / "synthetic_cuda")
    complete, whole = (
        TraceAnalysis(trace_dir=folder, include_last_profiler_step=included).t for included in (False, True)
    )
    assert complete.get_iterations() == whole.get_iterations()[:-1]
    assert len(complete.get_iterations()) > 1
    frame, all_of_it = complete.get_trace(0), whole.get_trace(0)
    assert set(frame.index) < set(all_of_it.index)
    assert set(frame.loc[frame["stream"] >= 0, "iteration"]) == set(complete.get_iterations())


@pytest.mark.unit
def test_parts_of_a_microsecond(tmp_path: Path) -> None:
    frame = frame_of(tmp_path, event("a", 10.2, 3.9), event("b", 12.1, 0.5), event("c", 20.0, 2.0))
    assert frame["ts"].tolist() == [0, 2, 9]
    assert frame["dur"].tolist() == [3, -1, 2]


@pytest.mark.unit
def test_parts_of_a_microsecond_of_durations_alone_stay(tmp_path: Path) -> None:
    assert frame_of(tmp_path, event("a", 10, 3.9))["dur"].tolist() == [3.9]


@pytest.mark.unit
def test_rows_that_are_left_out(tmp_path: Path) -> None:
    rows = [event("a", 1, 1), event("b", 1, 1, cat="Trace"), event("c", 1, 1)]
    del rows[2]["cat"]
    rows += [{"ph": "i", "cat": "cpu_op", "name": "d", "pid": 1, "tid": 2, "ts": 3}]
    assert frame_of(tmp_path, *rows).index.tolist() == [0]


@pytest.mark.unit
def test_arguments_become_columns(tmp_path: Path) -> None:
    args = {"stream": "7", "wait_on_stream": 20, "Python id": 5, "In split size": [1, 2], "Input Dims": [[2, 3], []]}
    frame = frame_of(tmp_path, event("a", 1, 1, args=args), event("b", 1, 1, args={"stream": "0x0"}), event("c", 1, 1))
    columns = ["stream", "wait_on_stream", "python_id", "in_split_size", "input_dims"]
    assert frame[columns].to_numpy().tolist() == [
        [7, 20, 5, [1, 2], [[2, 3], []]],
        [-1, -1, -1, "[]", "-1"],
        [-1, -1, -1, "[]", "-1"],
    ]


@pytest.mark.unit
def test_numbers_of_threads_are_numbers_where_they_are_such(tmp_path: Path) -> None:
    numbers = frame_of(tmp_path, event("a", 1, 1), event("b", 1, 1, tid=-3))
    assert numbers["tid"].tolist() == [2, -3]
    assert numbers["tid"].dtype.kind == "i"
    texts = frame_of(tmp_path, event("a", 1, 1), event("b", 1, 1, tid="stream 7"), event("c", 1, 1, tid="007"))
    assert texts["tid"].tolist() == [2, "stream 7", "007"]


@pytest.mark.unit
def test_counters_of_cupti_are_columns(tmp_path: Path) -> None:
    counted = event("kernel", 1, 1, cat="cuda_profiler_range", args={"smsp__inst.sum": 12})
    frame = frame_of(tmp_path, event("a", 1, 1), counted)
    assert frame["smsp__inst.sum"].tolist() == [-1, 12]


# --- traces -------------------------------------------------------------------------------------------------------


@pytest.mark.unit
def test_ranks_have_one_clock_and_one_table_of_symbols(data: Path) -> None:
    traces = TraceAnalysis(trace_dir=str(data / "mlp_gloo")).t
    frames = traces.get_all_traces()
    assert traces.get_ranks() == [0, 1]
    assert [Path(traces.trace_files[rank]).name for rank in (0, 1)] == [
        "kineto_trace_0.json.gz",
        "kineto_trace_1.json.gz",
    ]
    assert min(frame["ts"].min() for frame in frames.values()) == 0
    ids = traces.symbol_table.get_sym_id_map()
    assert [traces.symbol_table.sym_table[number] for number in ids.values()] == list(ids)
    assert all((frame["name"] == ids["aten::addmm"]).any() for frame in frames.values())


@pytest.mark.unit
def test_files_may_be_named(data: Path) -> None:
    folder, name = str(data / "mlp_gloo"), "kineto_trace_1.json.gz"
    for files in ({1: name}, [name], [f"{folder}/{name}"]):
        traces = TraceAnalysis(trace_files=files, trace_dir=folder).t
        assert traces.trace_files == {1: f"{folder}/{name}"}


@pytest.mark.unit
def test_files_without_a_rank_get_numbers_of_their_own(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.json").write_text(json.dumps({"traceEvents": [event(name, 1, 1)]}))
    traces = TraceAnalysis(trace_dir=str(tmp_path)).t
    assert [Path(path).name for path in traces.trace_files.values()] == ["a.json", "b.json"]


@pytest.mark.unit
def test_a_second_file_of_a_rank_is_left_out_and_said(data: Path, tmp_path: Path) -> None:
    first, second = data / "mlp_gloo/kineto_trace_0.json.gz", tmp_path / "again.json.gz"
    second.write_bytes(first.read_bytes())
    files = [str(first), str(second)]
    with pytest.warns(RuntimeWarning, match="has rank 0, too"):
        traces = Trace(files)
    assert traces.trace_files == {0: files[0]}


@pytest.mark.unit
@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("aten::addmm", "aten::addmm"),
        ("Memcpy HtoD (Pageable -> Device)", "Memcpy HtoD (Pageable -> Device)"),
        ("void at::native::add_kernel<4, at::Array<char*, 3> >(int, at::Array<char*, 3>)", "at::native::add_kernel"),
        ("std::enable_if<!(false), void>::type gemv<int>(a->b)", "gemv"),
        ("f(", "f("),
    ],
)
def test_short_names(name: str, short: str) -> None:
    assert shorten_name(name) == short


# --- HTA's answers ------------------------------------------------------------------------------------------------


@pytest.mark.shared
@pytest.mark.parametrize("name", GOLDEN)
def test_the_frame_is_that_of_hta(shared: Path, name: str) -> None:
    golden = json.loads((shared.parent / "golden/hta" / f"{name}.json").read_text())["rank0"]
    path = str(shared / HTA / f"{GOLDEN[name]}.json.gz")
    traces = TraceAnalysis(trace_files={0: path}, include_last_profiler_step=name.endswith(".inc")).t
    frame = traces.get_trace(0)
    assert len(frame) == golden["n"]
    assert set(frame.columns) == set(golden["cols"])
    assert sorted(frame["stream"].unique()) == golden["streams"]
    assert (frame["stream"] >= 0).sum() == golden["n_gpu"]
    # HTA's times pass through a float, in which parts of an absolute microsecond are lost
    assert frame["dur"].sum() == pytest.approx(golden["sum_dur"], abs=len(frame) if "ns_res" in name else 0)
    assert abs(frame["ts"].max() - golden["ts_max"]) <= (1 if "ns_res" in name else 0)
    unknown = golden["iters"].pop("nan", 0)  # of stream 0, which HTA leaves without
    known = {int(float(number)): count for number, count in golden["iters"].items()}
    ours = frame["iteration"].value_counts().to_dict()
    assert sum(ours.values()) - sum(known.values()) == unknown
    assert all(ours[number] >= count for number, count in known.items())
