"""Queue lengths and copy bandwidth over time."""

from __future__ import annotations

import pandas

from kinetoscope.hta.bandwidth import bandwidths
from kinetoscope.hta.common.trace import Trace
from kinetoscope.hta.queue import blocked, queue_lengths, summary


class TraceCounters:
    """Computes series of counters, and statistics of them.

    Ranks without such work have no series.
    """

    @classmethod
    def get_queue_length_time_series(cls, t: Trace, ranks: list[int] | None = None) -> dict[int, pandas.DataFrame]:
        """Lists the changes of each stream's launch queue, one frame per rank."""
        series = {rank: queue_lengths(t, rank) for rank in _ranks(t, ranks)}
        return {rank: frame for rank, frame in series.items() if frame is not None}

    @classmethod
    def get_queue_length_summary_from_time_series(
        cls, queue_length_dict: dict[int, pandas.DataFrame]
    ) -> pandas.DataFrame | None:
        """Computes statistics of queue length series by rank and stream.

        Returns None for an empty dictionary.
        """
        return summary(queue_length_dict, "stream", "queue_length")

    @classmethod
    def get_queue_length_summary(cls, t: Trace, ranks: list[int] | None = None) -> pandas.DataFrame | None:
        """Computes statistics of queue lengths by rank and stream.

        Returns None if no rank has launched work.
        """
        return cls.get_queue_length_summary_from_time_series(cls.get_queue_length_time_series(t, ranks))

    @classmethod
    def get_time_spent_blocked_on_full_queue(
        cls, t: Trace, queue_length_dict: dict[int, pandas.DataFrame], max_queue_length: int
    ) -> pandas.DataFrame:
        """Sums the time (µs) that each stream's queue had at least `max_queue_length` entries."""
        return blocked(t, queue_length_dict, max_queue_length)

    @classmethod
    def get_memory_bw_time_series(cls, t: Trace, ranks: list[int] | None = None) -> dict[int, pandas.DataFrame]:
        """Lists the changes of the bandwidth (GB/s) of each kind of copy, one frame per rank."""
        series = {rank: bandwidths(t, rank) for rank in _ranks(t, ranks)}
        return {rank: frame for rank, frame in series.items() if frame is not None}

    @classmethod
    def get_memory_bw_summary(cls, t: Trace, ranks: list[int] | None = None) -> pandas.DataFrame | None:
        """Computes statistics of bandwidths above 0 by rank and kind of copy.

        Returns None if no rank has copies.
        """
        series = cls.get_memory_bw_time_series(t, ranks)
        return summary(
            {rank: frame.query("memory_bw_gbps > 0") for rank, frame in series.items()}, "name", "memory_bw_gbps"
        )


def _ranks(traces: Trace, ranks: list[int] | None) -> list[int]:
    """Returns `ranks`, by default the first rank."""
    return list(ranks) if ranks else traces.get_ranks()[:1]
