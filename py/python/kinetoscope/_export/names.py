"""Unique names of the traces of a job, for files and messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kinetoscope.trace_set import ranks_and_windows

if TYPE_CHECKING:
    from kinetoscope.trace import Trace
    from kinetoscope.trace_set import TraceSet


def ranked(job: TraceSet) -> Iterator[tuple[str, Trace]]:
    """Yields traces with unique names.

    Names are `0`, `1`, `1.1` for the second window of rank 1, and `unknown`.
    """
    for member, (number, window) in zip(job.members, ranks_and_windows(job.members), strict=True):
        rank = "unknown" if number is None else str(number)
        yield f"{rank}.{window}" if window else rank, member.trace
