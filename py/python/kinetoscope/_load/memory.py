"""Memory snapshots that are given beside a trace."""

from __future__ import annotations

import os

from kinetoscope import _native
from kinetoscope.memory import MemorySnapshot


def memory_snapshot(snapshot: MemorySnapshot | str | os.PathLike[str]) -> MemorySnapshot:
    """Returns the snapshot, read if it is a path.

    Raises TypeError for another type, UnsupportedTraceError for another format, and TraceError or
    OSError for an unreadable file.
    """
    if isinstance(snapshot, MemorySnapshot):
        return snapshot
    from kinetoscope._load.read import read

    try:
        path = os.fspath(snapshot)
    except TypeError:
        raise TypeError(f"expected a MemorySnapshot or a path, found {type(snapshot).__name__}") from None
    found = read(path)
    if isinstance(found, MemorySnapshot):
        return found
    raise _native.UnsupportedTraceError(f"expected a memory snapshot, found another format: {snapshot}")
