"""Recordings in memory: each is read once, and the oldest are freed beyond a limit."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path
from threading import RLock

from kinetoscope import _native
from kinetoscope._mcp.failure import CallError
from kinetoscope._mcp.folders import AllowedFolders
from kinetoscope._mcp.quoted import quoted
from kinetoscope._mcp.reading import read_file, read_job, unlinked_files
from kinetoscope.memory import MemorySnapshot
from kinetoscope.trace import Trace
from kinetoscope.trace_set import TraceSet

Recording = Trace | TraceSet | MemorySnapshot

DEFAULT_MEMORY = 4 << 30
"""Default limit of all recordings in memory, in bytes."""

_EVENT_BYTES = 400
"""Memory of an event with its links, an estimate that errs upwards."""
_MAX_EXPANSION = 8 << 30
"""Most bytes of one file after decompression."""


class TraceStore:
    """Recordings below the served folders."""

    def __init__(self, folders: AllowedFolders, max_memory: int = DEFAULT_MEMORY) -> None:
        self.folders = folders
        self._max_memory = max_memory
        self._kept: OrderedDict[Path, tuple[tuple[int, ...], Recording, int]] = OrderedDict()
        self._lock = RLock()

    def recording(self, name: str) -> Recording:
        """Returns a recording by name; reads it anew if its files changed.

        Raises CallError for an unknown name or another format, and TraceError for a damaged file.
        """
        path = self.folders.find(name)
        with self._lock:
            state = _state(path)
            kept = self._kept.get(path)
            if kept is None or kept[0] != state:
                found = _read(path, name)
                self._kept[path] = (state, found, _size(found, path))
            self._kept.move_to_end(path)
            self._free()
            return self._kept[path][1]

    def trace(self, name: str, rank: int | None) -> Trace:
        """Returns a single trace. Raises CallError for a job without a rank."""
        found = self.recording(name)
        if isinstance(found, MemorySnapshot):
            raise CallError(f"expected a trace, found a memory snapshot: {quoted(name)}", f"memory({name!r})")
        if isinstance(found, Trace):
            if rank not in {None, found.rank}:
                expected = "no rank of a trace that records none" if found.rank is None else f"rank {found.rank}"
                raise CallError(f"expected {expected}, found {rank}", "the same call without rank")
            return found
        if rank is None or rank not in found:
            ranks = ", ".join(map(str, found.ranks[:20]))
            raise CallError(f"expected one of the ranks {ranks} of a job, found {rank}", "the same call with rank")
        return found[rank]

    def _free(self) -> None:
        """Frees the recordings that were not used for the longest time, but not the last one."""
        while len(self._kept) > 1 and sum(size for *_, size in self._kept.values()) > self._max_memory:
            self._kept.popitem(last=False)


def _read(path: Path, name: str) -> Recording:
    if path.is_dir():
        return read_job(path, _MAX_EXPANSION)
    found = read_file(path, _MAX_EXPANSION)
    if isinstance(found, (Trace, TraceSet, MemorySnapshot)):
        return found
    kind = getattr(found, "sort", type(found).__name__)
    raise CallError(f"expected a trace or a memory snapshot, found {kind}: {quoted(name)}", "list_traces()")


def _state(path: Path) -> tuple[int, ...]:
    """Size and time of each file of a recording."""
    files = unlinked_files(path) if path.is_dir() else [path]
    return tuple(number for file in files for number in (file.stat().st_size, file.stat().st_mtime_ns))


def _size(found: Recording, path: Path) -> int:
    if isinstance(found, MemorySnapshot):
        return 20 * path.stat().st_size
    traces = list(found) if isinstance(found, TraceSet) else [found]
    return sum(trace.num_events * _EVENT_BYTES for trace in traces)


def is_of_recording(error: Exception) -> bool:
    """Whether an error concerns a recording or a request, and is no fault of this program."""
    return isinstance(error, (_native.TraceError, OSError, ValueError, KeyError, TypeError, ImportError))
