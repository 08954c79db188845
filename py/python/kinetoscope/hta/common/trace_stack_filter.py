"""Filters that select rows inside, after or before an operator, by time.

If neither `name` and `cat` nor `s_name` and `s_cat` hold texts, a filter logs this and keeps all
rows.
"""

from __future__ import annotations

from enum import Enum

import pandas

from kinetoscope.hta.common.trace_df import find_op_occurrence
from kinetoscope.hta.common.trace_filter import Filter, FirstIterationFilter
from kinetoscope.hta.common.trace_symbol_table import TraceSymbolTable
from kinetoscope.hta.configs.config import logger
from kinetoscope.hta.utils.utils import get_symbol_column_names


def get_matching_kernels(df_ops: pandas.DataFrame, df_both: pandas.DataFrame, cat_column: str) -> pandas.DataFrame:
    """Returns the rows of `df_both` that calls of the CUDA runtime in `df_ops` launched."""
    launches = df_ops.loc[df_ops[cat_column] == "cuda_runtime", "index"]
    return df_both.loc[df_both["index_correlation"].isin(launches)]


class OperatorFilterMethod(Enum):
    """Position of rows relative to an operator. `OperatorFilter` supports the first three."""

    Under = 0
    """Rows within the operator's time."""
    After = 1
    """Rows that begin at the operator's end or later."""
    Before = 2
    """Rows that end at the operator's start or earlier."""
    Ancestors = 3
    """Rows that enclose the operator's time."""
    Stack = 4
    """Rows that lie within the operator's time or enclose it."""


class OperatorFilter(Filter):
    """Selects rows of an operator's stream by their position relative to the operator."""

    def __init__(
        self,
        op_name: str,
        position: int,
        method: OperatorFilterMethod,
        include_gpu_kernels: bool = False,
        name_column: str | None = None,
    ) -> None:
        """Takes the operator's name, and the position among its events in the order of `ts`.

        A negative `position` counts from the end. `include_gpu_kernels` adds the device work of the
        selected rows. `name_column` holds the texts, by default `name`, else `s_name`.
        """
        self.op_name = op_name
        """Name of the operator."""
        self.position = position
        """Position among the events with the name."""
        self.method = method
        """Position of the rows relative to the operator."""
        self.include_gpu_kernels = include_gpu_kernels
        """Whether device work is added."""
        self.name_column: str = name_column or ""
        """Column of the names."""

    def __call__(self, df: pandas.DataFrame, symbol_table: TraceSymbolTable | None = None) -> pandas.DataFrame:
        """Returns the selected rows; a frame without columns if there is no such event.

        Raises NotImplementedError for the methods Ancestors and Stack.
        """
        columns = (self.name_column, self.name_column.replace("name", "cat"))
        name_column, cat_column = columns if self.name_column else get_symbol_column_names(df)
        if not all(
            name in df.columns and pandas.api.types.is_string_dtype(df[name]) for name in (name_column, cat_column)
        ):
            logger.error("expected text in columns of names and categories, found none: all rows are kept")
            return df
        is_found, operator = find_op_occurrence(df, self.op_name, self.position, name_column)
        if not is_found:
            logger.warning("expected the event %s at %d, found none: no row is kept", self.op_name, self.position)
            return pandas.DataFrame()
        chosen = df.loc[(df["stream"] == operator["stream"]) & self._is_in_place(df, operator)]
        if not self.include_gpu_kernels:
            return chosen
        return pandas.concat([chosen, get_matching_kernels(chosen, df, cat_column)])

    def _is_in_place(self, df: pandas.DataFrame, operator: pandas.Series) -> pandas.Series:
        if self.method == OperatorFilterMethod.Under:
            return (df["ts"] >= operator["ts"]) & (df["end"] <= operator["end"])
        if self.method == OperatorFilterMethod.After:
            return df["ts"] >= operator["end"]
        if self.method == OperatorFilterMethod.Before:
            return df["end"] <= operator["ts"]
        raise NotImplementedError(f"expected Under, After or Before, found {self.method}")


class AfterOperatorFilter(OperatorFilter):
    """Selects rows that begin at the end of an operator or later."""

    def __init__(
        self, op_name: str, position: int, include_gpu_kernels: bool = False, name_column: str | None = None
    ) -> None:
        """Takes the arguments of `OperatorFilter`."""
        super().__init__(op_name, position, OperatorFilterMethod.After, include_gpu_kernels, name_column)


class BeforeOperatorFilter(OperatorFilter):
    """Selects rows that end at the start of an operator or earlier."""

    def __init__(
        self, op_name: str, position: int, include_gpu_kernels: bool = False, name_column: str | None = None
    ) -> None:
        """Takes the arguments of `OperatorFilter`."""
        super().__init__(op_name, position, OperatorFilterMethod.Before, include_gpu_kernels, name_column)


class UnderOperatorFilter(OperatorFilter):
    """Selects rows within the time of an operator."""

    def __init__(
        self, op_name: str, position: int, include_gpu_kernels: bool = False, name_column: str | None = None
    ) -> None:
        """Takes the arguments of `OperatorFilter`."""
        super().__init__(op_name, position, OperatorFilterMethod.Under, include_gpu_kernels, name_column)


class CombinedOperatorFilter(Filter):
    """Selects rows of the first iteration by three operators.

    The rows lie inside the first root operator, after the last preceding operator and before the
    first following operator.

    Ignores operators that the frame lacks.
    """

    def __init__(
        self,
        root_op_name: str,
        preceding_op_name: str,
        following_op_name: str,
        include_gpu_kernels: bool = False,
        stack_depths: list[int] | None = None,
    ) -> None:
        """Takes operator names, whether to add device work, and depths of host rows to keep."""
        self.root_op_name: str = root_op_name
        """Operator that encloses the rows."""
        self.preceding_op_name: str = preceding_op_name
        """Operator before the rows."""
        self.following_op_name: str = following_op_name
        """Operator after the rows."""
        self.include_gpu_kernels: bool = include_gpu_kernels
        """Whether device work is added."""
        self.stack_depths: list[int] = stack_depths or []
        """Depths of the host rows; empty for all depths."""

    def __call__(self, df: pandas.DataFrame, symbol_table: TraceSymbolTable | None = None) -> pandas.DataFrame:
        """Returns the selected rows, device work first."""
        name_column, cat_column = get_symbol_column_names(df)
        if not name_column or not cat_column:
            logger.error("expected text in columns of names and categories, found none: all rows are kept")
            return df
        chosen = FirstIterationFilter()(df)
        for operator in (
            UnderOperatorFilter(self.root_op_name, 0, name_column=name_column),
            AfterOperatorFilter(self.preceding_op_name, -1, name_column=name_column),
            BeforeOperatorFilter(self.following_op_name, 0, name_column=name_column),
        ):
            if find_op_occurrence(chosen, operator.op_name, operator.position, name_column)[0]:
                chosen = operator(chosen)
        if self.include_gpu_kernels and not chosen.empty:
            chosen = pandas.concat([get_matching_kernels(chosen, df, cat_column), chosen])
        if self.stack_depths and "depth" in chosen.columns:
            chosen = chosen.loc[(chosen["stream"] > 0) | chosen["depth"].isin(self.stack_depths)]
        return chosen
