"""Idle time of streams, in HTA's frames."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas

if TYPE_CHECKING:
    from kinetoscope.hta.common.trace import Trace

_NS = 1000
_CATEGORIES = ("host_wait", "kernel_wait", "other")
_ALWAYS = "other"  # that of the first event, which HTA says has a gap of no length
_ALL = 2**62


def idle_times(
    traces: Trace, ranks: Sequence[int], streams: Sequence[int] | None, kernel_wait_us: float
) -> tuple[pandas.DataFrame, pandas.DataFrame]:
    """Idle time of each stream by its reason, and what its gaps are like."""
    sums, intervals = [], []
    for rank in ranks:
        asked = {"kernel_wait_ns": int(kernel_wait_us * _NS), "longest": _ALL}
        gaps = traces.analyze(rank, "idle", **asked).tables["gaps"].select("stream", "category", "dur_ns").rows()
        found = pandas.DataFrame(gaps, columns=["stream", "category", "dur_ns"])
        for stream in _streams(traces, rank) if streams is None else streams:
            of_stream = found[found["stream"] == stream]
            times = {name: of_stream.loc[of_stream["category"] == name, "dur_ns"] / _NS for name in _CATEGORIES}
            times = {name: us for name, us in times.items() if len(us) or name == _ALWAYS}
            total = of_stream["dur_ns"].sum() / _NS or math.nan
            sums += [(rank, stream, name, us.sum(), us.sum() / total) for name, us in times.items()]
            described = pandas.DataFrame({name: us.astype("float64").describe() for name, us in times.items()}).T
            described.insert(0, "rank", rank)
            described.insert(1, "stream", stream)
            intervals.append(described.rename_axis("idle_category"))
    columns = ["rank", "stream", "idle_category", "idle_time", "idle_time_ratio"]
    together = pandas.concat(intervals) if intervals else pandas.DataFrame()
    return pandas.DataFrame(sums, columns=columns).round(2), together.round(2)


def _streams(traces: Trace, rank: int) -> list[int]:
    """Streams with device work, in the order of the frame."""
    kinds = dict(traces.recorded(rank).events.select("id", "kind").rows())
    frame = traces.get_trace(rank)
    on_stream = frame[frame["stream"] >= 0]
    is_work = [kinds[event] in {"kernel", "copy", "fill"} for event in on_stream["index"]]
    return [int(stream) for stream in on_stream.loc[is_work, "stream"].unique()]
