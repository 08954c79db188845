"""Filters of `hta.common.trace_filter` and `trace_stack_filter`, of frames alone."""

from __future__ import annotations

import logging
import warnings
from abc import ABC
from collections.abc import Iterator
from typing import Any

import pandas
import pytest
from kinetoscope.hta.common import trace_filter as filters
from kinetoscope.hta.common import trace_stack_filter as stack_filters
from kinetoscope.hta.common.trace_symbol_table import TraceSymbolTable

pytestmark = pytest.mark.unit

NAMES = ["step", "forward", "aten::mm", "cudaLaunchKernel", "loss", "gemm", "Context Sync", "Memcpy HtoD"]
CATEGORIES = [
    "user_annotation",
    "user_annotation",
    "cpu_op",
    "cuda_runtime",
    "cpu_op",
    "kernel",
    "cuda_sync",
    "gpu_memcpy",
]


def table() -> TraceSymbolTable:
    symbols = TraceSymbolTable()
    symbols.add_symbols([*NAMES, *CATEGORIES])
    return symbols


def frame() -> pandas.DataFrame:
    """A step with a forward pass and a loss after it; a kernel of the pass, a wait of the device and a copy."""
    symbols = table().sym_index
    columns = {
        "index": range(1, 9),
        "name": [symbols[name] for name in NAMES],
        "cat": [symbols[category] for category in CATEGORIES],
        "ts": [0, 10, 12, 15, 60, 40, 45, 70],
        "dur": [100, 40, 20, 5, 10, 15, 10, 5],
        "stream": [-1, -1, -1, -1, -1, 7, -1, 20],
        "correlation": [-1, -1, -1, 5, -1, 5, 6, 7],
        "index_correlation": [-1, -1, -1, 6, -1, 4, 0, 0],
        "iteration": [3, 3, 3, 3, 3, 3, 3, 4],
        "s_name": NAMES,
        "s_cat": CATEGORIES,
    }
    rows = pandas.DataFrame(columns).set_index("index", drop=False).rename_axis(None)
    return rows.assign(end=rows["ts"] + rows["dur"])


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.LogCaptureFixture]:
    monkeypatch.setattr(logging.getLogger("hta"), "propagate", True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield caplog


# --- filters of rows ----------------------------------------------------------------------------------------------


def test_a_filter_of_ones_own_is_called() -> None:
    class Long(filters.Filter):
        def __call__(self, df: pandas.DataFrame, symbol_table: TraceSymbolTable | None = None) -> pandas.DataFrame:
            assert symbol_table is None
            return df.loc[df["dur"] > 30]

    assert filters.CompositeFilter([Long(), filters.RankFilter(0)])(frame()).index.tolist() == [1, 2]
    assert issubclass(filters.Filter, ABC)
    with pytest.raises(TypeError):
        filters.Filter()  # type: ignore[abstract] - what the test is about


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        (filters.GPUKernelFilter(), ([6, 8], [6, 7, 8])),
        (filters.CPUOperatorFilter(), ([1, 2, 3, 4, 5, 7], [1, 2, 3, 4, 5])),
        (filters.NameFilter("aten|f"), ([2, 3], [2, 3])),
        (filters.NameFilter("cpu", name_column="s_cat"), ([3, 5], [])),
        (filters.NameStringColumnFilter("aten"), ([3], [3])),
        (filters.NameIdColumnFilter("aten"), (list(range(1, 9)), [3])),
        (filters.MemCopyEventFilter("Memcpy HtoD"), ([], [8])),
        (filters.MemCopyEventFilter("Memcpy DtoH"), ([], [])),
        (filters.ZeroDurationFilter, (list(range(1, 9)), list(range(1, 9)))),
    ],
)
def test_rows_without_and_with_symbols(chosen: filters.Filter, expected: tuple[list[int], list[int]]) -> None:
    assert (chosen(frame()).index.tolist(), chosen(frame(), table()).index.tolist()) == expected


def test_symbols_of_the_constructor_are_used() -> None:
    texts = frame().drop(columns=["s_name", "s_cat"])
    assert filters.NameFilter("aten", table())(texts).index.tolist() == [3]
    assert filters.MemCopyEventFilter("Memcpy HtoD", table())(texts).index.tolist() == [8]


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        (filters.IterationFilter(3), "the column iteration"),
        (filters.FirstIterationFilter(), "the column iteration"),
        (filters.RankFilter(1), "the column rank"),
        (filters.TimeRangeFilter((0, 1)), "the column ts"),
        (filters.GPUKernelFilter(), "the column stream"),
        (filters.CPUOperatorFilter(), "the column stream"),
        (filters.NameStringColumnFilter("aten"), "text in the column name or s_name"),
        (filters.NameIdColumnFilter("aten"), "a symbol_table"),
        (filters.NameFilter("aten"), "text in the column name or s_name"),
        (stack_filters.UnderOperatorFilter("step", 0), "text in columns of names and categories"),
        (stack_filters.CombinedOperatorFilter("a", "b", "c"), "text in columns of names and categories"),
    ],
)
def test_without_columns_or_symbols_all_rows_stay(
    chosen: filters.Filter, message: str, log: pytest.LogCaptureFixture
) -> None:
    rows = frame().filter(items=["index", "correlation"])
    assert chosen(rows) is rows
    assert f"expected {message}, found none: all rows are kept" in log.text


