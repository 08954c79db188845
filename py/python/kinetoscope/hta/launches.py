"""Launches with their device work, in HTA's frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas

if TYPE_CHECKING:
    from kinetoscope.hta.common.trace import Trace

_NS = 1000
_COLUMNS = {
    "correlation": "correlation_id",
    "cpu_duration": "dur_ns",
    "gpu_duration": "device_dur_ns",
    "launch_delay": "delay_ns",
}


def launch_stats(traces: Trace, rank: int, *, with_memory: bool) -> pandas.DataFrame:
    """A row for each device event and its launch."""
    rows = traces.analyze(rank, "launches").select("kind", *_COLUMNS.values()).rows()
    kept = [
        (-1 if correlation is None else correlation, *(ns / _NS for ns in times))
        for kind, correlation, *times in rows
        if with_memory or kind == "kernel"
    ]
    return pandas.DataFrame(kept, columns=list(_COLUMNS))
