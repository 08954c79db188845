"""`hta.common.trace` and `hta.common.trace_parser`: finding, reading and converting trace files."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any, cast

import numpy
import pandas
import pytest
from kinetoscope.hta import TraceAnalysis, execution_trace
from kinetoscope.hta.common import trace_parser
from kinetoscope.hta.common.trace import (
    Trace,
    parse_trace_dataframe,
    parse_trace_dict,
    parse_trace_file,
    trace_event_timestamp_to_unixtime_ns,
)
from kinetoscope.hta.common.trace_symbol_table import TraceSymbolTable
from kinetoscope.hta.configs.parser_config import ParserBackend, ParserConfig

pytestmark = pytest.mark.unit


def event(category: str, name: str, ts: float, dur: float, **args: Any) -> dict[str, Any]:
    return {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 2, "ts": ts, "dur": dur, "args": args}


EVENTS = [
    event("user_annotation", "ProfilerStep#4", 1000, 90),
    event("cuda_runtime", "cudaLaunchKernel", 1003, 2, correlation=1),
    event("kernel", "gemm", 1020, 30, correlation=1, stream=7),
]


def write(path: Path, *events: dict[str, Any], **header: Any) -> str:
    content = json.dumps({**header, "traceEvents": events}).encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return str(path)


@pytest.fixture
def path(tmp_path: Path) -> str:
    return write(tmp_path / "trace.json.gz", *EVENTS, distributedInfo={"rank": 2, "backend": "nccl"})


@pytest.fixture
def by_hand() -> Trace:
    """Traces whose frames do not come from files."""
    traces = Trace(trace_files={}, trace_dir="")
    traces.symbol_table.add_symbols(["cpu_op", "ProfilerStep#1", "ProfilerStep#2", "cudaLaunchKernel", "kernel"])
    rows = {
        "index": [0, 1, 2, 3, 4],
        "cat": [0, 0, 0, 0, 4],
        "name": [1, 2, 3, 3, 4],
        "ts": [100, 200, 110, 210, 120],
        "dur": [100, 100, 5, 5, 50],
        "stream": [-1, -1, -1, -1, 7],
        "correlation": [-1, -1, 8, 9, 8],
        "iteration": [1, 2, 1, 2, 1],
        "index_correlation": [-1, -1, 4, 0, 2],
    }
    frame = pandas.DataFrame(rows)
    frame["end"] = frame["ts"] + frame["dur"]
    traces.traces[3] = frame
    traces.meta_data[3] = {"device_type": "NVIDIA GPU", "baseTimeNanoseconds": 7}
    return traces


# --- files --------------------------------------------------------------------------------------------------------


def test_a_file_becomes_metadata_a_frame_and_symbols(path: str) -> None:
    metadata, frame, symbols = parse_trace_file(path)
    assert metadata == {"distributedInfo": {"rank": 2, "backend": "nccl"}, "device_type": "NVIDIA GPU"}
    assert [symbols.sym_table[number] for number in frame["name"]] == [each["name"] for each in EVENTS]
    assert frame["index_correlation"].tolist() == [-1, 2, 1]
    _, bare, _ = parse_trace_dataframe(path, ParserConfig.get_default_cfg())
    assert [column for column in frame if column not in bare] == ["index_correlation", "iteration", "end"]
    assert parse_trace_dict(path)["traceEvents"] == EVENTS


def test_names_and_backends_are_checked(tmp_path: Path, path: str) -> None:
    with pytest.raises(ValueError, match=r"ends in '\.gz' or 'json'"):
        parse_trace_file(str(tmp_path / "trace.txt"))
    with pytest.raises(ValueError, match=r"\.gz"):
        parse_trace_dict(str(tmp_path / "trace.txt"))
    config = ParserConfig()
    config.set_parser_backend(cast("Any", "pencil"))
    with pytest.raises(ValueError, match="pencil"):
        parse_trace_dataframe(path, config)


def test_the_default_backend_may_be_set() -> None:
    assert trace_parser.get_default_trace_parsing_backend() is ParserBackend.JSON
    trace_parser.set_default_trace_parsing_backend(ParserBackend.IJSON)
    assert trace_parser.get_default_trace_parsing_backend() is ParserBackend.IJSON
    trace_parser.set_default_trace_parsing_backend(ParserBackend.JSON)


@pytest.mark.parametrize(
    ("metadata", "names", "device"),
    [
        ({"distributedInfo": {"backend": "cpu:gloo,mtia:hccl"}}, {"cudaLaunchKernel": 0}, "MTIA"),
        (None, {"runFunction - job_prep_and_submit_for_execution": 0}, "MTIA"),
        ({"distributedInfo": {"backend": "nccl"}}, {"cudaLaunchKernel": 0}, "NVIDIA GPU"),
        ({}, {"hipLaunchKernel": 0}, "AMD GPU"),
        (None, None, "UNKNOWN GPU"),
    ],
)
def test_the_device_is_inferred(metadata: dict[str, Any] | None, names: dict[str, int] | None, device: str) -> None:
    assert trace_parser.infer_gpu_type(metadata, names) == device


def test_metadata_is_read_from_an_open_file(tmp_path: Path) -> None:
    header = {"schemaVersion": 1, "distributedInfo": {"rank": 3, "pg_config": [1, 2]}, "deviceProperties": [{"id": 0}]}
    file = write(tmp_path / "trace.json.gz", *EVENTS, **header)
    with gzip.open(file) as opened:
        metadata = trace_parser.parse_metadata_ijson(cast("Any", opened))
    assert metadata == {**header, "distributedInfo": {"rank": 3, "pg_config": None}}


def test_times_are_rounded_to_what_an_event_covers() -> None:
    frame = pandas.DataFrame({"ts": [1.25, 2.5], "dur": [1.5, 0.25]})
    trace_parser.round_down_time_stamps(frame)
    assert frame.to_dict("list") == {"ts": [2, 3], "dur": [0, -1], "end": [2, 2]}
    with_gap = pandas.DataFrame({"ts": [1.25, numpy.nan], "dur": [1.5, numpy.nan]})
    trace_parser.round_down_time_stamps(with_gap)
    assert with_gap["ts"].tolist()[0] == 2
    assert with_gap["ts"].isna().tolist() == [False, True]
    whole = pandas.DataFrame({"ts": [1], "dur": [0.5]})
    trace_parser.round_down_time_stamps(whole)
    assert whole.columns.tolist() == ["ts", "dur"]


# --- traces of files ----------------------------------------------------------------------------------------------


def test_files_are_read_when_frames_are_asked_for(path: str) -> None:
    traces = Trace(trace_files=[path])
    assert (traces.trace_files, traces.traces, traces.meta_data, traces.is_parsed) == ({2: path}, {}, {}, False)
    traces.parse_single_rank(5)
    traces.parse_single_rank(2)
    assert traces.get_ranks() == [2]
    assert traces.meta_data[2]["device_type"] == traces.get_device_type() == "NVIDIA GPU"
    with pytest.raises(KeyError):
        traces.parse_multiple_ranks([5])


def test_ranks_are_read_up_to_a_number(tmp_path: Path) -> None:
    files = {rank: write(tmp_path / f"{rank}.json", *EVENTS) for rank in (4, 1, 3)}
    traces = Trace(trace_files=files)
    traces.parse_traces(max_ranks=2, use_multiprocessing=False)
    assert traces.get_ranks() == [1, 3]
    with pytest.warns(RuntimeWarning, match="expected at least one rank to read, found none"):
        traces.parse_traces(max_ranks=0)
    assert not traces.is_parsed


def test_a_path_may_be_put_in_after_the_files_were_found(tmp_path: Path, path: str) -> None:
    traces = Trace(trace_files=[path])
    traces.trace_files[0] = write(tmp_path / "other.json", event("cpu_op", "a", 5, 1))
    traces.parse_traces()
    assert len(traces.get_trace(0)) == 1


def test_traces_are_loaded_once(path: str) -> None:
    traces = Trace(trace_files={0: path})
    traces.load_traces(use_multiprocessing=False, use_memory_profiling=False)
    frame = traces.get_trace(0)
    with pytest.warns(RuntimeWarning, match="loaded already"):
        traces.load_traces()
    assert traces.get_trace(0) is frame
    assert traces.get_trace_duration() == traces.get_trace_duration(0) == 20


def test_a_missing_file_is_an_error_of_both_kinds(tmp_path: Path) -> None:
    missing = str(tmp_path / "none.json")
    for files in ({0: missing}, [missing]):
        for kind in (ValueError, FileNotFoundError):
            with pytest.raises(kind, match="validation failed: no such file"):
                Trace(trace_files=files)
    with pytest.raises(ValueError, match="validation failed"):
        TraceAnalysis(trace_files={0: missing})


@pytest.mark.parametrize("files", [None, 42])
def test_without_files_there_is_a_warning_and_no_rank(tmp_path: Path, files: Any) -> None:
    with pytest.warns(RuntimeWarning, match=r"no traces to read|expected trace_files as a mapping"):
        traces = Trace(files, trace_dir=str(tmp_path / "none"))
    assert (traces.trace_files, traces.get_ranks(), traces.get_iterations()) == ({}, [], [])


def test_a_rank_without_events_is_left_out(tmp_path: Path, path: str) -> None:
    metadata = {"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "ts": 1, "args": {"name": "python"}}
    traces = Trace(trace_files={0: path, 1: write(tmp_path / "empty.json", metadata)})
    with pytest.warns(RuntimeWarning, match="skipped rank 1"):
        traces.load_traces()
    assert traces.get_ranks() == list(traces.meta_data) == [0]


def test_the_raw_file_is_that_of_the_rank(path: str) -> None:
    traces = Trace(trace_files={0: path})
    assert traces.get_raw_trace_for_one_rank()["traceEvents"] == EVENTS
    with pytest.raises(ValueError, match=r"expected one of the ranks \[0\], found 9"):
        traces.get_raw_trace_for_one_rank(9)


# --- frames that were set by hand ---------------------------------------------------------------------------------


def test_frames_that_were_set_by_hand_are_aligned_and_cut(by_hand: Trace) -> None:
    assert (by_hand.get_ranks(), by_hand.get_iterations(), by_hand.get_iterations(9)) == ([3], [1, 2], [])
    assert by_hand.get_trace_duration() == 110
    by_hand.align_and_filter_trace()
    frame = by_hand.get_trace(3)
    assert by_hand.min_ts == 100
    assert frame[["index", "ts", "end"]].to_numpy().tolist() == [[4, 20, 70], [0, 0, 100], [2, 10, 15]]
    assert by_hand.get_trace_start_unixtime_ns(3) == 100_007
    by_hand.decode_symbol_ids()
    assert frame["s_name"].tolist() == ["kernel", "ProfilerStep#1", "cudaLaunchKernel"]


def test_what_frames_that_were_set_by_hand_lack(by_hand: Trace) -> None:
    del by_hand.meta_data[3]["baseTimeNanoseconds"]
    with pytest.raises(KeyError, match="baseTimeNanoseconds"):
        by_hand.get_trace_start_unixtime_ns(3)
    with pytest.raises(ValueError, match="No trace found for rank 0"):
        by_hand.get_trace_start_unixtime_ns(0)
    with pytest.raises(ValueError, match=r"expected one of the ranks \[3\], found 0"):
        by_hand.get_trace_duration(0)
    by_hand.traces[3] = by_hand.traces[3].drop(columns="iteration")
    assert by_hand.get_iterations() == []


def test_nodes_of_frames_that_were_set_by_hand_are_found_by_record_id(data: Path, by_hand: Trace) -> None:
    et = execution_trace.load_execution_trace(str(data / "minimal_cpu/torch_et_0.json.gz"))
    node = next(node for node in et.nodes.values() if node.name == "aten::addmm")
    by_hand.traces[3]["external_id"] = [node.rf_id, -1, -1, -1, node.rf_id]
    execution_trace.correlate_execution_trace(by_hand, 3, et)
    assert by_hand.get_trace(3)["et_node"].dropna().to_dict() == {0: node.id}
    document = json.loads(gzip.decompress((data / "minimal_cpu/torch_et_0.json.gz").read_bytes()))
    assert execution_trace.ExecutionTrace(document).nodes == et.nodes


# --- conversions --------------------------------------------------------------------------------------------------


def test_times_since_1970() -> None:
    assert trace_event_timestamp_to_unixtime_ns(5.5, {"baseTimeNanoseconds": 100}) == 5600
    # exact, where a float is not
    assert trace_event_timestamp_to_unixtime_ns(1_700_000_000_000_001, {"baseTimeNanoseconds": 1}) % 10_000 == 1001
    with pytest.raises(KeyError, match="baseTimeNanoseconds"):
        trace_event_timestamp_to_unixtime_ns(5, {})


def test_series_become_counters(by_hand: Trace) -> None:
    by_hand.min_ts = 40
    series = pandas.DataFrame({"pid": [1, 2], "ts": [10, 20], "length": [3, 4], "id": [7, 8]})
    events = by_hand.convert_time_series_to_events(series, "Queue", "length")
    assert events[0] == {"pid": 1, "ts": 50, "args": {"Queue": 3}, "ph": "C", "name": "Queue", "id": 7}
    named = by_hand.convert_time_series_to_events(series.assign(name=["a", "b"]), "Queue", "length")
    assert [point["name"] for point in named] == ["a", "b"]
    assert series["ts"].tolist() == [10, 20]
    json.dumps(events)
    with pytest.warns(RuntimeWarning, match="found none named width"):
        assert by_hand.convert_time_series_to_events(series, "Queue", "width") == []


def test_ends_of_flows() -> None:
    start = Trace.flow_event(1, 2, 3, 4, True, "link", "ac2g")
    assert start == {"ph": "s", "id": 1, "pid": 2, "tid": 3, "ts": 4, "cat": "ac2g", "name": "link"}
    end = Trace.flow_event(id=1, pid=2, tid=3, ts=9, is_start=False, name="link", cat="ac2g", args={"weight": 5})
    assert end == {**start, "ph": "f", "ts": 9, "args": {"weight": 5}, "bp": "e"}


def test_symbols_of_ranks_are_in_one_table(tmp_path: Path) -> None:
    files = {rank: write(tmp_path / f"{rank}.json", event("cpu_op", name, 1, 1)) for rank, name in enumerate("ba")}
    traces = Trace(trace_files=files)
    traces.parse_traces()
    names = [traces.symbol_table.sym_table[traces.get_trace(rank)["name"].iloc[0]] for rank in files]
    assert names == ["b", "a"]
    assert isinstance(traces.symbol_table, TraceSymbolTable)
