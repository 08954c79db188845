"""Symbol table: ids for names and categories in frames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas

from kinetoscope._io.atomic import atomic_path
from kinetoscope.hta.common.types import (
    CPU_EVENTS_CATEGORY_PATTERN,
    KERNEL_CATEGORY_PATTERN,
    KERNEL_LAUNCH_CATEGORY_PATTERN,
    GroupingPattern,
    MemoryKernelGroupingPattern,
    ProfilerStepGroupingPattern,
)
from kinetoscope.hta.utils.utils import shorten_name

__all__ = ["TraceSymbolTable", "decode_symbol_id_to_symbol_name", "shorten_name"]

_ENCODED = ("name", "cat")
_RUNTIMES = ("cuda_driver", "cuda_runtime")
_LAUNCHES = (
    *("cudaLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernel", "cuLaunchKernelEx"),
    *("cudaMemcpyAsync", "cudaMemsetAsync", "runFunction - job_prep_and_submit_for_execution"),
    *("hipLaunchKernel", "hipExtModuleLaunchKernel"),
    *("hipMemsetAsync", "hipMemcpyAsync", "hipMemcpyWithStream"),
)


class TraceSymbolTable:
    """Names and categories of all ranks; the id of a symbol is its position in the table."""

    NULL: int = -128
    """Id that no symbol has."""

    def __init__(self) -> None:
        self.sym_table: list[str] = []
        """The symbols by id."""
        self.sym_index: dict[str, int] = {}
        """The ids by symbol."""

    def add_symbols(self, symbols: Iterable[str]) -> None:
        """Adds the symbols that the table lacks, in their order."""
        for symbol in symbols:
            if symbol not in self.sym_index:
                self.sym_index[symbol] = len(self.sym_table)
                self.sym_table.append(symbol)

    def add_symbols_mp(self, symbols_list: list[Iterable[str]]) -> None:
        """Adds the symbols of several collections, in their order."""
        for symbols in symbols_list:
            self.add_symbols(symbols)

    def is_empty(self) -> bool:
        """Returns whether the table has no symbols."""
        return not self.sym_table

    def get_sym_table(self) -> list[str]:
        """Returns the symbols by id."""
        return self.sym_table

    def get_sym_id_map(self) -> dict[str, int]:
        """Returns the ids by symbol."""
        return self.sym_index

    def get_sym_index(self) -> dict[str, int]:
        """Returns the ids by symbol, as `get_sym_id_map` does."""
        return self.sym_index

    def get_sym_table_series(self) -> pandas.Series:
        """Returns the symbols, labelled by id."""
        return pandas.Series(self.sym_table, dtype=object)

    def get_sym_index_series(self) -> pandas.Series:
        """Returns the ids, labelled by symbol."""
        return pandas.Series(self.sym_index, dtype="int64")

    def get_symbol_ids(self, symbol_pattern: GroupingPattern) -> dict[str, int]:
        """Returns the symbols that match a pattern, with their ids."""
        return {symbol: number for symbol, number in self.sym_index.items() if symbol_pattern.match(symbol)}

    def get_symbol_names(self, symbol_ids: Iterable[int]) -> dict[int, str]:
        """Returns the symbols of ids; skips unknown ids."""
        return {number: self.sym_table[number] for number in symbol_ids if 0 <= number < len(self.sym_table)}

    def find_matches(self, patterns: Iterable[str]) -> list[int]:
        """Returns the ids of the symbols that contain one of the texts."""
        texts = list(patterns)
        return [number for number, symbol in enumerate(self.sym_table) if any(text in symbol for text in texts)]

    def find_matched_symbols(self, patterns: Iterable[str]) -> list[str]:
        """Returns the symbols that contain one of the texts."""
        return [self.sym_table[number] for number in self.find_matches(patterns)]

    # --- frames -----------------------------------------------------------------------------------

    def encode_df(self, df: pandas.DataFrame) -> None:
        """Replaces texts in `name` and `cat` by ids, in place.

        Raises KeyError for a text that is no symbol.
        """
        for column in _ENCODED:
            if column in df.columns and pandas.api.types.is_string_dtype(df[column]):
                df[column] = _ids_of(df[column], self.sym_index)

    def decode_df(self, df: pandas.DataFrame, create_new_columns: bool = True) -> None:
        """Adds the texts of ids as `s_name` and `s_cat`, or replaces the ids by texts; in place.

        A negative id becomes an empty string. Raises IndexError for an id that the table lacks.
        """
        for column in _ENCODED:
            if _holds_ids(df, column):
                df[f"s_{column}" if create_new_columns else column] = _decoded(df[column], self.sym_table)

    def update_encoded_df(self, df: pandas.DataFrame, old_symbol_table: TraceSymbolTable) -> None:
        """Replaces the ids of another table in `name` and `cat` by ids of this table, in place.

        Raises KeyError for a symbol that this table lacks, IndexError for an id that the other
        table lacks.
        """
        for column in _ENCODED:
            symbols = [old_symbol_table.sym_table[number] for number in df[column]]
            df[column] = _ids_of(pandas.Series(symbols, index=df.index, dtype=object), self.sym_index)

    def add_symbols_to_trace_df(self, trace_df: pandas.DataFrame, col: str) -> None:
        """Replaces the ids in a column by texts, in place.

        An id that the table lacks becomes an empty string.
        """
        ids = trace_df[col]
        known = ids.where(ids.between(0, len(self.sym_table) - 1), -1)
        trace_df[col] = _decoded(known.astype("int64"), self.sym_table)

    def get_operator_or_cuda_runtime_mask(self, df: pandas.DataFrame) -> pandas.Series:
        """Returns which rows are operators, or calls of CUDA's runtime or driver."""
        return df["cat"].isin(self._ids("cpu_op", *_RUNTIMES))

    def get_operator_or_device_runtime_mask(self, df: pandas.DataFrame) -> pandas.Series:
        """Returns which rows are operators, or calls of a device's runtime or driver."""
        return df["cat"].isin(self._ids("cpu_op", *_RUNTIMES, "mtia_runtime"))

    def get_runtime_launch_events_mask(self, df: pandas.DataFrame) -> pandas.Series:
        """Returns which rows launch a kernel, a copy or a fill that the frame contains."""
        return df["name"].isin(self._ids(*_LAUNCHES)) & (df["index_correlation"] > 0)

    def get_events_mask(self, df: pandas.DataFrame, events: list[str] | None) -> pandas.Series:
        """Returns which rows have a name that contains one of the texts; no rows for None."""
        return df["name"].isin(self.find_matches(events or []))

    def get_cpu_event_cat_ids(self) -> list[int]:
        """Returns the ids of categories of host events."""
        return self._selected(CPU_EVENTS_CATEGORY_PATTERN)

    def get_gpu_kernel_cat_ids(self) -> list[int]:
        """Returns the ids of categories of device work."""
        return self._selected(KERNEL_CATEGORY_PATTERN)

    def get_profiler_step_ids(self) -> list[int]:
        """Returns the ids of profiler steps."""
        return self._selected(ProfilerStepGroupingPattern)

    def get_memory_name_ids(self) -> list[int]:
        """Returns the ids of copies and fills."""
        return self._selected(MemoryKernelGroupingPattern)

    def get_kernel_launch_ids(self) -> list[int]:
        """Returns the ids of kernel launches."""
        return self._selected(KERNEL_LAUNCH_CATEGORY_PATTERN)

    def _ids(self, *symbols: str) -> list[int]:
        return [self.sym_index[symbol] for symbol in symbols if symbol in self.sym_index]

    def _selected(self, pattern: GroupingPattern) -> list[int]:
        return list(self.get_symbol_ids(pattern).values())

    # --- tables -----------------------------------------------------------------------------------

    @classmethod
    def create_from_df(cls, df: pandas.DataFrame) -> TraceSymbolTable:
        """Builds a table of the texts in `name` and `cat`.

        Raises ValueError unless both columns hold text.
        """
        if not all(column in df.columns and pandas.api.types.is_string_dtype(df[column]) for column in _ENCODED):
            found = {str(column): str(df[column].dtype) for column in df.columns if column in _ENCODED}
            raise ValueError(f"expected name and cat columns that hold text, found {found or list(df.columns)}")
        table = cls()
        for column in _ENCODED:
            table.add_symbols(df[column].unique().tolist())
        return table

    @classmethod
    def create_from_symbol_id_map(cls, symbol_id_map: Mapping[str, int]) -> TraceSymbolTable:
        """Builds a table of symbols with these ids; missing ids become `Undefined-ID`."""
        symbols = {number: symbol for symbol, number in symbol_id_map.items()}
        table = cls()
        table.add_symbols(symbols.get(number, f"Undefined-{number}") for number in range(max(symbols, default=-1) + 1))
        return table

    @classmethod
    def combine_symbol_tables(cls, tables: Iterable[TraceSymbolTable]) -> TraceSymbolTable:
        """Builds a table of the symbols of several tables, in their order."""
        table = cls()
        table.add_symbols_mp([other.sym_table for other in tables])
        return table

    @classmethod
    def clone(cls, symbol_table: TraceSymbolTable) -> TraceSymbolTable:
        """Returns an independent copy of a table."""
        table = cls()
        table.sym_table, table.sym_index = symbol_table.sym_table.copy(), symbol_table.sym_index.copy()
        return table

    @classmethod
    def from_csv_file(cls, file_path: str) -> TraceSymbolTable:
        """Reads a table from the column `symbol` of a CSV file.

        Raises FileNotFoundError if the file is missing, ValueError if the column is missing.
        """
        # by default, pandas reads symbols such as NA and null as missing values
        found = pandas.read_csv(file_path, dtype=str, keep_default_na=False)
        if "symbol" not in found.columns:
            raise ValueError(f"expect a column symbol, found {list(found.columns)} in {file_path}")
        table = cls()
        table.add_symbols(found["symbol"].tolist())
        return table

    def _to_csv_file(self, file_path: str) -> None:
        """Writes the table as a CSV file that `from_csv_file` reads."""
        with atomic_path(Path(file_path)) as temporary:
            pandas.DataFrame({"symbol": self.sym_table}).to_csv(temporary)


