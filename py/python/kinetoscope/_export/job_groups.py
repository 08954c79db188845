"""Infers the process groups of a job's communications, for files that must name them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kinetoscope import _native
from kinetoscope.trace_set import ranks_and_windows

if TYPE_CHECKING:
    from kinetoscope.trace import Trace
    from kinetoscope.trace_set import TraceSet

JobPlace = tuple[_native.JobGroups, int]
"""The groups of a job, and the place of a trace in it."""


def job_places(job: TraceSet, traces: Sequence[Trace]) -> list[JobPlace]:
    """Returns the place of each trace, which are those of a job or derived from them, in its order.

    Traces with gloo name no groups: calls of other ranks tell them.
    """
    ranks = [rank for rank, _ in ranks_and_windows(job.members)]
    natives = [(rank, trace._native) for rank, trace in zip(ranks, traces, strict=True)]  # noqa: SLF001 - the core compares them
    groups = _native.JobGroups(natives)
    return [(groups, at) for at in range(len(natives))]
