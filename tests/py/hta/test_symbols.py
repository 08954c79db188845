"""Symbols, patterns, look-ups in frames and files of `kinetoscope.hta.common`."""

from __future__ import annotations

import gzip
import json
import logging
import re
from pathlib import Path
from typing import Any

import pandas
import pytest
from kinetoscope.hta.common import trace_df, trace_file, types
from kinetoscope.hta.common.constants import CUDA_MAX_LAUNCH_QUEUE_PER_STREAM, MAX_EVENT_DURATION_US
from kinetoscope.hta.common.trace_symbol_table import TraceSymbolTable, decode_symbol_id_to_symbol_name
from kinetoscope.hta.common.types import DeviceType, GroupingPattern, infer_device_type, to_grouping_pattern

pytestmark = pytest.mark.unit

CATEGORIES = ["cpu_op", "cuda_runtime", "cuda_driver", "mtia_runtime", "mtia_runtime_extra", "kernel"]


def table_of(*symbols: str) -> TraceSymbolTable:
    table = TraceSymbolTable()
    table.add_symbols(symbols)
    return table


# --- symbols ------------------------------------------------------------------------------------------------------


def test_symbols_keep_the_first_id() -> None:
    table = TraceSymbolTable()
    assert table.is_empty()
    table.add_symbols(["a", "b", "a", "c"])
    table.add_symbols_mp([["c", "d"], ["e", "a"]])
    assert table.get_sym_table() == ["a", "b", "c", "d", "e"]
    assert table.get_sym_index() == table.get_sym_id_map() == {"a": 0, "b": 1, "c": 2, "d": 3, "e": 4}
    assert not table.is_empty()


def test_a_pattern_selects_symbols() -> None:
    table = table_of("a", "b", "c", "b1")
    assert table.get_symbol_ids(to_grouping_pattern("a|b")) == {"a": 0, "b": 1, "b1": 3}
    assert table.get_symbol_ids(to_grouping_pattern("a|b", inverse_match=True)) == {"c": 2}
    assert table.get_symbol_names([-1, 2, 5]) == {2: "c"}


def test_missing_ids_get_a_placeholder() -> None:
    table = TraceSymbolTable.create_from_symbol_id_map({"A": 1, "B": 2, "C": 4})
    assert table.sym_table == ["Undefined-0", "A", "B", "Undefined-3", "C"]
    assert table.sym_index == {"Undefined-0": 0, "A": 1, "B": 2, "Undefined-3": 3, "C": 4}
    assert TraceSymbolTable.create_from_symbol_id_map({}).is_empty()


def test_a_copy_is_independent() -> None:
    table = table_of("a")
    copied = TraceSymbolTable.clone(table)
    copied.add_symbols(["b"])
    assert (table.sym_table, copied.sym_index) == (["a"], {"a": 0, "b": 1})


@pytest.mark.parametrize("dtype", [object, "string"])
def test_frames_are_encoded_and_decoded(dtype: Any) -> None:
    frame = pandas.DataFrame({"name": ["a", "b", "a"], "cat": ["kernel", "cpu_op", "kernel"], "dur": [1, 2, 3]})
    frame = frame.astype({"name": dtype, "cat": dtype})
    table = TraceSymbolTable.create_from_df(frame)
    encoded = frame.copy()
    table.encode_df(encoded)
    assert encoded["name"].dtype == encoded["cat"].dtype == "int64"
    table.encode_df(encoded)  # numbers stay
    table.decode_df(encoded)
    assert encoded["s_name"].tolist() == frame["name"].tolist()
    assert encoded["s_cat"].tolist() == frame["cat"].tolist()
    assert list(encoded.columns) == ["name", "cat", "dur", "s_name", "s_cat"]


def test_frames_without_texts_or_ids_stay() -> None:
    table = table_of("a")
    frame = pandas.DataFrame({"name": ["a text"], "dur": [1]})
    decode_symbol_id_to_symbol_name(frame, table, use_shorten_name=False)
    table.decode_df(frame)
    assert list(frame.columns) == ["name", "dur"]


