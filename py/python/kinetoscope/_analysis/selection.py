"""What part of a trace is asked for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from concurrent.futures import Executor


class Selection(TypedDict, total=False):
    """The part of a trace that is looked at; all of it where nothing is said."""

    start_ns: int | None
    """Start of a range, as the tables count time."""
    end_ns: int | None
    """Its end. What the range cuts counts with what is inside."""
    iteration: int | None
    """The number of an iteration (`ProfilerStep#n`), in place of a range: from its start to its end."""
    stream: int | None
    """Look at the device events of this stream alone."""
    launched_inside: bool
    """Leave out device events whose launch is not inside the range."""
    clip: bool
    """Cut times to the range (default).

    With False, an event counts whole in the range in which it begins, device work in that of its launch.
    """
    rank: int | Iterable[int] | None
    """Of a job: look at the traces of this rank alone, or of these. ValueError for one that there is not."""
    executor: Executor | None
    """Of a job: whose workers read the traces and answer, each about one at a time."""
    progress: bool | None
    """With an executor: whether to show a bar; by default in a terminal and in a notebook."""
