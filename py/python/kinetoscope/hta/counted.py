"""Traces with tracks of counters in them: the lengths of queues, the bandwidth of copies."""

from __future__ import annotations

from enum import Flag
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinetoscope.hta import bandwidth, queue, written

if TYPE_CHECKING:
    from kinetoscope.hta.common.trace import Trace

_NS = 1000
_QUEUE = "Queue Length"
_BANDWIDTH = "Memcpy BW"


class TimeSeriesTypes(Flag):
    """What there are tracks of."""

    QUEUE_LENGTH = 1
    """Launches whose work has not begun, by stream."""
    MEMCPY_BANDWIDTH = 2
    """Bandwidth of copies and fills (GB/s), by kind."""


def write_counters(traces: Trace, rank: int, series: TimeSeriesTypes, suffix: str) -> str:
    """Writes the trace of a rank beside its file, with `suffix` before `.json` in its name."""
    document = written.document_of(traces, rank)
    points: list[dict[str, Any]] = []
    if TimeSeriesTypes.QUEUE_LENGTH in series:
        rows = queue.queue_lengths(traces, rank).to_dict("records")
        points += [_point(row, _QUEUE, _QUEUE, row["queue_length"]) | {"id": row["stream"]} for row in rows]
    if TimeSeriesTypes.MEMCPY_BANDWIDTH in series:
        rows = bandwidth.bandwidths(traces, rank).to_dict("records")
        points += [_point(row, row["name"], _BANDWIDTH, row["memory_bw_gbps"]) for row in rows]
    shift = traces.min_ts - written.clock_of(traces, rank, document) / _NS
    document["traceEvents"] += [{**point, "ts": point["ts"] + shift} for point in points]
    name = written.name_of(traces, rank)
    folder = Path(traces.trace_files[rank]).parent
    return written.write_document(document, folder / name.replace(".json", f"{suffix}.json"))


def _point(row: dict[Any, Any], name: str, counter: str, value: float) -> dict[str, Any]:
    return {"ph": "C", "name": name, "pid": row["pid"], "ts": row["ts"], "args": {counter: value}}