@pytest.mark.parametrize("columns", [{"name": [1], "cat": [2]}, {"name": ["a"]}, {"x": ["a"]}])
def test_a_table_needs_texts(columns: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="expected name and cat columns that hold text, found"):
        TraceSymbolTable.create_from_df(pandas.DataFrame(columns))


def test_unknown_texts_and_ids() -> None:
    table = table_of("f<int>(x)", "b")
    with pytest.raises(KeyError, match="c"):
        table.encode_df(pandas.DataFrame({"name": ["c"]}))
    with pytest.raises(IndexError, match="expected symbol ids below 2, found 7"):
        table.decode_df(pandas.DataFrame({"name": [0, 7]}))
    frame = pandas.DataFrame({"name": [0, -1], "user_annotation": [-1, 1]}, index=[5, 3])
    decode_symbol_id_to_symbol_name(frame, table, use_shorten_name=True)
    assert frame["s_name"].to_dict() == {5: "f", 3: ""}
    assert frame["s_user_annotation"].tolist() == ["", "b"]
    frame = pandas.DataFrame({"name": [0, 1, 99, -3]})
    table.add_symbols_to_trace_df(frame, "name")
    assert frame["name"].tolist() == ["f<int>(x)", "b", "", ""]


def test_ids_of_another_table() -> None:
    frame = pandas.DataFrame({"name": [0, 1], "cat": [1, 0]})
    table_of("b", "x", "a").update_encoded_df(frame, table_of("a", "b"))
    assert frame.to_dict("list") == {"name": [2, 0], "cat": [0, 2]}


def test_operators_and_runtime_calls() -> None:
    table = table_of(*CATEGORIES)
    frame = pandas.DataFrame({"cat": range(len(CATEGORIES))})
    assert table.get_operator_or_cuda_runtime_mask(frame).tolist() == [True, True, True, False, False, False]
    assert table.get_operator_or_device_runtime_mask(frame).tolist() == [True, True, True, True, False, False]
    assert not TraceSymbolTable().get_operator_or_cuda_runtime_mask(frame).any()


def test_launches_and_names() -> None:
    table = table_of("cudaLaunchKernel", "hipMemcpyAsync", "aten::add")
    frame = pandas.DataFrame({"name": [0, 0, 1, 2], "index_correlation": [5, -1, 6, 7]}, index=[3, 2, 1, 0])
    assert table.get_runtime_launch_events_mask(frame).to_dict() == {3: True, 2: False, 1: True, 0: False}
    assert table.get_events_mask(frame, ["add", "hip"]).tolist() == [False, False, True, True]
    assert not table.get_events_mask(frame, None).any()
    assert not table.get_events_mask(frame, []).any()


def test_ids_by_kind() -> None:
    table = table_of(*CATEGORIES, "Memset (Device)", "cuLaunchKernel", "ProfilerStep#7", "gpu_memcpy")
    assert table.get_cpu_event_cat_ids() == [0, 1, 3, 4]
    assert table.get_gpu_kernel_cat_ids() == [5, 9]
    assert table.get_memory_name_ids() == [6]
    assert table.get_kernel_launch_ids() == [7]
    assert table.get_profiler_step_ids() == [8]
    assert table.NULL not in table.sym_index.values()


def test_a_csv_file_keeps_all_symbols(tmp_path: Path) -> None:
    path = tmp_path / "symbols.csv"
    table = table_of("a", "NA", "1", 'b, "c"', "null")
    table._to_csv_file(str(path))
    assert TraceSymbolTable.from_csv_file(str(path)).sym_index == table.sym_index
    path.write_text("other\n1\n")
    with pytest.raises(ValueError, match="expect a column symbol, found"):
        TraceSymbolTable.from_csv_file(str(path))
    with pytest.raises(FileNotFoundError):
        TraceSymbolTable.from_csv_file(str(tmp_path / "none.csv"))


