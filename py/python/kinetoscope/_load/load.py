"""From files to what they hold: the Trace of one recording, or tables of another sort."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

from kinetoscope import _native
from kinetoscope.trace import Trace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kinetoscope._io.source import File
    from kinetoscope.tables import Tables


class Options:
    """What the caller of `read` or `read_dir` wishes for each recording."""

    def __init__(
        self, max_bytes: int | None, cache: str | None, max_threads: int = 1, iteration: int | None = None
    ) -> None:
        if max_bytes is not None and max_bytes < 0:
            raise ValueError(f"expected max_bytes of at least 0, found {max_bytes}")
        self.max_bytes = max_bytes
        self.cache = cache
        self.max_threads = max_threads
        """For one recording; a job's are read on a thread each."""
        self.iteration = iteration
        """What the nodes of each recording are to be linked to, whatever it is read as."""


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
    """As `load`; a file alone may be of another sort than a trace. With the metrics that lie beside it."""
    metrics = [found for file in files if (found := file.metrics())]

    def read() -> _native.Trace | _native.Tables:
        with ExitStack() as stack:
            sources = [stack.enter_context(file.opened()) for file in [*files, *metrics]]
            return _native.read(sources, max_bytes=options.max_bytes, max_threads=options.max_threads, reading=reading)

    if options.cache is None:
        native = read()
    else:
        from kinetoscope._io.cache_entry import through_cache

        native = through_cache(options.cache, [*files, *metrics], options, read)
    labels = [file.label for file in files]
    if isinstance(native, _native.Tables):
        from kinetoscope._load.formats import tables_of

        return tables_of(native, labels[0])
    return Trace(native, labels[0], labels[1] if len(labels) > 1 else None)
