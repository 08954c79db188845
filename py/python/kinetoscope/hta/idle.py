"""Idle time of streams, in HTA's frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy
import pandas

from kinetoscope.hta.utils.utils import IdleTimeType
from kinetoscope.hta.work import device_work

if TYPE_CHECKING:
    from kinetoscope.hta.common.trace import Trace

_NAMES = {kind.value: kind.name.lower() for kind in IdleTimeType}
_COLUMNS = ["rank", "stream", "idle_category", "idle_time", "idle_time_ratio"]


def idle_times(
    traces: Trace, rank: int, streams: Sequence[int] | None, kernel_wait_us: float
) -> tuple[pandas.DataFrame, pandas.DataFrame]:
    """Sums the idle time (µs) of each stream by cause, and computes statistics of the gaps.

    A gap lies between the latest end so far and the start of the next event. A gap is a `host_wait`
    if the next event was launched after that end. Otherwise the gap is a `kernel_wait` if shorter
    than `kernel_wait_us`, else `other`.
    """
    frame = traces.get_trace(rank)
    work = device_work(frame, traces.symbol_table)
    work["launch_ts"] = frame["ts"].reindex(work["index_correlation"].where(work["index_correlation"] > 0)).to_numpy()
    sums: list[pandas.DataFrame] = []
    intervals: list[pandas.DataFrame] = []
    for stream in work["stream"].unique() if streams is None or len(streams) == 0 else streams:
        gaps = _gaps(pandas.DataFrame(work[work["stream"] == stream]), kernel_wait_us)
        total = pandas.Series(gaps.groupby("idle_category")["idle_time"].sum()).reset_index()
        ratios = total["idle_time"] / total["idle_time"].sum()
        sums.append(total.assign(rank=rank, stream=stream, idle_time_ratio=ratios))
        statistics = pandas.DataFrame(gaps.groupby("idle_category")["idle_time"].describe())
        statistics.insert(0, "rank", rank)
        statistics.insert(1, "stream", stream)
        intervals.append(statistics)
    return _named(sums).round(2), _together(intervals).round(2).rename(index=_NAMES)


def _gaps(work: pandas.DataFrame, kernel_wait_us: float) -> pandas.DataFrame:
    """Returns the gap before each event of a stream, NaN before the first event.

    Overlapping events have no gap.
    """
    work = work.sort_values("ts", kind="stable")
    ends = (work["ts"] + work["dur"]).cummax().shift()
    has_gap = ~(work["ts"] < ends)
    work, ends = work.loc[has_gap], ends.loc[has_gap]
    gaps = work["ts"] - ends
    is_late = (work["launch_ts"] > ends).to_numpy()
    reasons = numpy.select(
        [is_late, (gaps < kernel_wait_us).to_numpy()],
        [IdleTimeType.HOST_WAIT.value, IdleTimeType.KERNEL_WAIT.value],
        IdleTimeType.OTHER.value,
    )
    return pandas.DataFrame({"idle_category": reasons, "idle_time": gaps})


def _named(sums: list[pandas.DataFrame]) -> pandas.DataFrame:
    found = _together(sums).reindex(columns=_COLUMNS)
    return found.assign(idle_category=found["idle_category"].map(_NAMES)).reset_index(drop=True)


def _together(frames: list[pandas.DataFrame]) -> pandas.DataFrame:
    return pandas.concat(frames) if frames else pandas.DataFrame()
