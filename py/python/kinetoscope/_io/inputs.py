"""Remembers the files that were read, so that no output replaces one of them."""

from __future__ import annotations

import os
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    Place: TypeAlias = tuple[int, int]
    """Device and inode."""
    State: TypeAlias = tuple[int, int]
    """Size in bytes and modification time in ns."""

_read: dict[Place, tuple[str, State]] = {}
"""Path and state of each file that was read."""
_written: dict[Place, State] = {}
"""State of each file that this process wrote, as it was written."""


def identity(path: str | os.PathLike[str]) -> tuple[Place, State]:
    """Returns place and state of a file, which no later file of the same name shares.

    Raises OSError without a file.
    """
    found = os.stat(path)
    return (found.st_dev, found.st_ino), (found.st_size, found.st_mtime_ns)


def note_input(path: str | os.PathLike[str]) -> None:
    """Remembers that a file is read. What this process wrote itself may be written again."""
    try:
        place, state = identity(path)
    except OSError:
        return
    if _written.get(place) != state:
        _read[place] = (os.path.realpath(path), state)


def forget_input(path: str | os.PathLike[str]) -> None:
    """Forgets a file of which nothing was read."""
    with suppress(OSError):
        _read.pop(identity(path)[0], None)


def note_output(path: str | os.PathLike[str]) -> None:
    """Remembers that this process wrote a file."""
    place, state = identity(path)
    _read.pop(place, None)
    _written[place] = state


def refuse_input(path: str | os.PathLike[str]) -> None:
    """Raises ValueError if `path` is a file that was read, also through a link.

    A freed inode may have become another file's: the path, or size and time, must be the same.
    """
    try:
        place, state = identity(path)
    except OSError:
        return
    known = _read.get(place)
    if known is None:
        return
    source, read_state = known
    if source == os.path.realpath(path) or read_state == state:
        other = "" if os.path.realpath(path) == os.path.abspath(path) else f" ({source})"
        raise ValueError(f"expected an output other than the input files, found {os.fspath(path)!s}{other}")
