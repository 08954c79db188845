"""The columns of HTA's frames: which there are, their types, and what links their rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas
import pytest
from kinetoscope.hta.common.trace import (
    Trace,
    add_fwd_bwd_links,
    add_iteration,
    get_cpu_gpu_correlation,
    transform_correlation_to_index,
)
from kinetoscope.hta.common.trace_symbol_table import TraceSymbolTable
from kinetoscope.hta.configs.default_values import AttributeSpec, ValueType
from kinetoscope.hta.configs.env_options import HTAEnvOptions
from kinetoscope.hta.configs.event_args_yaml_parser import v1_0_0
from kinetoscope.hta.configs.parser_config import AVAILABLE_ARGS, ParserBackend, ParserConfig

pytestmark = pytest.mark.unit

BASE_US = 1_700_000_000_000_000
OWN = ["index", "cat", "name", "pid", "tid", "ts", "dur"]
LINKS = ["index_correlation", "iteration"]


def event(category: str, name: str, ts: float, dur: float, **args: Any) -> dict[str, Any]:
    process = 0 if category in {"kernel", "gpu_memcpy"} else 1
    return {"ph": "X", "cat": category, "name": name, "pid": process, "tid": 7, "ts": ts, "dur": dur, "args": args}


EVENTS = [
    event("user_annotation", "ProfilerStep#4", BASE_US, 100),
    event("cpu_op", "aten::mm", BASE_US + 1, 40, **{"External id": 9, "Input Dims": [[2, 3], [3, 4]], "Ev Idx": 5}),
    event("cuda_runtime", "cudaLaunchKernel", BASE_US + 3, 2, correlation=1, cbid=211),
    event(
        "kernel", "gemm", BASE_US + 20, 30, correlation=1, stream=7, grid=[4, 1, 1], **{"est. achieved occupancy %": 5}
    ),
    event("kernel", "stray", BASE_US + 60, 30, correlation=2, stream=7),
    event("gpu_memcpy", "Memcpy HtoD", BASE_US + 95, 9, correlation=3, stream=7, bytes=64),
    event("python_function", "forward", BASE_US + 1, 90),
]
METADATA = {"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "ts": BASE_US, "args": {"name": "python"}}


def parsed(tmp_path: Path, *events: dict[str, Any], config: ParserConfig | None = None, **header: Any) -> Trace:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({**header, "traceEvents": events}))
    traces = Trace(trace_files={0: str(path)}, parser_config=config)
    traces.parse_traces()
    return traces


def frame_of(
    tmp_path: Path, *events: dict[str, Any], config: ParserConfig | None = None, **header: Any
) -> pandas.DataFrame:
    return parsed(tmp_path, *events, config=config, **header).get_trace(0)


def config_of(*keys: str) -> ParserConfig:
    return ParserConfig([*ParserConfig.get_minimum_args(), *(AVAILABLE_ARGS[key] for key in keys)])


# --- arguments ----------------------------------------------------------------------------------------------------


def test_the_default_columns(tmp_path: Path) -> None:
    frame = frame_of(tmp_path, *EVENTS)
    assert frame.columns.tolist() == [*OWN, *(spec.name for spec in ParserConfig.ARGS_DEFAULT), *LINKS, "end"]


def test_arguments_of_the_configuration_are_the_columns(tmp_path: Path) -> None:
    frame = frame_of(tmp_path, *EVENTS, config=config_of("threads::grid", "sm::occupancy", "correlation::cbid"))
    columns = ["stream", "correlation", "grid", "est_occupancy", "cbid"]
    assert frame.columns.tolist() == [*OWN, *columns, *LINKS, "end"]
    assert frame.loc[[1, 2, 3], columns].to_numpy().tolist() == [
        [-1, -1, "[]", -1, -1],
        [-1, 1, "[]", -1, 211],
        [7, 1, [4, 1, 1], 5, -1],
    ]


def test_an_argument_has_the_column_and_default_of_its_description(tmp_path: Path) -> None:
    specs = [
        AttributeSpec("elapsed", "External id", ValueType.Int, -7, v1_0_0),
        AttributeSpec("index_in_profile", "Ev Idx", ValueType.Object, None, v1_0_0),
        AttributeSpec("never", "no such key", ValueType.String, "x", v1_0_0),
    ]
    config = ParserConfig([*ParserConfig.get_minimum_args(), *specs])
    frame = frame_of(tmp_path, *EVENTS, config=config)
    assert frame["elapsed"].tolist()[:3] == [-7, 9, -7]
    assert frame["index_in_profile"].dropna().tolist() == [5]
    assert set(frame["never"]) == {"x"}


def test_all_arguments_may_be_columns(tmp_path: Path) -> None:
    more = event("cpu_op", "aten::add", BASE_US, 1)
    more["args"] = {"My Own (GB/s)": 2.5, "name": "inner"}
    frame = frame_of(tmp_path, *EVENTS, more, config=ParserConfig().set_parse_all_args(True))
    assert {"ev_idx", "cbid", "grid", "my_own", "arg_name", "bytes"} <= set(frame.columns)
    assert "collective_name" not in frame
    assert frame.loc[7, ["my_own", "arg_name", "ev_idx"]].tolist() == [2.5, "inner", -1]


def test_arguments_may_be_selected(tmp_path: Path) -> None:
    frame = frame_of(tmp_path, *EVENTS, config=ParserConfig().set_args_selector(["stream", "correlation", "bytes"]))
    assert frame.columns.tolist() == [*OWN, "stream", "correlation", "bytes", *LINKS, "end"]


def test_an_argument_does_not_take_the_place_of_the_events_own_column(tmp_path: Path) -> None:
    frame = frame_of(tmp_path, *EVENTS, config=config_of("info::name", "info::labels"))
    assert "labels" in frame
    assert frame["name"].nunique() == len(EVENTS)


def test_the_default_configuration_may_be_changed(tmp_path: Path) -> None:
    before = ParserConfig.get_default_cfg()
    changed = before.clone()
    changed.add_args([AVAILABLE_ARGS["threads::block"]])
    ParserConfig.set_default_cfg(changed)
    try:
        assert "block" in frame_of(tmp_path, *EVENTS)
    finally:
        ParserConfig.set_default_cfg(before)
    assert "block" not in frame_of(tmp_path, *EVENTS)


@pytest.mark.parametrize(
    ("backend", "num_rows"), [(None, 7), (ParserBackend.JSON, 7), (ParserBackend.IJSON, 6), ("ijson_batched", 6)]
)
def test_categories_are_skipped_where_hta_skips_them(tmp_path: Path, backend: Any, num_rows: int) -> None:
    config = ParserConfig()
    config.set_parser_backend(backend)
    frame = frame_of(tmp_path, *EVENTS, config=config)
    assert len(frame) == num_rows
    assert frame.index.tolist() == frame["index"].tolist()


# --- types and times ----------------------------------------------------------------------------------------------


def test_durations_are_integers_where_each_element_of_the_file_has_a_whole_one(tmp_path: Path) -> None:
    assert frame_of(tmp_path, *EVENTS)["dur"].dtype == "int8"
    assert frame_of(tmp_path, *EVENTS)["end"].dtype == "int64"
    assert frame_of(tmp_path, *EVENTS, METADATA)["dur"].dtype == "float64"
    assert frame_of(tmp_path, METADATA, *EVENTS)["dur"].dtype == "float64"
    assert frame_of(tmp_path, *EVENTS, event("cpu_op", "a", BASE_US, 0.5))["dur"].dtype == "float64"


def test_times_are_those_of_the_file(tmp_path: Path) -> None:
    events = [{**each, "ts": each["ts"] - BASE_US + 5000.25} for each in EVENTS]
    traces = parsed(tmp_path, *events, baseTimeNanoseconds=1_699_999_999_123_456_789)
    frame = traces.get_trace(0)
    assert frame["ts"].tolist()[:3] == [5001, 5002, 5004]
    assert frame["dur"].tolist()[:3] == [99, 39, 1]
    assert frame.columns.tolist()[6:8] == ["dur", "end"]
    traces.align_and_filter_trace()
    assert traces.min_ts == 5001
    assert traces.get_trace(0)["end"].tolist()[:3] == [99, 40, 4]
    assert traces.get_trace_start_unixtime_ns(0) == 1_699_999_999_123_456_789 + 5001 * 1000


def test_absolute_times_are_not_counted_from_the_base_time(tmp_path: Path) -> None:
    frame = frame_of(tmp_path, *EVENTS, baseTimeNanoseconds=1_699_000_000_000_000_000)
    assert frame["ts"].min() == BASE_US


def test_parts_of_a_microsecond_stay_where_rounding_is_off(tmp_path: Path) -> None:
    options = HTAEnvOptions.instance()
    options.set_disable_ns_rounding(True)
    try:
        frame = frame_of(tmp_path, *({**each, "ts": each["ts"] + 0.25} for each in EVENTS))
    finally:
        options.set_disable_ns_rounding(False)
    assert frame["ts"].iloc[0] == BASE_US + 0.25


def test_ranks_with_different_base_times_are_on_one_clock(tmp_path: Path) -> None:
    second_ns = 1_000_000_000
    for rank in (0, 1):
        header = {"distributedInfo": {"rank": rank}, "baseTimeNanoseconds": (1_699_999_990 + 2 * rank) * second_ns}
        # both at the same time: the later base is subtracted from the second one
        events = [event("cpu_op", "a", 10_000_000.5 - 2_000_000 * rank, 5)]
        (tmp_path / f"rank{rank}.json").write_text(json.dumps({**header, "traceEvents": events}))
    traces = Trace(trace_dir=str(tmp_path))
    traces.load_traces()
    assert [frame["ts"].tolist() for frame in traces.get_all_traces().values()] == [[0], [0]]
    starts = {traces.get_trace_start_unixtime_ns(rank) for rank in (0, 1)}
    assert starts == {1_700_000_000 * second_ns + 1000}


# --- links --------------------------------------------------------------------------------------------------------


def test_device_work_belongs_to_the_step_of_its_launch_alone(tmp_path: Path) -> None:
    frame = frame_of(tmp_path, *EVENTS)
    assert frame["index_correlation"].tolist() == [-1, -1, 3, 2, 0, 0, -1]
    assert frame["iteration"].tolist() == [4, 4, 4, 4, -1, -1, 4]


def test_an_operator_with_a_stream_belongs_to_the_step_that_it_begins_in(tmp_path: Path) -> None:
    frame = frame_of(tmp_path, *EVENTS, event("cpu_op", "triton_poi_fused_0", BASE_US + 2, 5, stream=0))
    assert frame["iteration"].iloc[-1] == 4


def test_of_several_steps_device_work_without_a_launch_is_left_out(tmp_path: Path) -> None:
    steps = [event("user_annotation", "ProfilerStep#5", BASE_US + 100, 50), event("cpu_op", "b", BASE_US + 101, 1)]
    rows = {}
    for is_included in (False, True):
        traces = parsed(tmp_path, *EVENTS, *steps)
        traces.align_and_filter_trace(include_last_profiler_step=is_included)
        rows[is_included] = sorted(traces.get_trace(0)["index"])
    assert rows == {False: [0, 1, 2, 3, 6], True: [0, 1, 2, 3, 6, 7, 8]}
    one = parsed(tmp_path, *EVENTS)
    one.align_and_filter_trace()
    assert len(one.get_trace(0)) == len(EVENTS)


def test_all_steps_of_mtia_stay(tmp_path: Path) -> None:
    launch = "runFunction - job_prep_and_submit_for_execution"
    events = [
        event("user_annotation", "ProfilerStep#1", BASE_US, 100),
        event("mtia_runtime", launch, BASE_US + 6, 3, correlation=5),
        event("mtia_ccp_events", "kernel", BASE_US + 20, 10, stream=3, correlation=5),
        event("mtia_ccp_events", "dma_request", BASE_US + 30, 5),
        event("user_annotation", "ProfilerStep#2", BASE_US + 100, 100),
        event("mtia_ccp_events", "stray", BASE_US + 150, 10, stream=3, correlation=9),
        event("cpu_op", "late", BASE_US + 300, 5),
    ]
    traces = parsed(tmp_path, *events)
    traces.align_and_filter_trace()
    frame = traces.get_trace(0)
    assert traces.get_device_type() == "MTIA"
    assert frame["index"].tolist() == [0, 1, 2, 3, 4]
    assert frame.loc[3, ["stream", "iteration"]].tolist() == [7, 1]


# --- functions on frames ------------------------------------------------------------------------------------------


def symbols_of(*texts: str) -> TraceSymbolTable:
    table = TraceSymbolTable()
    table.add_symbols(texts)
    return table


def test_rows_of_one_correlation_are_linked() -> None:
    table = symbols_of("launch", "kernel", "Context Sync")
    columns = {"name": [0, 1, 2, 0, 1, 0], "stream": [-1, 7, -1, -1, 7, -1], "correlation": [5, 5, 6, 6, 9, -1]}
    labels = [10, 11, 12, 13, 14, 15]
    frame = pandas.DataFrame({"index": labels, **columns}, index=labels)
    assert transform_correlation_to_index(frame, table) is frame
    assert frame["index_correlation"].tolist() == [11, 10, 13, 12, 0, -1]
    assert get_cpu_gpu_correlation(frame).to_dict("list") == {"gpu_index": [11], "cpu_index": [10]}
    without = pandas.DataFrame({"stream": [7]})
    assert "index_correlation" not in transform_correlation_to_index(without, table)


def test_rows_get_their_step() -> None:
    table = symbols_of("ProfilerStep#8", "ProfilerStep # 9", "cpu_op", "other")
    columns = {"ts": [0, 50, 10, 60, 99, 20, 200], "dur": [50, 40, 1, 1, 1, 1, 1], "name": [0, 1, 3, 3, 3, 3, 3]}
    more = {
        "cat": [3, 3, 2, 3, 3, 2, 3],
        "stream": [-1, -1, -1, 7, 0, 0, 7],
        "index_correlation": [0, 0, 0, 2, 1, -1, 77],
    }
    frame = pandas.DataFrame({**columns, **more})
    steps = add_iteration(frame, table)
    assert frame["iteration"].tolist() == [8, 9, 8, 8, 9, 8, -1]
    assert steps[["ts", "dur", "s_name", "iter"]].to_numpy().tolist() == [
        [0, 50, 8, "ProfilerStep#8"],
        [50, 40, 9, "ProfilerStep # 9"],
    ]


def test_flows_link_forward_and_backward_operators() -> None:
    rows = {
        "cat": ["cpu_op", "cpu_op", "cpu_op", "fwdbwd", "fwdbwd", "fwdbwd"],
        "ph": ["X", "X", "X", "s", "f", "s"],
        "bp": [None, None, None, None, "e", None],
        "id": [0, 0, 0, 4, 4, 5],
        "ts": [1, 1, 9, 1, 9, 30],
    }
    frame = pandas.DataFrame({"index": range(6), "tid": 2, "pid": 3, **rows})
    add_fwd_bwd_links(frame)
    assert frame["fwdbwd_index"].tolist() == [-1, 2, 1, -1, -1, -1]
    assert frame["fwdbwd"].tolist() == [-1, 0, 1, -1, -1, -1]
    without = frame.loc[frame["cat"] == "cpu_op", ["cat", "ts"]].copy()
    add_fwd_bwd_links(without)
    assert without.columns.tolist() == ["cat", "ts"]
