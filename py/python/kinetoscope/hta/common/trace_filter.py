"""Filters of the rows of a frame.

If a column or the symbol table is missing, a filter logs this and keeps all rows.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import pandas

from kinetoscope.hta.common.trace_symbol_table import TraceSymbolTable
from kinetoscope.hta.configs.config import logger
from kinetoscope.hta.utils.utils import get_symbol_column_names

_COPIES = "gpu_memcpy"
_WAITS = ("Event Sync", "Context Sync")
"""Waits of a whole device: device work without a stream."""


class Filter(ABC):
    """Selects rows of a frame."""

    @abstractmethod
    def __call__(self, df: pandas.DataFrame, symbol_table: TraceSymbolTable | None = None) -> pandas.DataFrame:
        """Returns the selected rows.

        `symbol_table` holds the symbols that `name` and `cat` refer to.
        """
        raise NotImplementedError


class IterationFilter(Filter):
    """Selects rows by iteration number."""

    def __init__(self, iterations: int | list[int]) -> None:
        """Takes iteration numbers. Raises TypeError for other types."""
        self.iterations: list[int] = _numbers(iterations, "Iterations")
        """Numbers of the iterations."""

    def __call__(self, df: pandas.DataFrame, symbol_table: TraceSymbolTable | None = None) -> pandas.DataFrame:
        """Returns the rows of the iterations."""
        return df.loc[df["iteration"].isin(self.iterations)] if _has(df, "iteration") else df


class IterationIndexFilter(Filter):
    """Selects rows by the position of their iteration in the frame."""

    def __init__(self, iteration_index: int | list[int]) -> None:
        """Takes positions, from 0. Raises TypeError for other types."""
        self.iteration_index: list[int] = _numbers(iteration_index, "iteration_index")
        """Positions of the iterations."""

    def __call__(self, df: pandas.DataFrame, symbol_table: TraceSymbolTable | None = None) -> pandas.DataFrame:
        """Returns the rows of the iterations.

        Returns a frame without iterations unchanged. Positions without an iteration give a frame
        without columns.
        """
        if not _has(df, "iteration"):
            return df
        known = sorted(number for number in df["iteration"].dropna().unique() if number != -1)
        if not known:
            return df
        chosen = [number for place, number in enumerate(known) if place in self.iteration_index]
        if not chosen:
            logger.warning("expected places below %d, found %s: no row is kept", len(known), self.iteration_index)
            return pandas.DataFrame()
        return df.loc[df["iteration"].isin(chosen)]


class FirstIterationFilter(IterationIndexFilter):
    """Selects rows of the first iteration."""

    def __init__(self) -> None:
        super().__init__([0])


class RankFilter(Filter):
    """Selects rows by their column `rank`."""

    def __init__(self, ranks: int | list[int]) -> None:
        """Takes ranks. Raises TypeError for other types."""
        self.ranks: list[int] = _numbers(ranks, "ranks")
        """Ranks of the rows."""

    def __call__(self, df: pandas.DataFrame, symbol_table: TraceSymbolTable | None = None) -> pandas.DataFrame:
        """Returns the rows of the ranks."""
        return df.loc[df["rank"].isin(self.ranks)] if _has(df, "rank") else df


class TimeRangeFilter(Filter):
    """Selects rows within a time range, ends included."""

    def __init__(self, time_range: tuple[int, int]) -> None:
        """Takes the start and the end in µs.

        Raises ValueError for other values, and if the end precedes the start.
        """
        given: Any = time_range
        if not isinstance(given, tuple) or [isinstance(time, Real) for time in given] != [True, True]:
            raise ValueError(f"expected a tuple of two numbers as time_range, found {given!r}")
        self.time_start, self.time_end = time_range
        if self.time_start > self.time_end:
            raise ValueError(f"expected a start less than or equal to the end, found {time_range}")

    def __call__(self, df: pandas.DataFrame, symbol_table: TraceSymbolTable | None = None) -> pandas.DataFrame:
        """Returns the rows that begin and end in the range."""
        if not (_has(df, "ts") and _has(df, "dur")):
            return df
        return df.loc[(df["ts"] >= self.time_start) & (df["ts"] + df["dur"] <= self.time_end)]


class NameStringColumnFilter(Filter):
    """Selects rows whose text in `name`, else `s_name`, matches a pattern at its start."""

    def __init__(self, name_pattern: str) -> None:
        self.name_pattern = name_pattern
        """Regular expression."""

    def __call__(self, df: pandas.DataFrame, symbol_table: TraceSymbolTable | None = None) -> pandas.DataFrame:
        """Returns the matching rows."""
        column, _ = get_symbol_column_names(df)
        if not column:
            logger.warning("expected text in the column name or s_name, found none: all rows are kept")
            return df
        return _matching(df, column, self.name_pattern)


class NameIdColumnFilter(Filter):
    """Selects rows whose symbol in `name` matches a pattern at its start."""

    def __init__(self, name_pattern: str) -> None:
        self.name_pattern = name_pattern
        """Regular expression."""
        self.name_column = "name"
        """Column of the symbol ids."""

    def __call__(self, df: pandas.DataFrame, symbol_table: TraceSymbolTable | None = None) -> pandas.DataFrame:
        """Returns the matching rows."""
        if symbol_table is None:
            logger.warning("expected a symbol_table, found none: all rows are kept")
            return df
        if not _has(df, self.name_column):
            return df
        pattern = re.compile(self.name_pattern)
        matched = [number for symbol, number in symbol_table.sym_index.items() if pattern.match(symbol)]
        return df.loc[df[self.name_column].isin(matched)]


class NameFilter(Filter):
    """Selects rows whose name matches a pattern at its start.

    Compares symbols if there is a symbol table, otherwise texts.
    """

    def __init__(
        self, name_pattern: str, symbol_table: TraceSymbolTable | None = None, name_column: str | None = None
    ) -> None:
        self.name_pattern: str = name_pattern
        """Regular expression."""
        self.symbol_table: TraceSymbolTable | None = symbol_table
        """Default symbol table of calls."""
        self.name_column: str | None = name_column
        """Column of the texts; by default `name`, else `s_name`."""

    def __call__(self, df: pandas.DataFrame, symbol_table: TraceSymbolTable | None = None) -> pandas.DataFrame:
        """Returns the matching rows."""
        symbols = symbol_table or self.symbol_table
        if df.empty:
            logger.warning("expected rows, found none")
            return df
        if symbols is not None:
            return NameIdColumnFilter(self.name_pattern)(df, symbols)
        if (
            self.name_column
            and self.name_column in df.columns
            and pandas.api.types.is_string_dtype(df[self.name_column])
        ):
            return _matching(df, self.name_column, self.name_pattern)
        return NameStringColumnFilter(self.name_pattern)(df)


class QueryFilter(Filter):
    """Selects rows with a query of pandas."""

    def __init__(self, query_str: str) -> None:
        self.filter_query = query_str
        """Query."""

    def __call__(self, df: pandas.DataFrame, symbol_table: TraceSymbolTable | None = None) -> pandas.DataFrame:
        """Returns the rows that the query selects."""
        return pandas.DataFrame(df.query(self.filter_query))


ZeroDurationFilter = QueryFilter("dur > 0")
"""Selects rows with a duration."""


class GPUKernelFilter(Filter):
    """Selects device work: rows with a stream and a correlation, and waits of a whole device.

    Finding the waits needs a symbol table.
    """

    def __call__(self, df: pandas.DataFrame, symbol_table: TraceSymbolTable | None = None) -> pandas.DataFrame:
        """Returns the rows of device work."""
        return df.loc[_on_device(df, symbol_table)] if _has(df, "stream") else df


class CPUOperatorFilter(Filter):
    """Selects rows other than device work; without symbols, rows without a stream."""

    def __call__(self, df: pandas.DataFrame, symbol_table: TraceSymbolTable | None = None) -> pandas.DataFrame:
        """Returns the rows of the host."""
        if not _has(df, "stream"):
            return df
        if symbol_table is None:
            logger.warning("expected a symbol_table, found none: waits of a whole device count as host events")
            return df.loc[df["stream"] == -1]
        return df.loc[~_on_device(df, symbol_table)]


class CompositeFilter(Filter):
    """Applies several filters one after another."""

    def __init__(self, filters: list[Filter]) -> None:
        """Takes filters in their order.

        Raises TypeError for objects other than filters, and ValueError for the filter itself.
        """
        for chosen in filters:
            if not isinstance(chosen, Filter):  # pyright: ignore[reportUnnecessaryIsInstance] - programs without types
                raise TypeError(f"expected instances of Filter, found {chosen!r}")
            if chosen is self:
                raise ValueError("expected other filters, found the composite filter itself")
        self.filters: list[Filter] = filters
        """Filters, in order."""

    def __call__(self, df: pandas.DataFrame, symbol_table: TraceSymbolTable | None = None) -> pandas.DataFrame:
        """Returns the rows that all filters select."""
        for chosen in self.filters:
            df = chosen(df, symbol_table)
        return df


class MemCopyEventFilter(Filter):
    """Selects memory copies by their name."""

    def __init__(self, memory_copy_type: str, symbol_table: TraceSymbolTable | None = None) -> None:
        self.memory_copy_type: str = memory_copy_type
        """Name of the copies."""
        self.symbol_table: TraceSymbolTable | None = symbol_table
        """Default symbol table of calls."""

    def __call__(self, df: pandas.DataFrame, symbol_table: TraceSymbolTable | None = None) -> pandas.DataFrame:
        """Returns the copies; a frame without columns if the symbols are missing."""
        if df.empty:
            logger.warning("expected rows, found none")
            return df
        symbols = symbol_table or self.symbol_table or TraceSymbolTable()
        if self.memory_copy_type not in symbols.sym_index or _COPIES not in symbols.sym_index:
            return pandas.DataFrame()
        is_name = df["name"] == symbols.sym_index[self.memory_copy_type]
        return df.loc[is_name & (df["cat"] == symbols.sym_index[_COPIES])]


def _numbers(given: int | Iterable[int], name: str) -> list[int]:
    """Returns the numbers as a list. Raises TypeError for texts and other types."""
    if isinstance(given, Integral):
        return [int(given)]
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise TypeError(f"{name} must be a number or a list of numbers, found {given!r}")
    return given if isinstance(given, list) else list(given)


def _has(df: pandas.DataFrame, column: str) -> bool:
    if column not in df.columns:
        logger.warning("expected the column %s, found none: all rows are kept", column)
    return column in df.columns


def _matching(df: pandas.DataFrame, column: str, pattern: str) -> pandas.DataFrame:
    expression = re.compile(pattern)
    names = df[column]
    return df.loc[names.isin([name for name in names.dropna().unique() if expression.match(name)])]


def _on_device(df: pandas.DataFrame, symbols: TraceSymbolTable | None) -> pandas.Series:
    is_work = (df["stream"] >= 0) & (df["correlation"] >= 0)
    if symbols is None:
        logger.warning("expected a symbol_table, found none: waits of a whole device are not found")
        return is_work
    return is_work | df["name"].isin([symbols.sym_index[wait] for wait in _WAITS if wait in symbols.sym_index])
