"""From the files of one recording to its Trace."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kinetoscope import _native
from kinetoscope.cache import through_cache
from kinetoscope.trace import Trace

if TYPE_CHECKING:
    from kinetoscope.file import File


class Options(NamedTuple):
    """What the caller of `read` or `read_dir` wishes for each recording."""

    max_bytes: int | None = None
    cache: Path | None = None


def load(
    kineto: File | None, execution: File | None, options: Options, reading: _native.Reading | None = None
) -> Trace:
    """Reads and links the files; at least one is given. TraceError or OSError when that is not possible.

    KeyboardInterrupt when `reading` is cancelled, or on Ctrl-C in the main thread.
    """
    files = [file for file in (kineto, execution) if file is not None]

    def read() -> _native.Trace:
        with ExitStack() as stack:
            sources = [stack.enter_context(file.opened()) for file in files]
            return _native.Trace.read(sources, max_bytes=options.max_bytes, reading=reading)

    native = through_cache(options.cache, files, options.max_bytes, read)
    labels = [file.label for file in files]
    return Trace(native, labels[0], labels[1] if len(labels) > 1 else None)
