"""Launch queue lengths of streams, in HTA's frames."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pandas

from kinetoscope.hta.work import device_work, launches

if TYPE_CHECKING:
    from kinetoscope.hta.common.trace import Trace

_COLUMNS = ["ts", "pid", "tid", "stream", "queue_length"]
_BLOCKED = ("rank", "stream", "duration_at_max_queue_length", "relative_duration_at_max_queue_length")


def queue_lengths(traces: Trace, rank: int) -> pandas.DataFrame | None:
    """Lists the changes of queue lengths, labelled by the event that caused the change.

    Returns None without launched work. A launch adds one entry to the queue of its stream; the
    start of the work removes the entry.
    """
    frame = traces.get_trace(rank)
    calls = launches(frame, traces.symbol_table)
    work = device_work(frame, traces.symbol_table)
    work = work[work["correlation"].isin(calls["correlation"])]
    places = work.set_index("correlation")[["stream", "pid", "tid"]]
    launched = calls[["index", "ts", "correlation"]].join(places, on="correlation", how="inner").assign(change=1)
    points = pandas.concat([launched, work.assign(change=-1)]).sort_values("ts", kind="stable").set_index("index")
    if points.empty:
        return None
    points = points.sort_values("stream", kind="stable")
    points["queue_length"] = points.groupby("stream")["change"].cumsum()
    return pandas.DataFrame(points[_COLUMNS])


def summary(series: Mapping[int, pandas.DataFrame], by: str, value: str) -> pandas.DataFrame | None:
    """Computes statistics of each rank's series by a column, not weighted by time.

    Returns None without series.
    """
    frames = [frame.assign(rank=rank) for rank, frame in series.items()]
    if not frames:
        return None
    return pandas.DataFrame(pandas.concat(frames)[["rank", by, value]].groupby(["rank", by]).describe())


def blocked(traces: Trace, series: Mapping[int, pandas.DataFrame], full: int) -> pandas.DataFrame:
    """Sums the time (µs) that queues had at least `full` entries.

    Has a row for each rank and stream whose queue was ever full.
    """
    rows = []
    for rank, frame in series.items():
        for stream, of_stream in frame.groupby("stream"):
            times = of_stream["ts"].shift(-1) - of_stream["ts"]
            is_full = of_stream["queue_length"] >= full
            if is_full.any():
                time = times[is_full].sum()
                rows.append((rank, stream, time, time / traces.get_trace_duration(rank)))
    streams = [frame["stream"].dtype for frame in series.values()]
    found = pandas.DataFrame(rows, columns=list(_BLOCKED))
    return found.astype({"stream": streams[0]}) if streams else found
