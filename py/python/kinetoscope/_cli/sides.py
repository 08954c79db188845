"""Both sides of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinetoscope._cli.reading import ReadingOptions, read_recordings
from kinetoscope.tables import Tables
from kinetoscope.trace_set import TraceSet

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

_KINDS = {"a trace", "a job", "a memory snapshot"}


def read_sides(
    paths: Sequence[str], options: ReadingOptions, *, rank: int | None, output: Path | None = None
) -> tuple[Any, Any]:
    """Reads the sides of a comparison: two traces, two jobs or two memory snapshots.

    Raises the errors of `read_recordings`, and ValueError for sides of two kinds, of another kind,
    or with one Execution Trace for both.
    """
    if options.et:
        raise ValueError(
            f"expected no --et with two traces, found {options.et}: store each Execution Trace beside its trace"
        )
    before, after = (read_recordings([path], options, rank=rank, output=output) for path in paths)
    kinds = {kind_of(before), kind_of(after)}
    if len(kinds) > 1 or not kinds <= _KINDS:
        raise ValueError(f"expected two traces, two jobs or two memory snapshots, found {' and '.join(sorted(kinds))}")
    return before, after


def kind_of(found: Trace | TraceSet | Tables) -> str:
    """Names the kind of a recording, such as `a trace`."""
    return found.sort if isinstance(found, Tables) else "a job" if isinstance(found, TraceSet) else "a trace"
