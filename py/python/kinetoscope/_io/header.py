"""Recognises a file by its first bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kinetoscope import _native

if TYPE_CHECKING:
    from kinetoscope._io.source import File


class Head(NamedTuple):
    """Facts about a file, known from its first bytes."""

    is_execution: bool | None = None
    """Whether the file is an Execution Trace; None if the first bytes do not decide."""
    rank: int | None = None
    """Rank in `distributedInfo`; None if that is missing or stands behind the events."""


def peek(file: File) -> Head:
    """Reads the head of a file. Returns an empty head for an unreadable file."""
    try:
        return Head(*_native.head(file.head()))
    except OSError:
        return Head()


def head_of(native: _native.Trace) -> Head:
    """Returns the head of a trace in memory."""
    return Head(*_native.head_of(native))