def test_iterations_that_are_not_there_give_an_empty_frame(log: pytest.LogCaptureFixture) -> None:
    assert filters.IterationIndexFilter([1, 9])(frame()).index.tolist() == [8]
    assert filters.IterationIndexFilter([-1, 2])(frame()).equals(pandas.DataFrame())
    assert "expected places below 2, found [-1, 2]" in log.text
    nowhere = frame().assign(iteration=-1)
    assert filters.IterationIndexFilter(0)(nowhere) is nowhere
    assert filters.FirstIterationFilter()(frame().head(0)).empty


def test_empty_frames_are_told(log: pytest.LogCaptureFixture) -> None:
    for chosen in (filters.NameFilter("a"), filters.MemCopyEventFilter("a")):
        assert chosen(pandas.DataFrame(), table()).empty
    assert log.text.count("expected rows, found none") == 2


def test_missing_names_do_not_match() -> None:
    rows = frame().assign(s_name=pandas.array([None, *NAMES[1:]], dtype="string"))
    assert 1 not in filters.NameFilter(".", name_column="s_name")(rows).index


@pytest.mark.parametrize(
    ("kind", "given", "error", "message"),
    [
        (filters.IterationFilter, "3", TypeError, "Iterations must be a number"),
        (filters.IterationIndexFilter, None, TypeError, "iteration_index must be a number"),
        (filters.RankFilter, 1.5, TypeError, "ranks must be a number"),
        (filters.TimeRangeFilter, [1, 2], ValueError, "expected a tuple of two numbers"),
        (filters.TimeRangeFilter, (1,), ValueError, "expected a tuple of two numbers"),
        (filters.TimeRangeFilter, (2, 1), ValueError, "less than or equal to the end"),
        (filters.CompositeFilter, [print], TypeError, "expected instances of Filter"),
    ],
)
def test_other_arguments_are_refused(kind: Any, given: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        kind(given)


def test_a_filter_cannot_contain_itself() -> None:
    chosen = filters.CompositeFilter([])
    with pytest.raises(ValueError, match="found the composite filter itself"):
        chosen.__init__([chosen])  # type: ignore[misc] - what the test is about


def test_numbers_of_a_frame_are_taken() -> None:
    rows = frame()
    assert filters.IterationFilter(rows["iteration"].max())(rows).index.tolist() == [8]
    assert filters.IterationFilter(rows["iteration"].unique())(rows).index.tolist() == list(range(1, 9))  # type: ignore[arg-type] - as above
    assert filters.TimeRangeFilter((rows["ts"].min(), rows["ts"].iloc[4]))(rows).index.tolist() == [2, 3, 4, 6, 7]


# --- filters by operators -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        (stack_filters.UnderOperatorFilter("forward", 0), [2, 3, 4]),
        (stack_filters.UnderOperatorFilter("forward", -1, True), [2, 3, 4, 6]),
        (stack_filters.AfterOperatorFilter("forward", 0, name_column="s_name"), [5]),
        (stack_filters.BeforeOperatorFilter("loss", 0), [2, 3, 4, 7]),
        (stack_filters.UnderOperatorFilter("gemm", 0), [6]),  # of its stream
        (stack_filters.UnderOperatorFilter("forward", 1), []),
        (stack_filters.UnderOperatorFilter("nowhere", 0), []),
        (stack_filters.CombinedOperatorFilter("step", "aten::mm", "loss"), [7]),
        (stack_filters.CombinedOperatorFilter("step", "step", "loss"), []),
        (stack_filters.CombinedOperatorFilter("forward", "nowhere", "nowhere", True), [6, 2, 3, 4]),
        (stack_filters.CombinedOperatorFilter("forward", "no", "no", True, [1]), [6, 3]),
    ],
)
def test_rows_by_operators(chosen: filters.Filter, expected: list[int]) -> None:
    rows = frame().assign(depth=[0, 0, 1, 2, 0, 3, 0, 0])
    assert chosen(rows).index.tolist() == expected


def test_without_depths_all_depths_stay() -> None:
    chosen = stack_filters.CombinedOperatorFilter("forward", "no", "no", stack_depths=[1])
    assert chosen(frame()).index.tolist() == [2, 3, 4]


def test_operators_are_found_by_text_in_name() -> None:
    rows = frame().assign(name=NAMES, cat=CATEGORIES).drop(columns=["s_name", "s_cat"])
    assert stack_filters.UnderOperatorFilter("forward", 0, True)(rows).index.tolist() == [2, 3, 4, 6]


@pytest.mark.parametrize("name", ["Ancestors", "Stack"])
def test_other_methods_are_refused(name: str) -> None:
    chosen = stack_filters.OperatorFilter("forward", 0, stack_filters.OperatorFilterMethod[name])
    with pytest.raises(NotImplementedError, match=f"expected Under, After or Before, found .*{name}"):
        chosen(frame())
