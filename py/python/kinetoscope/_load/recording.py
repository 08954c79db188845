"""Reads the files of one recording of a job, in this process or in a worker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from kinetoscope import _native
from kinetoscope._io.discovery import Pair
from kinetoscope._load.read import Options, RankPart, read_recording, split
from kinetoscope._load.unread import UnreadReason

if TYPE_CHECKING:
    from kinetoscope._io.source import File
    from kinetoscope.trace import Trace


class Recording(NamedTuple):
    """The files of a recording, and the options to read them. Pickles if its files do."""

    pair: Pair
    files: Mapping[str, File]
    """Files by name, at least those of `pair`."""
    options: Options
    part: int | None = None
    """Index among the ranks of a merged file; None for all of the file."""

    @property
    def size(self) -> int:
        """Stored size of all files, in bytes."""
        return sum(self.files[name].size for name in self.pair.names)

    def read(self, reading: _native.Reading | None = None) -> ReadResult:
        """Reads the trace. If one of two files is unreadable, reads the other alone.

        Raises TraceError or OSError if no file is readable.
        """
        attempts = [self.pair]
        if self.pair.kineto and self.pair.execution:
            attempts += [Pair(self.pair.kineto, None, "alone"), Pair(None, self.pair.execution, "alone")]
        errors: list[Exception] = []
        for attempt in attempts:
            kineto, execution = (self.files[name] if name else None for name in (attempt.kineto, attempt.execution))
            try:
                trace = read_recording(kineto, execution, self.options, reading)
            except (_native.TraceError, OSError) as error:
                errors.append(error)
            else:
                failed = [name for name in self.pair.names if name not in attempt.names]
                may_split = self.part is None and not self.options.merges
                whole = trace if self.part is None else split(trace)[self.part].trace
                failures: dict[str, str] = {name: UnreadReason(errors[0]) for name in failed}
                return ReadResult(self._relinked(whole), attempt, failures, may_split)
        # of a pair, the error of the Kineto trace
        raise errors[-2] if len(errors) > 1 else errors[0]

    def _relinked(self, trace: Trace) -> Trace:
        """Links the nodes to the requested iteration, if the trace has both files."""
        if self.options.iteration is None or not (trace.num_events and len(trace.nodes)):
            return trace
        return trace.relink(iteration=self.options.iteration)


class ReadResult(NamedTuple):
    """The trace of a recording, and the files that it came from."""

    trace: Trace
    pair: Pair
    """Names of the files that were read."""
    failures: Mapping[str, str]
    """Unreadable files by name, each with the reason."""
    may_split: bool = False
    """Whether the ranks of a merged file become traces of their own."""

    def parts(self) -> list[RankPart]:
        """Returns the ranks of a merged file; none if the trace is of one rank, or stays whole."""
        return split(self.trace) if self.may_split else []
