"""Idle, compute and communication time of each rank's devices, in HTA's frames."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pandas

from kinetoscope.hta.utils.utils import KernelType, merge_kernel_intervals
from kinetoscope.hta.work import device_work, times_together

if TYPE_CHECKING:
    from kinetoscope.hta.common.trace import Trace

_PARTS = ("idle_time", "compute_time", "non_compute_time")
_TEMPORAL = ("rank", *(f"{part}(us)" for part in _PARTS), "kernel_time(us)", *(f"{part}_pctg" for part in _PARTS))
_BOTH = 3


def temporal_breakdown(traces: Trace) -> pandas.DataFrame:
    """Divides the device time of each rank; sums the devices of a rank.

    The span runs from the first start to the last end of device work.

    `idle = span - busy`, `compute` is the time with any computation,
    `non_compute = span - idle - compute`.
    """
    rows = []
    for rank, frame in traces.traces.items():
        work = device_work(frame, traces.symbol_table)
        if len(work):
            times = [_times(of_device) for _, of_device in work.groupby("pid", sort=False)]
            span, busy, compute = (sum(column) for column in zip(*times, strict=True))
            parts = (span - busy, compute, busy - compute)
            rows.append((rank, *parts, span, *(round(100 * part / span, 2) for part in parts)))
    return pandas.DataFrame(rows, columns=list(_TEMPORAL))


def overlap(traces: Trace) -> pandas.DataFrame:
    """Computes the share of each rank's communication that computation overlaps.

    The share is `100 * (time with both running) / (time with communication running)`, or NaN
    without communication.
    """
    rows = []
    for rank, frame in traces.traces.items():
        work = device_work(frame, traces.symbol_table)
        hidden = total = 0.0
        for _, of_device in work.groupby("pid", sort=False):
            types = (KernelType.COMMUNICATION.name, KernelType.COMPUTATION.name)
            hidden += times_together(of_device, types).get(_BOTH, 0)
            total += _united(of_device, KernelType.COMMUNICATION.name)
        rows.append((rank, round(100 * hidden / total, 2) if total else math.nan))
    return pandas.DataFrame(rows, columns=["rank", "comp_comm_overlap_pctg"])


def _times(work: pandas.DataFrame) -> tuple[float, float, float]:
    """Returns the span of a device, the time with any work, and the time with computation."""
    merged = merge_kernel_intervals(work[["ts", "dur"]].copy())
    busy = merged["end"].sum() - merged["ts"].sum()
    return merged["end"].iloc[-1] - merged["ts"].iloc[0], busy, _united(work, KernelType.COMPUTATION.name)


def _united(work: pandas.DataFrame, kernel_type: str) -> float:
    merged = merge_kernel_intervals(work.loc[work["kernel_type"] == kernel_type, ["ts", "dur"]].copy())
    return merged["end"].sum() - merged["ts"].sum()
