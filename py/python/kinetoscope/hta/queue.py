"""How much launched work was waiting on each stream, in HTA's frames."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pandas

if TYPE_CHECKING:
    from kinetoscope.hta.common.trace import Trace

_NS = 1000
_BLOCKED = ("rank", "stream", "duration_at_max_queue_length", "relative_duration_at_max_queue_length")


def queue_lengths(traces: Trace, rank: int) -> pandas.DataFrame:
    """A row for each change of a queue's length, labelled by the event that changed it."""
    series = traces.analyze(rank, "queue_length").tables["queue_length_series"]
    rows = series.select("event_id", "time_ns", "stream", "length").rows()
    frame = traces.get_trace(rank)
    partners = frame["index_correlation"].to_dict()
    device: pandas.DataFrame = frame.loc[frame["stream"] >= 0, ["pid", "tid"]]
    places = device.reindex([event if event in device.index else partners.get(event) for event, *_ in rows])
    return pandas.DataFrame(
        {
            "ts": [(time_ns - traces.min_ts * _NS) / _NS for _, time_ns, *_ in rows],
            "pid": places["pid"].to_numpy(),
            "tid": places["tid"].to_numpy(),
            "stream": [stream for *_, stream, _ in rows],
            "queue_length": [length for *_, length in rows],
        },
        index=[event for event, *_ in rows],
    )


def summary(series: Mapping[int, pandas.DataFrame], by: str, value: str) -> pandas.DataFrame | None:
    """What the points of each rank's series are like, by a column."""
    frames = [frame.assign(rank=rank) for rank, frame in series.items() if len(frame)]
    if not frames:
        return None
    points = pandas.concat(frames).groupby(["rank", by])[[value]]
    return pandas.DataFrame(points.describe())


def blocked(traces: Trace, series: Mapping[int, pandas.DataFrame], full: int) -> pandas.DataFrame:
    """How long the queue of each stream had `full` in it, or more; streams whose queue never had are left out."""
    rows = []
    for rank, frame in series.items():
        queues = traces.analyze(rank, "queue_length", full=full).select("stream", "full_ns").rows()
        span = frame["ts"].max() - frame["ts"].min() if len(frame) else 0
        rows += [(rank, stream, ns / _NS, ns / _NS / span if span else 0.0) for stream, ns in queues if ns]
    return pandas.DataFrame(rows, columns=list(_BLOCKED))
