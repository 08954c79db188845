"""Rows of a frame, chosen. Where a frame has no column for it, a filter gives all rows, and a RuntimeWarning."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import pandas

from kinetoscope.hta.common.trace_symbol_table import TraceSymbolTable
from kinetoscope.hta.frame import is_on_device
from kinetoscope.notice import warn

_COPIES = "gpu_memcpy"


class Filter:
    """What chooses rows of a frame."""

    def __call__(self, df: pandas.DataFrame, symbol_table: TraceSymbolTable | None = None) -> pandas.DataFrame:
        """The rows that are chosen; names and categories may need what numbers stand for."""
        return self._rows(df, symbol_table)

    def _rows(self, df: pandas.DataFrame, symbols: TraceSymbolTable | None, /) -> pandas.DataFrame:
        raise NotImplementedError


class IterationFilter(Filter):
    """Rows of iterations, by their numbers."""

    def __init__(self, iterations: int | Iterable[int]) -> None:
        self.iterations = _several(iterations)
        """The numbers."""

    def _rows(self, df: pandas.DataFrame, _symbols: TraceSymbolTable | None, /) -> pandas.DataFrame:
        return df.loc[df["iteration"].isin(self.iterations)] if _has(df, "iteration") else df


class IterationIndexFilter(Filter):
    """Rows of iterations, by their places among those of the frame."""

    def __init__(self, iteration_index: int | Iterable[int]) -> None:
        self.iteration_index = _several(iteration_index)
        """The places, from 0."""

    def _rows(self, df: pandas.DataFrame, _symbols: TraceSymbolTable | None, /) -> pandas.DataFrame:
        if not _has(df, "iteration"):
            return df
        known = sorted(number for number in df["iteration"].unique() if number >= 0)
        return df.loc[df["iteration"].isin([known[at] for at in self.iteration_index if 0 <= at < len(known)])]


class FirstIterationFilter(IterationIndexFilter):
    """Rows of the first iteration."""

    def __init__(self) -> None:
        super().__init__(0)


class RankFilter(Filter):
    """Rows whose `rank` is one of these."""

    def __init__(self, ranks: int | Iterable[int]) -> None:
        self.ranks = _several(ranks)
        """The ranks."""

    def _rows(self, df: pandas.DataFrame, _symbols: TraceSymbolTable | None, /) -> pandas.DataFrame:
        return df.loc[df["rank"].isin(self.ranks)] if _has(df, "rank") else df


class TimeRangeFilter(Filter):
    """Rows that lie within a range of time (µs), ends included."""

    def __init__(self, time_range: tuple[float, float]) -> None:
        self.time_range = time_range
        """Its start and its end."""

    def _rows(self, df: pandas.DataFrame, _symbols: TraceSymbolTable | None, /) -> pandas.DataFrame:
        if not _has(df, "ts", "dur"):
            return df
        start, end = self.time_range
        return df.loc[(df["ts"] >= start) & (df["ts"] + df["dur"] <= end)]


class NameFilter(Filter):
    """Rows whose name begins as a regular expression says; of texts in `name_column`, or of symbols in `name`."""

    def __init__(
        self, name_pattern: str, symbol_table: TraceSymbolTable | None = None, name_column: str | None = None
    ) -> None:
        self.name_pattern = name_pattern
        """The regular expression."""
        self.symbol_table = symbol_table
        """What numbers in `name` stand for."""
        self.name_column = name_column
        """The column of texts."""

    def _rows(self, df: pandas.DataFrame, symbols: TraceSymbolTable | None, /) -> pandas.DataFrame:
        symbols = symbols or self.symbol_table
        column = self.name_column or ("name" if symbols or "s_name" not in df else "s_name")
        if not _has(df, column):
            return df
        if pandas.api.types.is_numeric_dtype(df[column]):
            if symbols is None:
                warn(f"no row was filtered: expected a table of symbols for {column}, found none")
                return df
            return df.loc[df[column].isin(_matching(symbols, self.name_pattern))]
        is_match = [isinstance(name, str) and bool(re.match(self.name_pattern, name)) for name in df[column]]
        return df.loc[is_match]


class NameIdColumnFilter(NameFilter):
    """As `NameFilter`, of symbols in `name`."""

    def __init__(self, name_pattern: str) -> None:
        super().__init__(name_pattern, name_column="name")


class NameStringColumnFilter(NameFilter):
    """As `NameFilter`, of texts in `s_name`, or in `name` where there is none."""

    def _rows(self, df: pandas.DataFrame, symbols: TraceSymbolTable | None, /) -> pandas.DataFrame:
        column = self.name_column or ("s_name" if "s_name" in df else "name")
        return NameFilter(self.name_pattern, self.symbol_table, column)(df, symbols)


class QueryFilter(Filter):
    """Rows that a query of pandas chooses."""

    def __init__(self, query_str: str) -> None:
        self.query_str = query_str
        """The query."""

    def _rows(self, df: pandas.DataFrame, _symbols: TraceSymbolTable | None, /) -> pandas.DataFrame:
        return pandas.DataFrame(df.query(self.query_str))


ZeroDurationFilter = QueryFilter("dur > 0")
"""Rows that last."""


class GPUKernelFilter(Filter):
    """Rows of device work, and of waits where there is a table of symbols."""

    def _rows(self, df: pandas.DataFrame, symbols: TraceSymbolTable | None, /) -> pandas.DataFrame:
        return df.loc[_on_device(df, symbols)] if _has(df, "stream") else df


class CPUOperatorFilter(Filter):
    """The rows that `GPUKernelFilter` does not choose."""

    def _rows(self, df: pandas.DataFrame, symbols: TraceSymbolTable | None, /) -> pandas.DataFrame:
        return df.loc[~_on_device(df, symbols)] if _has(df, "stream") else df


class MemCopyEventFilter(Filter):
    """Copies of this name."""

    def __init__(self, memory_copy_type: str, symbol_table: TraceSymbolTable | None = None) -> None:
        self.memory_copy_type = memory_copy_type
        """The name."""
        self.symbol_table = symbol_table
        """What numbers stand for."""

    def _rows(self, df: pandas.DataFrame, symbols: TraceSymbolTable | None, /) -> pandas.DataFrame:
        symbols = symbols or self.symbol_table
        if symbols is not None:
            ids = symbols.get_sym_index()
            return df.loc[(df["name"] == ids.get(self.memory_copy_type, -1)) & (df["cat"] == ids.get(_COPIES, -1))]
        if not _has(df, "s_name", "s_cat"):
            return df
        return df.loc[(df["s_name"] == self.memory_copy_type) & (df["s_cat"] == _COPIES)]


class CompositeFilter(Filter):
    """Rows that several filters choose, one after another."""

    def __init__(self, filters: Sequence[Filter]) -> None:
        self.filters = list(filters)
        """The filters, in order."""

    def _rows(self, df: pandas.DataFrame, symbols: TraceSymbolTable | None, /) -> pandas.DataFrame:
        for chosen in self.filters:
            df = chosen(df, symbols)
        return df


def _several(numbers: int | Iterable[int]) -> list[int]:
    return list(numbers) if isinstance(numbers, Iterable) else [numbers]


def _has(df: pandas.DataFrame, *columns: str) -> bool:
    missing = [column for column in columns if column not in df]
    if missing:
        warn(f"no row was filtered: expected the column {missing[0]}, found none")
    return not missing


def _matching(symbols: TraceSymbolTable, pattern: str) -> list[int]:
    return [number for number, symbol in enumerate(symbols.get_sym_table()) if re.match(pattern, symbol)]


def _on_device(df: pandas.DataFrame, symbols: TraceSymbolTable | None) -> pandas.Series:
    return df["stream"] >= 0 if symbols is None else is_on_device(df, symbols)
