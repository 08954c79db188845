"""Remembers the files that were read, so that no output replaces one of them."""

from __future__ import annotations

import os
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    State: TypeAlias = tuple[int, int]
    """Size in bytes and modification time in ns."""

_read: dict[tuple[int, int], tuple[str, State]] = {}
"""Path and state of each file that was read, by device and inode."""
_written: dict[tuple[int, int], State] = {}
"""State of each file that this process wrote, as it was written."""


def note_input(path: str | os.PathLike[str]) -> None:
    """Remembers that a file is read. What this process wrote itself may be written again."""
    try:
        found = os.stat(path)
    except OSError:
        return
    place, state = (found.st_dev, found.st_ino), (found.st_size, found.st_mtime_ns)
    if _written.get(place) != state:
        _read[place] = (os.path.realpath(path), state)


def forget_input(path: str | os.PathLike[str]) -> None:
    """Forgets a file of which nothing was read."""
    with suppress(OSError):
        found = os.stat(path)
        _read.pop((found.st_dev, found.st_ino), None)


def note_output(path: str | os.PathLike[str]) -> None:
    """Remembers that this process wrote a file."""
    found = os.stat(path)
    place = (found.st_dev, found.st_ino)
    _read.pop(place, None)
    _written[place] = (found.st_size, found.st_mtime_ns)


def refuse_input(path: str | os.PathLike[str]) -> None:
    """Raises ValueError if `path` is a file that was read, also through a link.

    A freed inode may have become another file's: the path, or size and time, must be the same.
    """
    try:
        found = os.stat(path)
    except OSError:
        return
    known = _read.get((found.st_dev, found.st_ino))
    if known is None:
        return
    source, state = known
    if source == os.path.realpath(path) or state == (found.st_size, found.st_mtime_ns):
        other = "" if os.path.realpath(path) == os.path.abspath(path) else f" ({source})"
        raise ValueError(f"expected an output other than the input files, found {os.fspath(path)!s}{other}")
