"""The files of one recording, and how they are read: here, or wherever they are sent to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from kinetoscope import _native
from kinetoscope._io.discovery import Pair
from kinetoscope._load.load import Options, load

if TYPE_CHECKING:
    from kinetoscope._io.source import File
    from kinetoscope.trace import Trace


class Recording(NamedTuple):
    """Which files are read, by their names, and how. Can be pickled where its files can."""

    pair: Pair
    files: Mapping[str, File]
    options: Options

    @property
    def size(self) -> int:
        """Bytes of its files as they lie there."""
        return sum(self.files[name].size for name in self.pair.names)

    def read(self, reading: _native.Reading | None = None) -> Read:
        """Reads the trace. Where one of two files cannot be read, the other is.

        TraceError or OSError when none can.
        """
        attempts = [self.pair]
        if self.pair.kineto and self.pair.execution:
            attempts += [Pair(self.pair.kineto, None, "alone"), Pair(None, self.pair.execution, "alone")]
        errors: list[Exception] = []
        for attempt in attempts:
            files = [self.files[name] if name else None for name in (attempt.kineto, attempt.execution)]
            try:
                trace = load(files[0], files[1], self.options, reading)
            except (_native.TraceError, OSError) as error:
                errors.append(error)
            else:
                left = [name for name in self.pair.names if name not in attempt.names]
                return Read(self._linked(trace), attempt, {name: str(errors[0]) for name in left})
        raise errors[-2] if len(errors) > 1 else errors[0]

    def _linked(self, trace: Trace) -> Trace:
        """To the iteration that was asked for, where there are two files to link."""
        if self.options.iteration is None or not (trace.num_events and len(trace.nodes)):
            return trace
        return trace.relink(iteration=self.options.iteration)


class Read(NamedTuple):
    """What was read of a recording."""

    trace: Trace
    pair: Pair
    """Its files, without those that could not be read."""
    failures: Mapping[str, str]
    """These, and why."""
