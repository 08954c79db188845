"""Bandwidth of copies and fills over time, in HTA's frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy
import pandas

from kinetoscope.hta.utils.utils import KernelType, get_memory_kernel_type
from kinetoscope.hta.work import device_work

if TYPE_CHECKING:
    from kinetoscope.hta.common.trace import Trace

_COLUMNS = ["ts", "pid", "name", "memory_bw_gbps"]
_REMAINDER = 1e-9


def bandwidths(traces: Trace, rank: int) -> pandas.DataFrame | None:
    """Lists each change of the bandwidth (GB/s) of a kind of copy.

    Returns None without copies and fills.

    A copy shorter than 1 µs counts as 1 µs long. At equal times, ends come before starts. A sum
    below 1e-9 GB/s is a rounding error and becomes 0.
    """
    work = device_work(traces.get_trace(rank), traces.symbol_table)
    copies = work.loc[work["kernel_type"] == KernelType.MEMORY.name]
    if copies.empty:
        return None
    names = traces.symbol_table.get_sym_table()
    starts = copies[["ts", "pid", "memory_bw_gbps"]].copy()
    starts.insert(2, "name", [get_memory_kernel_type(names[number]) for number in copies["name"]])
    ends = starts.assign(ts=(copies["ts"] + numpy.maximum(copies["dur"], 1)), memory_bw_gbps=-starts["memory_bw_gbps"])
    starts.index, ends.index = pandas.RangeIndex(len(copies)), pandas.RangeIndex(len(copies), 2 * len(copies))
    points = pandas.concat([ends, starts]).sort_values("ts", kind="stable").sort_values("name", kind="stable")
    points["memory_bw_gbps"] = points.groupby("name")["memory_bw_gbps"].cumsum()
    points.loc[points["memory_bw_gbps"].abs() <= _REMAINDER, "memory_bw_gbps"] = 0.0
    return pandas.DataFrame(points[_COLUMNS])