# --- patterns and devices -----------------------------------------------------------------------------------------


def test_patterns_are_made_of_texts_and_lists() -> None:
    either = to_grouping_pattern(["aten::.*", "nccl::.*"], group_name="both")
    assert (either.group_name, either.match("nccl::send"), either.match("x")) == ("both", True, False)
    other = to_grouping_pattern(re.compile("^foo"), inverse_match=True)
    assert (other.match("foobar"), other.match("bar")) == (False, True)
    assert to_grouping_pattern(either) is either
    assert {to_grouping_pattern("^x"): 1}[GroupingPattern(re.compile("^x"))] == 1
    with pytest.raises(ValueError, match=r"Unsupported pattern type: expected .*, found int"):
        to_grouping_pattern(123)  # pyright: ignore[reportArgumentType] - a wrong type is the point


def test_kinds_of_kernels() -> None:
    kinds = {
        "Memcpy DtoH": {"memory_kernels"},
        "ncclKernel_AllReduce": {"communicate_kernels"},
        "gemm": {"compute_kernels"},
        "cudaStreamSynchronize": set[str](),
    }
    found = {
        name: {kind for kind, pattern in types.common_grouping_patterns.items() if pattern.match(name)}
        for name in kinds
    }
    assert found == kinds
    assert {types.MEMCPY_TYPE_TO_STR[kind] for kind in types.MemcpyType} == {
        *("memcpy_dtod", "memcpy_dtoh", "memcpy_htod", "memcpy_type_unknown"),
    }
    assert (CUDA_MAX_LAUNCH_QUEUE_PER_STREAM, MAX_EVENT_DURATION_US) == (1024, 604_800_000_000)


@pytest.mark.parametrize(
    ("columns", "device"),
    [
        ({"x": [1]}, DeviceType.UNKNOWN),
        ({"stream": [1, 7]}, DeviceType.GPU),
        ({"stream": [-1, -1], "pid": [3, 3]}, DeviceType.CPU),
        ({"stream": [-1, 7], "pid": [3, 3], "tid": [4, 4]}, DeviceType.UNKNOWN),
        ({"stream": [-1, -1], "pid": [3, 3], "tid": [4, 4]}, DeviceType.CPU),
        ({"stream": [-1, -1], "pid": [0, 0], "tid": [4, 4]}, DeviceType.GPU),
    ],
)
def test_devices(columns: dict[str, list[int]], device: DeviceType) -> None:
    assert infer_device_type(pandas.DataFrame(columns)) is device


# --- frames -------------------------------------------------------------------------------------------------------


def test_steps_of_a_frame() -> None:
    assert trace_df.get_iterations(pandas.DataFrame({"iteration": [3, -1, 1, 3]})) == [1, 3]
    assert trace_df.get_iterations(pandas.DataFrame({"iteration": [-1, -1]})) == []
    with pytest.raises(TypeError, match="expected the column iteration"):
        trace_df.get_iterations(pandas.DataFrame({"a": [1]}))
    with pytest.raises(TypeError, match="expected integers in the column iteration"):
        trace_df.get_iterations(pandas.DataFrame({"iteration": ["1"]}))


def test_an_occurrence_of_an_operator() -> None:
    frame = pandas.DataFrame({"s_name": ["a", "b", "a", "a"], "ts": [30, 20, 10, 50], "index": [0, 1, 2, 3]})
    found = {position: trace_df.find_op_occurrence(frame, "a", position) for position in (0, 1, 2, 3, -1, -3, -4)}
    assert {position: row["index"] for position, (is_there, row) in found.items() if is_there} == {
        0: 2,
        1: 0,
        2: 3,
        -1: 3,
        -3: 2,
    }
    assert found[3][1].empty
    assert trace_df.find_op_occurrence(pandas.DataFrame(), "a", 0)[0] is False


