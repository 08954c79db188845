"""Traces read while the archive that they are in is still being unpacked."""

from __future__ import annotations

from concurrent.futures import Future
from typing import TYPE_CHECKING, final

from kinetoscope import _native
from kinetoscope._base.threads import Workers
from kinetoscope._io.paths import is_execution
from kinetoscope._load.load import Options, load

if TYPE_CHECKING:
    from kinetoscope._io.source import File
    from kinetoscope.trace import Trace


@final
class Early:
    """Reads Kineto traces as they come out of an archive, up to the first Execution Trace among them.

    One that turns out to have an Execution Trace is read once more, with it. A context, as `Workers` is.
    """

    def __init__(self, options: Options) -> None:
        self._options = options
        self._workers = Workers()
        self._futures: dict[str, Future[Trace | None]] = {}
        self._is_wanted = True

    def __enter__(self) -> Early:
        self._workers.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        self._workers.__exit__(kind, *rest)

    def begin(self, name: str, file: File) -> None:
        """Begins to read a file."""
        self._is_wanted &= not is_execution(name)
        if self._is_wanted:
            self._futures[name] = self._workers.begin(self._read, file)

    def traces(self) -> dict[str, Trace]:
        """All that could be read, by name."""
        read = self._workers.finish(list(self._futures.values()))
        return {name: trace for name, trace in zip(self._futures, read, strict=True) if trace is not None}

    def _read(self, file: File, reading: _native.Reading) -> Trace | None:
        try:
            return load(file, None, self._options, reading)
        except (_native.TraceError, OSError):  # raised again where it can be told
            return None