def decode_symbol_id_to_symbol_name(
    df: pandas.DataFrame, symbol_table: TraceSymbolTable, use_shorten_name: bool
) -> None:
    """Adds the texts of ids as `s_name`, `s_cat` and `s_user_annotation`, in place.

    Skips columns that the frame lacks.

    With `use_shorten_name`, `shorten_name` shortens the texts. A negative id becomes an empty
    string. Raises IndexError for an id that the table lacks.
    """
    symbols = symbol_table.sym_table
    texts = [shorten_name(symbol) for symbol in symbols] if use_shorten_name else symbols
    for column in (*_ENCODED, "user_annotation"):
        if _holds_ids(df, column):
            df[f"s_{column}"] = _decoded(df[column], texts)


def _holds_ids(df: pandas.DataFrame, column: str) -> bool:
    return column in df.columns and df[column].dtype.kind == "i"


def _ids_of(texts: pandas.Series, index: Mapping[str, int]) -> pandas.Series:
    return pandas.Series([index[text] for text in texts], index=texts.index, dtype="int64")


def _decoded(ids: pandas.Series, symbols: list[str]) -> pandas.Series:
    """Returns the texts of ids, empty for negative ids."""
    if (ids >= len(symbols)).any():
        raise IndexError(f"expected symbol ids below {len(symbols)}, found {ids.max()}")
    # index -1 selects the last entry, the empty text
    texts = pandas.Series([*symbols, ""], dtype=object).take(ids.clip(lower=-1))
    return texts.set_axis(ids.index)
