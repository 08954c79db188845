"""From files to what they hold: the Trace of one recording, or tables of another sort."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kinetoscope import _native
from kinetoscope.cache import through_cache
from kinetoscope.chakra import Chakra
from kinetoscope.memory import MemorySnapshot, MemoryTimeline
from kinetoscope.trace import Trace

if TYPE_CHECKING:
    from kinetoscope.file import File
    from kinetoscope.tables import Tables


class Options(NamedTuple):
    """What the caller of `read` or `read_dir` wishes for each recording."""

    max_bytes: int | None = None
    cache: Path | None = None
    max_threads: int = 1
    """For one recording; a job's are read on a thread each."""


_SORTS: dict[str, type[Tables]] = {
    "a Chakra trace": Chakra,
    "a memory snapshot": MemorySnapshot,
    "a memory timeline": MemoryTimeline,
}
"""The public class of each sort of file that is no trace."""


def load(
    kineto: File | None, execution: File | None, options: Options, reading: _native.Reading | None = None
) -> Trace:
    """Reads and links the files; at least one is given. TraceError or OSError when that is not possible.

    KeyboardInterrupt when `reading` is cancelled, or on Ctrl-C in the main thread.
    """
    files = [file for file in (kineto, execution) if file is not None]
    found = load_any(files, options, reading)
    if isinstance(found, Trace):
        return found
    raise _native.UnsupportedTraceError(f"expected a trace, found {found.sort}, which ks.read reads ({found.source})")


def load_any(files: Sequence[File], options: Options, reading: _native.Reading | None = None) -> Trace | Tables:
    """As `load`; a file alone may be of another sort than a trace."""

    def read() -> _native.Trace | _native.Tables:
        with ExitStack() as stack:
            sources = [stack.enter_context(file.opened()) for file in files]
            return _native.read(sources, max_bytes=options.max_bytes, max_threads=options.max_threads, reading=reading)

    native = through_cache(options.cache, files, options.max_bytes, read)
    labels = [file.label for file in files]
    if isinstance(native, _native.Tables):
        return _SORTS[native.sort](native, labels[0])
    return Trace(native, labels[0], labels[1] if len(labels) > 1 else None)
