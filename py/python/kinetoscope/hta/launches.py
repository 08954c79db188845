"""Launches with their device work, in HTA's frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas

from kinetoscope.hta.work import device_work, launches

if TYPE_CHECKING:
    from kinetoscope.hta.common.trace import Trace
    from kinetoscope.hta.common.trace_symbol_table import TraceSymbolTable

_COLUMNS = {"dur_launch": "cpu_duration", "dur": "gpu_duration"}
_COPIES = ("Memcpy", "Memset")


def launch_stats(traces: Trace, rank: int, *, with_memory: bool) -> pandas.DataFrame:
    """Lists each device event with its launch: both durations and the launch delay, in µs.

    The delay runs from the end of the launch to the start of the work; it is never negative.
    """
    frame, symbols = traces.get_trace(rank), traces.symbol_table
    calls = (launches if with_memory else kernel_launches)(frame, symbols)
    work = device_work(frame, symbols)[["correlation", "dur", "ts"]]
    found = calls[["correlation", "dur", "ts"]].merge(work, on="correlation", suffixes=("_launch", ""))
    found["launch_delay"] = (found["ts"] - found["ts_launch"] - found["dur_launch"]).clip(lower=0)
    return pandas.DataFrame(found.rename(columns=_COLUMNS)[["correlation", *_COLUMNS.values(), "launch_delay"]])


def kernel_launches(frame: pandas.DataFrame, symbols: TraceSymbolTable) -> pandas.DataFrame:
    """Selects the launches of kernels, without copies and fills."""
    calls, names = launches(frame, symbols), symbols.get_sym_table()
    copies = [number for number in calls["name"].unique() if any(copy in names[number] for copy in _COPIES)]
    return calls.loc[~calls["name"].isin(copies)]
