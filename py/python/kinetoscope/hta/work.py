"""Device work in a frame: kernels, copies and fills, and the type of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy
import pandas

from kinetoscope import _native
from kinetoscope._base.warnings import warn
from kinetoscope.hta.utils.utils import KernelType, merge_kernel_intervals

if TYPE_CHECKING:
    from kinetoscope.hta.common.trace_symbol_table import TraceSymbolTable

_WORK = {"kernel", "copy", "fill"}
_MOVES_MEMORY = {"copy", "fill"}


def device_work(frame: pandas.DataFrame, symbols: TraceSymbolTable) -> pandas.DataFrame:
    """Selects the kernels, copies and fills that run on a stream, with a `kernel_type` for each.

    Skips waits (`cuda_sync`), because the device is idle during a wait, and host operators with a
    `stream`. Emits a RuntimeWarning if rounding to whole µs, as in HTA, left negative durations.
    """
    kinds = _kinds(frame["cat"].unique().tolist(), symbols)
    work = frame[(frame["stream"] != -1) & frame["cat"].isin(list(kinds))].copy()
    work["kernel_type"] = _types(work, kinds, symbols)
    if num_negative := int((work["dur"] < 0).sum()):
        warn(f"{num_negative} device events of less than 1 µs last -1 µs, as HTA rounds them: see Trace.kernels()")
    return work


def launches(frame: pandas.DataFrame, symbols: TraceSymbolTable) -> pandas.DataFrame:
    """Selects the launches that HTA knows by name and whose device work is in the frame.

    Emits a RuntimeWarning if calls with other names, such as graph launches, have device work.
    """
    is_known = symbols.get_runtime_launch_events_mask(frame)
    is_host = (frame["stream"] == -1) & (frame["index_correlation"] > 0)
    others = frame.loc[is_host & ~is_known, "name"].value_counts()
    if len(others):
        names = ", ".join(symbols.get_sym_table()[number] for number in others.index[:3])
        warn(f"skipped {others.sum()} launches, as HTA does ({names}): launches() of the trace lists all")
    return frame.loc[is_known]


def times_together(work: pandas.DataFrame, types: Sequence[str]) -> dict[int, float]:
    """Sums the time (µs) of each combination of types that run at once.

    Bit `n` of a key stands for `types[n]`. Overlapping intervals of the same type count once.
    """
    times, changes = [], []
    for bit, name in enumerate(types):
        merged = merge_kernel_intervals(work.loc[work["kernel_type"] == name, ["ts", "dur"]].copy())
        times += [merged["ts"].to_numpy(), merged["end"].to_numpy()]
        changes += [numpy.full(len(merged), 1 << bit), numpy.full(len(merged), -(1 << bit))]
    at = numpy.concatenate(times) if times else numpy.array([])
    order = numpy.argsort(at, kind="stable")
    running = numpy.cumsum(numpy.concatenate(changes)[order]) if len(order) else at
    found: dict[int, float] = {}
    for mix, time in zip(running[:-1].tolist(), numpy.diff(at[order]).tolist(), strict=True):
        if mix > 0:
            found[mix] = found.get(mix, 0.0) + time
    return found


def _kinds(categories: Sequence[int], symbols: TraceSymbolTable) -> dict[int, str]:
    names = symbols.get_sym_table()
    kinds = {number: _native.kind_of_category(names[number]) for number in categories if 0 <= number < len(names)}
    return {number: kind for number, kind in kinds.items() if kind in _WORK}


def _types(work: pandas.DataFrame, kinds: dict[int, str], symbols: TraceSymbolTable) -> pandas.Series:
    """Returns types by name; a kernel with a recorded collective always communicates."""
    names = symbols.get_sym_table()
    by_name = {number: _native.class_of_kernel(names[number]).upper() for number in work["name"].unique()}
    types = work["name"].map(by_name).astype(object)
    if "collective_name" in work:
        types[work["collective_name"].fillna("") != ""] = KernelType.COMMUNICATION.name
    types[work["cat"].map(kinds).isin(_MOVES_MEMORY)] = KernelType.MEMORY.name
    return types
