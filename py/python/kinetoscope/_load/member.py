"""The recordings of a job, each with its files, its rank and its trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING
from urllib.parse import quote

from kinetoscope._base.warnings import warn
from kinetoscope._io.discovery import Pair
from kinetoscope._io.file import LocalFile, MemberFile
from kinetoscope._io.inputs import forget_input
from kinetoscope._load.read import Options, RankPart, split
from kinetoscope._load.recording import Recording

if TYPE_CHECKING:
    from kinetoscope import _native
    from kinetoscope._io.header import Head
    from kinetoscope._io.source import File
    from kinetoscope._remote.worker import Inspection, PartInspection
    from kinetoscope.trace import Trace

_MAX_SHOWN = 10


class Member:
    """One recording of a job: its files, its rank, and its trace, read at first use."""

    def __init__(
        self,
        pair: Pair,
        files: Mapping[str, File],
        heads: Mapping[str, Head],
        options: Options,
        trace: Trace | None = None,
        part: RankPart | PartInspection | None = None,
    ) -> None:
        self.pair = pair
        """Names of the files and how they were paired; without unreadable files."""
        self.notes: list[str] = []
        """Messages about unreadable files."""
        self.failures: dict[str, str] = {}
        """Unreadable files by name, each with the reason."""
        self.recording = Recording(pair, {name: files[name] for name in pair.names if name in files}, options)
        """The files to read; empty once the trace is in memory."""
        for file in self.recording.files.values():
            if isinstance(file, LocalFile):
                file.note_inputs()
        self.inspection: Inspection | None = None
        """Facts from a worker that read the recording; None without one."""
        self.part = part
        """Label and origin of a rank of a merged file; None for a file of one rank."""
        self._has_parts = part is None and not options.merges
        self._head_rank = next((heads[name].rank for name in pair.names if name in heads), None)
        self._trace = trace
        self._lock = RLock()

    def __repr__(self) -> str:
        return f"<recording of rank {'unknown' if self.rank is None else self.rank}: {' + '.join(self.pair.names)}>"

    @property
    def trace(self) -> Trace:
        """The trace. The first use reads it, and warns if one of two files is unreadable.

        Raises TraceError or OSError if no file is readable.
        """
        if self._trace is None:
            trace = self.read()
            for note in self.notes:
                warn(note)
            return trace
        return self._trace

    @property
    def is_read(self) -> bool:
        """Whether the trace is in memory."""
        return self._trace is not None

    @property
    def is_archived(self) -> bool:
        """Whether a file is a member of an archive, whose limit counts for all members."""
        return any(isinstance(file, MemberFile) for file in self.recording.files.values())

    @property
    def size(self) -> int:
        """Stored size of its files, in bytes."""
        return self.recording.size

    @property
    def rank(self) -> int | None:
        """Rank in the file, else in a file name, else None.

        Before the trace is read, the rank comes from the head of the file or its name.
        """
        return self._rank_and_origin()[0]

    @property
    def rank_from(self) -> str:
        """Origin of the rank: `file` (`distributedInfo`), `name`, or `unknown`.

        For a rank of a merged file: `label` of the merger, its only `device`, or `order`.
        """
        return self._rank_and_origin()[1]

    def _rank_and_origin(self) -> tuple[int | None, str]:
        content = self.inspection if self._trace is None else self._trace
        rank = self._head_rank if content is None else content.rank
        if rank is not None:
            return rank, "file" if self.part is None else self.part.origin
        return (None, "unknown") if self.pair.rank is None else (self.pair.rank, "name")

    def read(self, reading: _native.Reading | None = None) -> Trace:
        """Reads the trace once. If one of two files is unreadable, adds a note.

        Raises TraceError or OSError if no file is readable.
        """
        with self._lock:
            if self._trace is None:
                result = self.recording.read(reading)
                self._trace = result.trace
                self._set_files(result.pair, result.failures)
                # releases the files: those of an archive are bytes in memory
                self.recording = self.recording._replace(pair=Pair(None, None, ""), files={})
            return self._trace

    def parts(self) -> list[Member]:
        """Returns a member per rank of a merged file that was read; none for other members."""
        if not self._has_parts or not (self.is_read or self.inspection):
            return []
        self._has_parts = False
        if self._trace is not None:
            return [self._part_in_memory(part) for part in split(self._trace)]
        parts = self.inspection.parts if self.inspection else []
        return [self._remote_part(number, part) for number, part in enumerate(parts)]

    def _part_in_memory(self, part: RankPart) -> Member:
        member = Member(self.pair, {}, {}, self.recording.options, part.trace, part)
        member._set_files(self.pair, self.failures)
        return member

    def _remote_part(self, number: int, part: PartInspection) -> Member:
        files = self.recording.files
        member = Member(self.pair, files, {}, self.recording.options, None, part)
        member.recording = member.recording._replace(part=number)
        member.set_inspection(part.inspection)
        return member

    def set_inspection(self, inspection: Inspection) -> None:
        """Stores the facts from a worker that read the recording."""
        self.inspection = inspection
        self._set_files(inspection.pair, inspection.failures)

    def forget_inputs(self) -> None:
        """Lets an output replace the files: they are of another kind, as an earlier output is."""
        for file in self.recording.files.values():
            if isinstance(file, LocalFile):
                forget_input(file.path)

    def link(self, folder: Path) -> tuple[str, str]:
        """Returns the name of its file, and the address for a link from a page in `folder`.

        The address is empty for a file elsewhere: it would tell the folders of the person. The name
        of a redacted trace is empty.
        """
        name = self.pair.names[0]
        file = self.recording.files.get(name)
        source = file.path if isinstance(file, LocalFile) else None
        if self._trace is not None:
            source = self._trace.source
            name = name if source else ""
        try:
            inside = Path(source or "").resolve().relative_to(folder.resolve())
        except (OSError, ValueError):
            return name, ""
        return name, quote(inside.as_posix()) if source else ""

    def counts(self) -> tuple[int, int] | None:
        """Number of events and of nodes; None before the recording is read."""
        if self._trace is not None:
            return self._trace.num_events, len(self._trace.nodes)
        return None if self.inspection is None else (self.inspection.num_events, self.inspection.num_nodes)

    def _set_files(self, pair: Pair, failures: Mapping[str, str]) -> None:
        self.pair = pair
        self.failures = dict(failures)
        self.notes = [f"{name} was not read: {reason}" for name, reason in failures.items()]


def split_members(members: Sequence[Member]) -> tuple[list[Member], dict[str, str]]:
    """Replaces members of merged files with a member per rank.

    A merged file beside the files that it merges is a copy: returned by name, with the reason.
    """
    parts = {member: member.parts() for member in members}
    others = {(member.rank, member.counts()) for member, own in parts.items() if not own and member.counts()}
    copies: dict[str, str] = {}
    result: list[Member] = []
    for member, own in parts.items():
        if own and all((part.rank, part.counts()) in others for part in own):
            copies |= dict.fromkeys(member.pair.names, "a copy: its ranks have files of their own")
        else:
            result += own or [member]
    return result, copies


def merged_files(members: Sequence[Member]) -> list[str]:
    """Lists merged files with the labels of their ranks."""
    labels: dict[tuple[str, ...], list[str]] = {}
    for member in members:
        if member.part is not None:
            labels.setdefault(member.pair.names, []).append(f"rank {member.rank} is {member.part.label}")
    return [f"{names[0]} is a merged file: {', '.join(_few(ranks))}" for names, ranks in labels.items()]


def _few(words: list[str]) -> list[str]:
    more = len(words) - _MAX_SHOWN
    return words if more <= 0 else [*words[:_MAX_SHOWN], f"and {more:,} more"]
