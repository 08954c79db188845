"""Traces with counter tracks: queue lengths and copy bandwidth."""

from __future__ import annotations

from enum import Flag
from pathlib import Path
from typing import TYPE_CHECKING

from kinetoscope.hta import bandwidth, queue, written

if TYPE_CHECKING:
    from kinetoscope.hta.common.trace import Trace

_SUFFIX = "_with_counters"


class TimeSeriesTypes(Flag):
    """Selects the counter tracks to write."""

    QUEUE_LENGTH = 1
    """Number of launched work items that have not started, by stream."""
    MEMCPY_BANDWIDTH = 2
    """Bandwidth of copies and fills (GB/s), by kind."""


def write_counters(traces: Trace, rank: int, series: TimeSeriesTypes, suffix: str) -> str:
    """Writes the trace of a rank beside its file, with `suffix` before `.json` in the name.

    Returns the path.
    """
    document = written.document_of(traces, rank)
    events = document["traceEvents"]
    lengths = queue.queue_lengths(traces, rank) if TimeSeriesTypes.QUEUE_LENGTH in series else None
    if lengths is not None:
        tracks = lengths.rename(columns={"stream": "id"})
        events += traces.convert_time_series_to_events(tracks, "Queue Length", "queue_length")
    rates = bandwidth.bandwidths(traces, rank) if TimeSeriesTypes.MEMCPY_BANDWIDTH in series else None
    if rates is not None:
        events += traces.convert_time_series_to_events(rates, "Memcpy BW", "memory_bw_gbps")
    name = written.name_of(traces, rank)
    folder = Path(traces.trace_files[rank]).parent
    path = str(folder / name.replace(".json", f"{suffix or _SUFFIX}.json"))
    traces.write_raw_trace(path, document)
    return path
