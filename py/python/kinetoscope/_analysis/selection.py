"""Selection of a part of a trace or job."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from concurrent.futures import Executor


class Selection(TypedDict, total=False):
    """Keyword arguments that select a part of a trace or job.

    By default, everything but iterations in which the observer of the Execution Trace ran.
    """

    start_ns: int | None
    """Start of the range, in ns as in the tables."""
    end_ns: int | None
    """End of the range, in ns as in the tables."""
    iteration: int | None
    """Number of an iteration (`ProfilerStep#n`), instead of a range."""
    stream: int | None
    """Only the device events of this stream."""
    launched_inside: bool
    """Only device events whose launch is inside the range."""
    clip: bool
    """Whether times are clipped to the range; default: True.

    With False, an event counts as a whole in the range in which it starts. Device work counts in
    the range of its launch.
    """
    observed: bool
    """Whether to include iterations with the observer of the Execution Trace; default: False.

    Only matters without a range and an iteration.
    """
    rank: int | Iterable[int] | None
    """For a job: only this rank, or these ranks. ValueError for a rank without a trace."""
    executor: Executor | None
    """For a job: an executor whose workers read the traces, each about one at a time."""
    progress: bool | None
    """Whether to show a progress bar with an executor; default: in a terminal or notebook."""
