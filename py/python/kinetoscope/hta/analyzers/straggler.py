"""Ranks whose communication kernels start late."""

from __future__ import annotations

import re

import pandas

from kinetoscope.hta import drawing
from kinetoscope.hta.analyzers.timeline import plot_timeline_gpu_kernels
from kinetoscope.hta.common.trace import Trace
from kinetoscope.hta.common.trace_symbol_table import TraceSymbolTable
from kinetoscope.hta.utils.utils import KernelType
from kinetoscope.hta.work import device_work

_STEP = re.compile(r"ProfilerStep\s*#\s*(\d+)")
_METRIC = "normalized_start_time"
_LONG = 0.01
_KINDS = ["rank", "stream", "iteration", "name"]


def extract_iteration_info(trace: Trace) -> pandas.DataFrame:
    """Lists the steps of all ranks: `rank`, `iter`, `ts`, `dur`, `end` in µs."""
    numbers = {number: _STEP.match(name) for name, number in trace.symbol_table.get_sym_id_map().items()}
    steps = {number: int(match[1]) for number, match in numbers.items() if match}
    frames = [_steps(frame, steps).assign(rank=rank) for rank, frame in trace.get_all_traces().items()]
    found = pandas.concat(frames, ignore_index=True)
    return pandas.DataFrame(found[["rank", "iter", "ts", "dur", "end"]])


def find_stragglers_with_late_start_comm_kernels(
    df: pandas.DataFrame,
    symbol_table: TraceSymbolTable,
    n_stragglers: int = 2,
    visualize: bool = False,
) -> pandas.Series:
    """Counts the steps in which each rank starts its last long communication kernel late.

    A kernel is long if it takes at least 1 % of a step. Compares the kernels of one stream and
    name, selected by the largest difference of durations among the ranks. The last `n_stragglers`
    starts of a step are late.

    Args:
        df: the rows of all ranks, with `rank` and `iteration`.
        symbol_table: the names of the rows.
        n_stragglers: how many ranks of a step are late, 1 at least.
        visualize: draw the kernels and the starts.

    Raises:
        ValueError: no communication kernel of two ranks is long enough.
    """
    kernels = _long_kernels(df, symbol_table)
    if visualize:
        _draw_kernels("Long communication kernels", kernels, symbol_table)
    starts = _compared_starts(kernels)
    if visualize:
        _draw_kernels("Compared communication kernels", starts, symbol_table)
    is_late = _late(starts, max(n_stragglers, 1))
    if visualize:
        drawing.draw_stragglers(starts.assign(is_straggler=is_late), _METRIC)
    return is_late.astype(int).groupby(starts["rank"]).sum().rename("is_straggler")


def _steps(frame: pandas.DataFrame, steps: dict[int, int]) -> pandas.DataFrame:
    found = frame.loc[frame["name"].isin(list(steps)), ["name", "ts", "dur"]]
    return found.assign(iter=found["name"].map(steps), end=found["ts"] + found["dur"])


def _long_kernels(rows: pandas.DataFrame, symbols: TraceSymbolTable) -> pandas.DataFrame:
    """Selects communication kernels of at least 1 % of a mean step.

    Starts and durations are fractions of a step.
    """
    first = rows["ts"].min()
    step = ((rows["ts"] + rows["dur"]).max() - first) / max(rows["iteration"].nunique(), 1)
    work = device_work(rows, symbols)
    is_long = (work["dur"] >= step * _LONG) & (work["iteration"] >= 0) & (work["stream"] >= 0)
    found = work[is_long & (work["kernel_type"] == KernelType.COMMUNICATION.name)]
    return found.assign(**{_METRIC: (found["ts"] - first) / step, "duration": found["dur"] / step})


def _compared_starts(kernels: pandas.DataFrame) -> pandas.DataFrame:
    last = kernels.groupby(_KINDS, as_index=False).last()
    spread = last.groupby(["stream", "iteration", "name"])["duration"].std()
    means = spread.groupby(["stream", "name"]).mean().dropna()
    if means.empty:
        raise ValueError("expected communication of two ranks that takes 1 % of a step, found none")
    stream, name = means.idxmax()
    return pandas.DataFrame(last[(last["stream"] == stream) & (last["name"] == name)])


def _late(starts: pandas.DataFrame, count: int) -> pandas.Series:
    """Returns whether each start is among the last `count` starts of its step.

    Starts at the same time have the same result.
    """
    places = starts.groupby("iteration")[_METRIC].rank(method="min", ascending=False)
    return places <= count


def _draw_kernels(title: str, kernels: pandas.DataFrame, symbols: TraceSymbolTable) -> None:
    ranks = sorted(kernels["rank"].unique().tolist())
    plot_timeline_gpu_kernels(title, kernels, symbols, ranks=ranks, duration_threshold=2000)
