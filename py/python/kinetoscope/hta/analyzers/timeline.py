"""Timelines of the kernels of ranks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pandas

from kinetoscope.hta import drawing
from kinetoscope.hta.common.trace import Trace
from kinetoscope.hta.common.trace_symbol_table import TraceSymbolTable

_NEEDED = ["calibrated_start_global", "calibrated_end_global", "task", "label"]
_HOVER = ("cat", "dur", "iteration", "name", "rank", "s_cat", "s_name", "stream")
_SOURCES = ["iteration", "name", "cat", "rank", "stream", "ts", "dur"]
_LEFT_OUT = (r"\(.+\)", r"<[^<]+>?", r"^void\s+", r"\s+", r"autograd::engine::evaluate_function")
_LONGEST_NAME = 45
_ROW_HEIGHT = 30
_RANK_HEIGHT = 120


def plot_timeline(title: str, events: pandas.DataFrame, ranks: list[int] | None = None) -> None:
    """Draws the events from `prepare_timeline_gpu_events`; the height depends on the ranks.

    Raises ValueError if a column is missing: `calibrated_start_global`, `calibrated_end_global`,
    `task` or `label`.
    """
    _check(events, _NEEDED)
    if ranks is None:
        ranks = sorted(events["rank"].unique()) if "rank" in events.columns else []
    hover = [column for column in _HOVER if column in events.columns]
    start, end, row, name = _NEEDED
    columns = drawing.Columns(start, end, row, name, hover)
    height = max(_ROW_HEIGHT, _RANK_HEIGHT * len(ranks) / max(events["task"].nunique(), 1))
    drawing.draw_intervals(drawing.Intervals(title, events, columns, height))


def prepare_timeline_gpu_events(
    df: pandas.DataFrame,
    symbol_table: TraceSymbolTable,
    ranks: list[int] | None = None,
    iterations: list[int] | None = None,
    streams: list[int] | None = None,
    duration_threshold: int = 1000,
) -> pandas.DataFrame:
    """Selects events by rank, iteration and stream, and adds the columns of `plot_timeline`.

    Selects all values except -1 by default.

    Events shorter than `duration_threshold` µs appear with that length. Raises ValueError if
    columns are missing.
    """
    _check(df, _SOURCES)
    kept = pandas.Series(data=True, index=df.index)
    for column, values in (("rank", ranks), ("iteration", iterations), ("stream", streams)):
        kept &= df[column].isin(_get_unique_values(df, column) if values is None else values)
    events: pandas.DataFrame = df.loc[kept].copy()
    symbols = symbol_table.get_sym_table()
    events["s_name"] = events["name"].map(symbols.__getitem__).map(_simplify_name)
    events["s_cat"] = events["cat"].map(symbols.__getitem__)
    events["calibrated_start_global"] = pandas.to_datetime(events["ts"], unit="us")
    ends = events["ts"] + events["dur"].clip(lower=duration_threshold)
    events["calibrated_end_global"] = pandas.to_datetime(ends, unit="us")
    events["label"] = events["s_name"]
    events["task"] = "rank " + events["rank"].astype(str) + " stream " + events["stream"].astype(str)
    return events.sort_values(by=["rank", "stream", "ts"], kind="stable")


def plot_timeline_gpu_kernels(
    title: str,
    df: pandas.DataFrame,
    symbol_table: TraceSymbolTable,
    ranks: list[int] | None = None,
    iterations: list[int] | None = None,
    streams: list[int] | None = None,
    duration_threshold: int = 1000,
) -> None:
    """Draws events of a frame; takes the arguments of `prepare_timeline_gpu_events`."""
    events = prepare_timeline_gpu_events(df, symbol_table, ranks, iterations, streams, duration_threshold)
    plot_timeline(title, events)


def plot_timeline_gpu_kernels_from_trace(
    title: str,
    trace_data: Trace,
    ranks: list[int] | None = None,
    iterations: list[int] | None = None,
    streams: list[int] | None = None,
    duration_threshold: int = 1000,
) -> None:
    """Draws events of a job; takes the arguments of `prepare_timeline_gpu_events`."""
    known = trace_data.get_all_traces()
    frames = {rank: trace_data.get_trace(rank) for rank in known if ranks is None or rank in ranks}
    df: Any = pandas.concat(list(frames.values()), keys=list(frames), names=["rank", "idx"])
    df = df.reset_index()
    choice = (ranks, iterations, streams, duration_threshold)
    plot_timeline_gpu_kernels(title, df, trace_data.symbol_table, *choice)


def _check(df: pandas.DataFrame, needed: Sequence[str]) -> None:
    if missing := [column for column in needed if column not in df.columns]:
        raise ValueError(f"expected a frame with the columns {list(needed)}, missing {missing}")


def _get_unique_values(df: pandas.DataFrame, col: str, exclude_values: Sequence[int] = (-1,)) -> list[int]:
    """Returns the values of a column, ascending, except `exclude_values`."""
    _check(df, [col])
    return sorted(value for value in df[col].unique().tolist() if value not in exclude_values)


def _simplify_name(name: str) -> str:
    """Shortens a name to 45 characters; drops arguments, template parameters and blanks."""
    for pattern in _LEFT_OUT:
        name = re.sub(pattern, "", name)
    return name if len(name) < _LONGEST_NAME else f"{name[: _LONGEST_NAME - 3]}..."
