"""Bandwidth of copies and fills over time, in HTA's frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas

if TYPE_CHECKING:
    from kinetoscope.hta.common.trace import Trace

_NS = 1000


def bandwidths(traces: Trace, rank: int) -> pandas.DataFrame:
    """A row for each change of the bandwidth of a kind of copy on a device, whose number is `pid`."""
    series = traces.analyze(rank, "copy_bandwidth").tables["copy_bandwidth_series"]
    rows = series.select("time_ns", "device", "direction", "gbps").rows()
    rows.sort(key=lambda row: row[0])
    return pandas.DataFrame(
        [((time_ns - traces.min_ts * _NS) / _NS, device, name, gbps) for time_ns, device, name, gbps in rows],
        columns=["ts", "pid", "name", "memory_bw_gbps"],
    )
