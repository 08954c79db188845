"""Helpers of `kinetoscope.hta.utils`: kernels, intervals, frames, folders and checks of traces."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pandas
import pytest
from kinetoscope.hta.configs.parser_config import ParserConfig
from kinetoscope.hta.utils import test_utils as cases
from kinetoscope.hta.utils import utils, validate_trace
from kinetoscope.hta.utils.checker import OperationOutcome, is_valid_directory

pytestmark = pytest.mark.unit


# --- kernels and intervals ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("ncclKernel_SendRecv", "COMMUNICATION"),
        ("nccl:all_reduce", "COMMUNICATION"),
        ("Memcpy DtoH", "MEMORY"),
        ("Memset (Device)", "MEMORY"),
        ("volta_sgemm", "COMPUTATION"),
        ("cudaStreamSynchronize", "OTHER"),
    ],
)
def test_kinds_of_kernels(name: str, kind: str) -> None:
    assert utils.get_kernel_type(name) == kind == utils.KernelType[kind].name
    assert utils.is_comm_kernel(name) == (kind == "COMMUNICATION")
    assert utils.is_memory_kernel(name) == (kind == "MEMORY")
    assert utils.is_compute_kernel(name) == utils.is_computer_kernel(name) == (kind == "COMPUTATION")


def test_kinds_of_copies() -> None:
    names = ("Memset (Device)", "Memcpy DtoH (Device -> Pinned)", "dma_copy")
    assert [utils.get_memory_kernel_type(name) for name in names] == ["Memset", "Memcpy DtoH", "Memcpy Unknown"]
    assert [kind.name for kind in utils.IdleTimeType] == ["HOST_WAIT", "KERNEL_WAIT", "OTHER"]


def test_names_without_types() -> None:
    assert utils.shorten_name("void at::f<4, g<int> >(int, g<int>)") == "at::f"
    assert utils.shorten_name("hipMemcpy (Device -> Device)") == "hipMemcpy (Device -> Device)"


def test_intervals_are_merged() -> None:
    frame = pandas.DataFrame({"ts": [200, 0, 30, 80, 10], "dur": [50, 50, 50, 5, 2], "x": 1}, index=[9, 8, 7, 6, 5])
    before = frame.copy()
    merged = utils.merge_kernel_intervals(frame)
    assert merged.to_dict("list") == {"ts": [0, 200], "end": [85, 250]}
    assert merged.index.tolist() == [0, 1]
    pandas.testing.assert_frame_equal(frame, before)
    assert utils.merge_kernel_intervals(frame.iloc[:0]).empty


# --- frames, dictionaries, paths ----------------------------------------------------------------------------------


def test_names_of_columns_are_joined() -> None:
    frame = pandas.DataFrame([[1, 2, 3]], columns=pandas.MultiIndex.from_tuples([("a", "x"), ("b", ""), ("c_", "y")]))
    utils.flatten_column_names(frame)
    utils.flatten_column_names(frame)
    assert list(frame.columns) == ["a_x", "b", "c__y"]


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        ({"name": ["a"], "x": [1]}, ("name", "")),
        ({"name": [1], "s_name": ["a"], "cat": [1], "s_cat": ["b"]}, ("s_name", "s_cat")),
        ({"name": [1], "cat": [2]}, ("", "")),
    ],
)
def test_columns_with_text(columns: dict[str, Any], found: tuple[str, str]) -> None:
    assert utils.get_symbol_column_names(pandas.DataFrame(columns)) == found


def test_streams_become_numbers() -> None:
    frame = pandas.DataFrame({"stream": [1, "2", None, "abc"]})
    utils.normalize_gpu_stream_numbers(frame)
    assert (frame["stream"].tolist(), frame["stream"].dtype) == ([1, 2, -1, -1], "int64")
    frame = pandas.DataFrame({"a": [1]})
    utils.normalize_gpu_stream_numbers(frame)
    assert list(frame.columns) == ["a"]


def test_values_of_nested_dictionaries() -> None:
    nested = {"a": {"b": {"c": 42}}, "n": None}
    assert utils.get_value_from_dict(nested, "a.b.c") == 42
    assert [utils.get_value_from_dict(nested, key, "no") for key in ("a.c", "a.b.c.d", "z", "n")] == ["no"] * 3 + [None]


def test_paths() -> None:
    here, home = str(Path.cwd()), str(Path.home())
    assert [utils.normalize_path(path) for path in ("./", "./x/y", "~/", "~/x")] == [
        *(here, f"{here}/x/y", home, f"{home}/x"),
    ]
    assert [utils.normalize_path(path) for path in ("/abs", "some/path", "~other/x")] == [
        "/abs",
        "some/path",
        "~other/x",
    ]


def test_sizes_of_pools(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(utils, "num_processors", lambda: 8)
    info = tmp_path / "meminfo"
    monkeypatch.setattr(utils, "_MEMORY_INFO", info)
    assert utils.get_mp_pool_size(10**18, 3) == 3  # the system does not tell
    info.write_text("MemTotal: 9 kB\nMemAvailable:    1000 kB\n")
    sizes = [(1024, 3), (1024, 100), (200 * 1024, 100), (10**9, 100), (0, 100)]
    assert [utils.get_mp_pool_size(*size) for size in sizes] == [3, 8, 4, 1, 8]


# --- folders and tests --------------------------------------------------------------------------------------------


def test_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.touch()
    assert is_valid_directory(str(tmp_path), must_be_writable=True) == OperationOutcome(success=True, reason="")
    reasons = {
        "": "non-empty string",
        str(tmp_path / "none"): "does not exist",
        str(file): "is not a directory",
    }
    for path, reason in reasons.items():
        outcome = is_valid_directory(path)
        assert not outcome.success
        assert reason in outcome.reason
    monkeypatch.setattr(os, "access", lambda _, mode: mode != os.W_OK)
    assert is_valid_directory(str(tmp_path)).success
    assert "is not writable" in is_valid_directory(str(tmp_path), must_be_writable=True).reason
    monkeypatch.setattr(os, "access", lambda _, mode: mode != os.R_OK)
    assert "is not a valid path" in is_valid_directory(str(tmp_path)).reason


def test_the_folder_of_test_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tests" / "data" / "x").mkdir(parents=True)
    monkeypatch.setenv("TEST_DATA_PREFIX_PATH", str(tmp_path))
    assert cases.get_test_data_dir("x") == str(tmp_path / "tests" / "data" / "x")
    with pytest.raises(FileNotFoundError, match=r"expected a folder of test data, found none at .*; set TEST_DATA"):
        cases.get_test_data_dir("y")
    monkeypatch.delenv("TEST_DATA_PREFIX_PATH")
    monkeypatch.chdir(tmp_path)
    assert cases.get_test_data_dir() == str(tmp_path / "tests" / "data")


def test_a_test_runs_once_for_each_case() -> None:
    seen: list[Any] = []

    class Tests:
        @cases.data_provider(lambda: ({"a": 1, "b": 2}, (3, 4)))
        def two(self, a: int, b: int) -> None:
            seen.append((a, b))

        @cases.data_provider(lambda: ["x", 5])
        def one(self, value: object) -> None:
            seen.append(value)

    Tests().two()
    Tests().one()
    assert seen == [(1, 2), (3, 4), "x", 5]
    assert Tests.two.__name__ == "two"


# --- traces -------------------------------------------------------------------------------------------------------


def test_levels_of_arguments() -> None:
    levels = {
        "minimal": "ARGS_MINIMUM",
        "standard": "ARGS_DEFAULT",
        "default": "ARGS_DEFAULT",
        "complete": "ARGS_COMPLETE",
    }
    for level, group in levels.items():
        assert validate_trace.get_argument_spec(level) == getattr(ParserConfig, group)
    assert validate_trace.get_argument_spec() == ParserConfig.ARGS_DEFAULT
    with pytest.raises(KeyError):
        validate_trace.get_argument_spec("none")
    frame = validate_trace.get_expected_arguments(ParserConfig.ARGS_DEFAULT)
    assert list(frame.columns) == ["arg_keys", "arg_value_types", "arg_default_values", "trace_df_column_name"]
    assert [tuple(row) for row in frame.itertuples(index=False)] == [
        (spec.raw_name, spec.value_type, spec.default_value, spec.name) for spec in ParserConfig.ARGS_DEFAULT
    ]


def trace_with(tmp_path: Path, *args: Any) -> str:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"traceEvents": [{"name": "a", "ph": "X", "args": each} for each in args]}))
    return str(path)


def test_valid_traces(tmp_path: Path) -> None:
    values = {"External id": 3, "memory bandwidth (GB/s)": 7, "Input Dims": "anything", "unknown": 1}
    path = trace_with(tmp_path, values, {})
    assert validate_trace.validate_trace_format(path) == (True, {})
    found = validate_trace.validate_trace_format(path, "minimal", ignore_missing_arguments=False)
    assert found == (False, {"skipped_arguments": dict.fromkeys(values, 1)})


def test_invalid_traces(tmp_path: Path) -> None:
    path = trace_with(tmp_path, {"External id": "x"}, {"stream": 1.5}, [1])
    assert validate_trace.validate_trace_format(path) == (
        False,
        {
            "args_data_type": "expected a dictionary as args, found [1]",
            "type_violations": {
                "External id": "expected Int as External id, found 'x' (str)",
                "stream": "expected Int as stream, found 1.5 (float)",
            },
        },
    )
    Path(path).write_text("{}")
    assert list(validate_trace.validate_trace_format(path)[1]) == ["trace_data_error"]
    Path(path).write_text("{")
    for broken in (path, str(tmp_path / "none.json"), str(tmp_path / "x.txt")):
        is_valid, errors = validate_trace.validate_trace_format(broken)
        assert (is_valid, list(errors)) == (False, ["trace_read_error"])
        assert isinstance(errors["trace_read_error"], Exception)


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["validate_trace", trace_with(tmp_path, {"stream": "x"}), "--level", "minimal"])
    validate_trace.main()
    assert capsys.readouterr().out.splitlines() == [
        "Validation result: False",
        "type_violations:",
        "  stream: expected Int as stream, found 'x' (str)",
    ]
