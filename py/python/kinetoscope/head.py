"""What the first bytes of a file tell about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kinetoscope import _native
from kinetoscope.nsight import is_export

if TYPE_CHECKING:
    from kinetoscope.source import File


class Head(NamedTuple):
    """What is known of a file before it is read."""

    is_execution: bool | None = None
    """Whether it is an Execution Trace; None when the bytes do not tell."""
    rank: int | None = None
    """The rank in its `distributedInfo`, where that stands before the events."""


def peek(file: File, reading: _native.Reading | None = None) -> Head:
    """Reads the head of a file. What is wrong with the file is not raised: it shows when it is read."""
    try:
        head = file.head()
        if is_export(head):  # it is read in place, or as a whole
            return Head(is_execution=False)
        native = _native.read([(file.label, head)], reading=reading)
    except (_native.TraceError, OSError):
        return Head()
    return Head() if isinstance(native, _native.Tables) else head_of(native)


def head_of(native: _native.Trace) -> Head:
    """What is known of a file that was read, all of it or its first bytes."""
    if native.num_events:
        return Head(is_execution=False, rank=native.rank)
    return Head(is_execution=True if len(native.table("nodes")) else None, rank=native.rank)
