"""What the first bytes of a file tell about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kinetoscope import _native

if TYPE_CHECKING:
    from kinetoscope._io.source import File


class Head(NamedTuple):
    """What is known of a file before it is read."""

    is_execution: bool | None = None
    """Whether it is an Execution Trace; None when the bytes do not tell."""
    rank: int | None = None
    """The rank in its `distributedInfo`, where that stands before the events."""


def peek(file: File) -> Head:
    """Reads the head of a file. What is wrong with the file is not raised: it shows when it is read."""
    try:
        return Head(*_native.head(file.head()))
    except OSError:
        return Head()


def head_of(native: _native.Trace) -> Head:
    """What is known of a file that was read, all of it or its first bytes."""
    return Head(*_native.head_of(native))
