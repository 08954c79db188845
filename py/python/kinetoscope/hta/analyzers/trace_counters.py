"""Queue lengths and copy bandwidth over time."""

from __future__ import annotations

import pandas

from kinetoscope.hta.bandwidth import bandwidths
from kinetoscope.hta.common.trace import Trace
from kinetoscope.hta.queue import blocked, queue_lengths, summary


class TraceCounters:
    """Computes series of counters, and statistics of them. Ranks without such work have no series."""

    @classmethod
    def get_queue_length_time_series(cls, t: Trace, ranks: list[int] | None = None) -> dict[int, pandas.DataFrame]:
        """Lists the changes of each stream's queue of launched work, by rank."""
        series = {rank: queue_lengths(t, rank) for rank in _ranks(t, ranks)}
        return {rank: frame for rank, frame in series.items() if frame is not None}

    @classmethod
    def get_queue_length_summary_from_time_series(
        cls, queue_length_dict: dict[int, pandas.DataFrame]
    ) -> pandas.DataFrame | None:
        """Describes the points of series by rank and stream; None without any."""
        return summary(queue_length_dict, "stream", "queue_length")

    @classmethod
    def get_queue_length_summary(cls, t: Trace, ranks: list[int] | None = None) -> pandas.DataFrame | None:
        """Describes queue lengths by rank and stream; None without any."""
        return cls.get_queue_length_summary_from_time_series(cls.get_queue_length_time_series(t, ranks))

    @classmethod
    def get_time_spent_blocked_on_full_queue(
        cls, t: Trace, queue_length_dict: dict[int, pandas.DataFrame], max_queue_length: int
    ) -> pandas.DataFrame:
        """Sums the time (µs) in which the queue of each stream had `max_queue_length` entries or more."""
        return blocked(t, queue_length_dict, max_queue_length)

    @classmethod
    def get_memory_bw_time_series(cls, t: Trace, ranks: list[int] | None = None) -> dict[int, pandas.DataFrame]:
        """Lists the changes of the bandwidth (GB/s) of each kind of copy, by rank."""
        series = {rank: bandwidths(t, rank) for rank in _ranks(t, ranks)}
        return {rank: frame for rank, frame in series.items() if frame is not None}

    @classmethod
    def get_memory_bw_summary(cls, t: Trace, ranks: list[int] | None = None) -> pandas.DataFrame | None:
        """Describes the points above 0 by rank and kind of copy; None without copies."""
        series = cls.get_memory_bw_time_series(t, ranks)
        return summary(
            {rank: frame.query("memory_bw_gbps > 0") for rank, frame in series.items()}, "name", "memory_bw_gbps"
        )


def _ranks(traces: Trace, ranks: list[int] | None) -> list[int]:
    """The first rank, where none is given."""
    return list(ranks) if ranks else traces.get_ranks()[:1]
