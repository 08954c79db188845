"""What the devices of each rank did with their time, in HTA's frames."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pandas

if TYPE_CHECKING:
    from kinetoscope.hta.common.trace import Trace

_NS = 1000
_PARTS = ("idle_time", "compute_time", "non_compute_time")
_TEMPORAL = ("rank", *(f"{part}(us)" for part in _PARTS), "kernel_time(us)", *(f"{part}_pctg" for part in _PARTS))


def temporal_breakdown(traces: Trace) -> pandas.DataFrame:
    """A row for each rank with device work: from the first start to the last end, on all its devices together."""
    rows = []
    for rank in traces.get_ranks():
        breakdown = traces.analyze(rank, "breakdown", per="work")
        devices = breakdown.select("span_ns", "idle_ns", "compute_ns").rows()
        span, idle, compute = (sum(column) / _NS for column in zip(*devices, strict=True)) if devices else (0, 0, 0)
        if span:
            parts = (idle, compute, span - idle - compute)
            rows.append((rank, *parts, span, *(round(100 * part / span, 2) for part in parts)))
    return pandas.DataFrame(rows, columns=list(_TEMPORAL))


def overlap(traces: Trace) -> pandas.DataFrame:
    """How much of each rank's communication computation hides; NaN where it does not communicate."""
    rows = []
    for rank in traces.get_ranks():
        kinds = traces.analyze(rank, "overlap").select("collective", "hidden_ns", "total_ns").rows()
        devices = [(hidden, total) for kind, hidden, total in kinds if kind == "all"]
        total = sum(total for _, total in devices)
        hidden = sum(hidden for hidden, _ in devices)
        rows.append((rank, round(100 * hidden / total, 2) if total else math.nan))
    return pandas.DataFrame(rows, columns=["rank", "comp_comm_overlap_pctg"])
