"""Reads the traces of an archive while the archive is being unpacked."""

from __future__ import annotations

from concurrent.futures import Future
from typing import TYPE_CHECKING, final

from kinetoscope import _native
from kinetoscope._base.threads import Workers
from kinetoscope._io.paths import is_execution
from kinetoscope._load.read import Options, read_recording

if TYPE_CHECKING:
    from kinetoscope._io.source import File
    from kinetoscope.trace import Trace


@final
class StreamingReader:
    """Reads each Kineto trace of an archive in a thread, up to the first Execution Trace.

    A Kineto trace that turns out to have an Execution Trace is read again with it. Use as a
    context manager, as `Workers`.
    """

    def __init__(self, options: Options) -> None:
        self._options = options
        self._workers = Workers()
        self._futures: dict[str, Future[Trace | None]] = {}
        self._has_execution = False

    def __enter__(self) -> StreamingReader:
        self._workers.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        self._workers.__exit__(kind, *rest)

    def add(self, name: str, file: File) -> None:
        """Starts to read a file."""
        self._has_execution |= is_execution(name)
        if not self._has_execution:
            self._futures[name] = self._workers.begin(self._read, file)

    def traces(self) -> dict[str, Trace]:
        """Waits for all reads, and returns the traces of readable files by name."""
        traces = self._workers.finish(list(self._futures.values()))
        return {name: trace for name, trace in zip(self._futures, traces, strict=True) if trace is not None}

    def _read(self, file: File, reading: _native.Reading) -> Trace | None:
        try:
            return read_recording(file, None, self._options, reading)
        except (_native.TraceError, OSError):  # the second read reports the error
            return None
