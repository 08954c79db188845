"""Look-ups in the frame of a trace."""

from __future__ import annotations

import re

import pandas

from kinetoscope.hta.common.trace_symbol_table import TraceSymbolTable


def get_iterations(df: pandas.DataFrame) -> list[int]:
    """Returns the steps of a frame, ascending, without -1.

    Raises TypeError unless `iteration` holds integers.
    """
    if "iteration" not in df.columns:
        raise TypeError(f"expected the column iteration, found {list(df.columns)}")
    steps = df["iteration"]
    if steps.dtype.kind != "i":
        raise TypeError(f"expected integers in the column iteration, found {steps.dtype}")
    return sorted(int(step) for step in steps.unique() if step != -1)


def find_op_occurrence(
    df: pandas.DataFrame, op_name: str, position: int, name_column: str = "s_name"
) -> tuple[bool, pandas.Series]:
    """Finds the event at a position among the events with a name, in the order of `ts`.

    A negative `position` counts from the end.

    Returns whether the event exists, and its row; otherwise an empty row.
    """
    if {"ts", name_column} <= set(df.columns):
        named: pandas.DataFrame = df.loc[df[name_column] == op_name]
        found = named.sort_values("ts", kind="stable")
        if -len(found) <= position < len(found):
            return True, found.iloc[position]
    return False, pandas.Series(dtype=object)


def find_events_by_name_patterns_using_symbol_table(
    df: pandas.DataFrame, list_name_patterns: list[str], symbol_table: TraceSymbolTable
) -> pandas.Series:
    """Returns the column `index` of events whose symbol matches a pattern at its start."""
    patterns = [re.compile(pattern) for pattern in list_name_patterns]
    symbols = symbol_table.get_sym_id_map().items()
    matched = [number for symbol, number in symbols if any(pattern.match(symbol) for pattern in patterns)]
    return df.loc[df["name"].isin(matched), "index"]


def find_events_by_name_patterns_using_decoded_names(
    df: pandas.DataFrame, list_name_patterns: list[str], name_column: str = "s_name"
) -> pandas.Series:
    """Returns the column `index` of events whose name matches a pattern at its start."""
    patterns = [re.compile(pattern) for pattern in list_name_patterns]
    matched = [name for name in df[name_column].dropna().unique() if any(pattern.match(name) for pattern in patterns)]
    return df.loc[df[name_column].isin(matched), "index"]