def test_events_by_patterns() -> None:
    names = ["aten::mm", "nccl::send", "aten::add"]
    table = table_of(*names)
    frame = pandas.DataFrame({"name": [0, 1, 2], "s_name": names, "index": [10, 11, 12]})
    by_id = trace_df.find_events_by_name_patterns_using_symbol_table(frame, ["aten::.*", "x"], table)
    by_name = trace_df.find_events_by_name_patterns_using_decoded_names(frame, ["aten::.*", "x"])
    assert by_id.tolist() == by_name.tolist() == [10, 12]


# --- files --------------------------------------------------------------------------------------------------------


def document(rank: int | None, *, is_last: bool = False) -> dict[str, Any]:
    event = {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": 1, "dur": 2}
    events = {"traceEvents": [event] * (3000 if is_last else 1)}
    told = {} if rank is None else {"distributedInfo": {"rank": rank}}
    return {**events, **told} if is_last else {**told, **events}


def test_traces_are_found_by_rank(tmp_path: Path) -> None:
    trace_file.write_trace(document(3), str(tmp_path / "a.json"))
    (tmp_path / "b.json.gz").write_bytes(gzip.compress(json.dumps(document(5, is_last=True)).encode()))
    (tmp_path / "notes.txt").write_text("none")
    (tmp_path / "minified.json").write_text(json.dumps(document(7), separators=(",", ":")))
    found = trace_file.create_rank_to_trace_dict_from_dir(str(tmp_path))
    names = {3: "a.json", 5: "b.json.gz", 7: "minified.json"}
    assert found == (True, {rank: str(tmp_path / name) for rank, name in names.items()})
    assert trace_file.get_trace_files(str(tmp_path)) == found[1]


def test_ranks_that_no_file_tells(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    logging.getLogger("hta").addHandler(caplog.handler)
    paths = [tmp_path / name for name in ("x.json", "rank-2.json", "y.json", "et.json", "other.json")]
    for path in paths[:3]:
        trace_file.write_trace(document(None), str(path))
    paths[3].write_text('{"schema": "1.1.1", "pid": 1, "nodes": [{"id": 1, "name": "a", "ctrl_deps": 0}]}')
    paths[4].write_text('{"settings": {}}')
    try:
        found = trace_file.create_rank_to_trace_dict([str(path) for path in paths])
    finally:
        logging.getLogger("hta").removeHandler(caplog.handler)
    assert found == (True, {0: str(paths[2]), 2: str(paths[1])})
    messages = "\n".join(record.getMessage() for record in caplog.records)
    assert f"{paths[0]}: the trace file does not have the rank" in messages
    assert f"{paths[2]} has the same rank as {paths[0]}" in messages
    assert f"skipped {paths[3]}: expected a Kineto trace, found an Execution Trace" in messages
    assert f"skipped {paths[4]}: expected an object with" in messages


def test_folders_without_traces(tmp_path: Path) -> None:
    assert trace_file.create_rank_to_trace_dict_from_dir(str(tmp_path)) == (False, {})
    assert trace_file.create_rank_to_trace_dict_from_dir(str(tmp_path / "none")) == (False, {})
    assert trace_file.get_trace_files(str(tmp_path / "none")) == {}
    with pytest.raises(FileNotFoundError):
        trace_file.create_rank_to_trace_dict([str(tmp_path / "none.json")])


@pytest.mark.parametrize("name", ["new/trace.json", "new/trace.json.gz"])
def test_traces_are_written_and_read(tmp_path: Path, name: str) -> None:
    path = str(tmp_path / name)
    for written in (document(1), document(None)):
        trace_file.write_trace(written, path)
        assert trace_file.read_trace(path) == written
        trace_file.update_trace_rank(path, 42)
        assert trace_file.read_trace(path) == {**written, "distributedInfo": {"rank": 42}}
    assert len(list((tmp_path / "new").iterdir())) == 1


def test_names_of_files_to_read() -> None:
    with pytest.raises(ValueError, match=r"expected a file name that ends in '\.gz' or 'json', found x\.txt"):
        trace_file.read_trace("x.txt")
