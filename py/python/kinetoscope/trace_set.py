"""All traces of a job: what each of its ranks recorded."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any

from kinetoscope import _native
from kinetoscope._analysis.methods import JobAnalyses
from kinetoscope._base import lazy, text
from kinetoscope._base.progress import bar
from kinetoscope._base.threads import for_each
from kinetoscope._base.warnings import warn
from kinetoscope._export.tables import Part, export
from kinetoscope._io.discovery import Pair, natural
from kinetoscope._load.load import Options
from kinetoscope._load.recording import Recording
from kinetoscope.table import Table
from kinetoscope.trace import Trace, redacted

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from kinetoscope._io.header import Head
    from kinetoscope._io.source import File
    from kinetoscope._remote.coordinator import Scattered
    from kinetoscope._remote.worker import Look

_SHOWN_SKIPPED = 10
_PICTURE_WIDTH = 900


class Member:
    """One recording of a job: its files, its rank, and its trace, which is read when it is first asked for."""

    def __init__(
        self,
        pair: Pair,
        files: Mapping[str, File],
        heads: Mapping[str, Head],
        options: Options,
        trace: Trace | None = None,
    ) -> None:
        self.pair = pair
        """The files' names, and how they were paired. What could not be read is no longer in it."""
        self.notes: list[str] = []
        """What is to be said about its files."""
        self.failures: dict[str, str] = {}
        """Its files that could not be read, and why."""
        self.recording = Recording(pair, {name: files[name] for name in pair.names}, options)
        """What is read of it."""
        self.look: Look | None = None
        """What another process said of it that has read it; None where nobody was asked."""
        self._head_rank = next((heads[name].rank for name in pair.names if name in heads), None)
        self._trace = trace
        self._lock = RLock()

    @property
    def trace(self) -> Trace:
        """The trace. TraceError or OSError when neither of its files can be read.

        RuntimeWarning when only one of two can.
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
    def size(self) -> int:
        """Bytes of its files as they lie there."""
        return self.recording.size

    @property
    def rank(self) -> int | None:
        """The rank in the file, else in a name, else None.

        Known before the trace is read where a name tells it, or the head of the file.
        """
        return self._ranked()[0]

    @property
    def rank_from(self) -> str:
        """Where the rank is from: `file` (`distributedInfo`), `name`, or `unknown`."""
        return self._ranked()[1]

    def _ranked(self) -> tuple[int | None, str]:
        seen = self.look if self._trace is None else self._trace
        told = self._head_rank if seen is None else seen.rank
        if told is not None:
            return told, "file"
        return (None, "unknown") if self.pair.rank is None else (self.pair.rank, "name")

    def read(self, reading: _native.Reading | None = None) -> Trace:
        """Reads the trace, once. Where one of two files cannot be read, the other is, and `notes` says so."""
        with self._lock:
            if self._trace is None:
                read = self.recording.read(reading)
                self._trace = read.trace
                self._note(read.pair, read.failures)
                # nobody needs the files any more, and those of an archive are bytes
                self.recording = self.recording._replace(pair=Pair(None, None, ""), files={})
            return self._trace

    def looked(self, look: Look) -> None:
        """What another process said of it."""
        self.look = look
        self._note(look.pair, look.failures)

    def counts(self) -> tuple[int, int] | None:
        """Its events and nodes, where they were counted."""
        if self._trace is not None:
            return self._trace.num_events, len(self._trace.nodes)
        return None if self.look is None else (self.look.num_events, self.look.num_nodes)

    def _note(self, pair: Pair, failures: Mapping[str, str]) -> None:
        self.pair = pair
        self.failures = dict(failures)
        self.notes = [f"{name} was not read: {why}" for name, why in failures.items()]


class TraceSet(JobAnalyses):
    """All traces of a job, in the order of their ranks. A rank may have several: one for each window that was recorded.

    `job[rank]` is the first window of a rank, `job.windows(rank)` all of them; iterating gives every trace. `repr` says
    which files were paired (`pairs`), which were left out and why (`skipped`), and what is odd about them (`notes`).
    """

    def __init__(
        self,
        members: Sequence[Member],
        skipped: Mapping[str, str] | None = None,
        scattered: lazy.Scattered | None = None,
    ) -> None:
        self._members = list(members)
        self._skipped = dict(skipped or {})
        self._scattered = scattered

    @property
    def members(self) -> list[Member]:
        """The recordings with their files, in the order of rank and name."""
        return sorted(self._members, key=_order)

    @property
    def pairs(self) -> list[Pair]:
        """Which files belong together, and how that is known; in the order of the traces."""
        return [member.pair for member in self.members]

    @property
    def skipped(self) -> dict[str, str]:
        """The files that are in no trace, by name, and why."""
        failures = (member.failures for member in self._members)
        return {name: why for part in (self._skipped, *failures) for name, why in sorted(part.items())}

    @property
    def notes(self) -> list[str]:
        """What is odd: ranks with several traces, and those that nothing tells."""
        counts = Counter(member.rank for member in self.members)
        shared = [
            f"{number} traces are of rank {rank}: job[{rank}] is the first, job.windows({rank}) all"
            for rank, number in counts.items()
            if number > 1 and rank is not None
        ]
        unknown = f"{text.plural(counts[None], 'trace')} of unknown rank: iterating gives them, after the others"
        return shared + ([unknown] if counts[None] and len(self._members) > 1 else [])

    @property
    def ranks(self) -> list[int]:
        """The ranks there are traces of, ascending."""
        return sorted({member.rank for member in self._members if member.rank is not None})

    def windows(self, rank: int) -> list[Trace]:
        """All traces of a rank, in the order of their files' names. KeyError when there is none.

        Reads those that are not read yet.
        """
        found = self._of(rank)
        if not found:
            self.load()  # a file may tell another rank than its name
            found = self._of(rank)
        if not found:
            raise KeyError(f"expected one of the ranks {self.ranks}, found {rank}")
        return [member.trace for member in found]

    def _of(self, rank: int) -> list[Member]:
        """The members of a rank, read: only then is it certain that they are."""
        while True:
            found = [member for member in self.members if member.rank == rank]
            if all(member.is_read for member in found):
                return found
            _read_all([member for member in found if not member.is_read], progress=None)

    def load(self, *, progress: bool | None = None) -> TraceSet:
        """Reads what is not read yet, in parallel, and returns the set. TraceError when a trace cannot be read.

        `progress` as in `read_dir`. Ctrl-C ends it within a fraction of a second; what was read until then stays read.
        """
        _read_all([member for member in self.members if not member.is_read], progress=progress)
        return self

    def export(self, path: str | os.PathLike[str], table: str = "events") -> Path:
        """Writes a table of all traces to one file, as `Trace.export` does, with the columns `rank` and `window` first.

        `window` counts the traces of a rank from 0. Reads what is not read yet.
        """
        return export(self.parts(table), path)

    def parts(self, table: str) -> list[Part]:
        """What `export` writes: a part for each trace."""
        self.load()
        return [
            Part(member.trace.table(table), {"rank": rank, "window": window})
            for member, (rank, window) in zip(self.members, places(self.members), strict=True)
        ]

    def analyze(
        self,
        name: str,
        *,
        rank: int | Iterable[int] | None = None,
        executor: lazy.Executor | None = None,
        progress: bool | None = None,
        **request: Any,
    ) -> lazy.AnalysisResult:
        """An analysis by its name: of each trace, or of the job where it compares ranks.

        `rank`, one or several, is all that is looked at. Reads what is not read yet; ValueError when there is no trace,
        or none of a rank. With an `executor`, or one that `read_dir` was given, its workers read and answer, each about
        one trace at a time, and `progress` says whether to show a bar meanwhile.
        """
        from kinetoscope._analysis.result import answered_of_job

        scattered = self._scattered if executor is None else _scattered(executor, progress=progress)
        if scattered is None or all(member.is_read for member in self._members):
            return answered_of_job(self.chosen(rank), name, request)
        failures = scattered.look(self._members)
        self._members = [member for member in self._members if member not in failures]
        self._skipped |= _skipped(failures)
        return scattered.answer(self._of_ranks(rank), name, request)

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        title: str | None = None,
        redact: bool = False,
        max_size: int | str | None = None,
    ) -> Path:
        """Writes one HTML file about all traces: each rank's time, who was waited for, findings, the timeline.

        As `Trace.report`. Reads what is not read yet; ValueError when there is no trace.
        """
        from kinetoscope._report.page import write_report

        members = self._chosen(None)
        found = [member.trace for member in members]
        shown = redacted(found) if redact else found
        traces = [(member.rank, trace) for member, trace in zip(members, shown, strict=True)]
        return write_report(traces, path, title or _title(traces), max_size)

    def render_static(self, height: int = 640) -> lazy.Static:
        """The report in a frame, for the output of a notebook's cell: as `Trace.render_static`.

        Reads what is not read yet; ValueError when there is no trace.
        """
        from kinetoscope._analysis.session import Screen
        from kinetoscope._report.page import report_page
        from kinetoscope._report.static import Static

        traces = [(member.rank, member.trace) for member in self._chosen(None)]
        title = _title(traces)
        page = report_page(traces, title, [trace.snapshot() for _, trace in traces])
        return Static(page, Screen(self.on_screen(), "clocks").picture(_PICTURE_WIDTH), title, height)

    def sql(self, query: str, /, **tables: object) -> Table:
        """What a query in SQL answers, as `Trace.sql`; tables have the rows of all traces, after `rank` and `window`.

        `window` is a word of SQL, `"window"` the column. Reads what is not read yet; ValueError when there is no trace.
        """
        from kinetoscope._export.sql import sql

        if not self._members:
            raise ValueError("expected at least one trace, found none")
        own = {name: self.parts(name) for name in _native.Trace.table_names()}
        return sql(query, {**own, **{name: [(table, {})] for name, table in tables.items()}})

    @property
    def clock_offsets(self) -> Table:
        """How far each trace's clock is ahead of the first one's in its group, in ns; nothing takes it away by itself.

        A group (`group`, from 0) has all traces that communications lead to from one to another; offsets of one group
        compare. An offset is the median over communications that end on all ranks at about the same time, such as
        all-reduces; `spread_ns` is the median of how far single ones are from it. Null where no communication tells.
        Reads what is not read yet.
        """
        self.load()
        traces = [_native_of(member) for member in self.members]
        return Table(_native.rank_tables(traces, False).table("clock_offsets"))

    def timeline(
        self, *, rank: int | Iterable[int] | None = None, align: lazy.session.Align = "clocks", height: int = 720
    ) -> lazy.Timeline:
        """All ranks, or some, on one timeline, one below the other; `height` in pixels. Needs anywidget.

        Times are laid over each other as `align` says: by `clocks`, compared by the ends of communications; as
        `recorded`; by the `start` of each trace; or `{"iteration": 3}`, the start of that iteration.
        """
        from kinetoscope._notebook.widget import Timeline

        return Timeline(self.on_screen(rank), align=align, height=height)

    def on_screen(self, rank: int | Iterable[int] | None = None, name: str = "") -> list[lazy.session.Part]:
        """What a timeline shows of these ranks, or of all: each window of a rank, with `name` before its own."""
        from kinetoscope._analysis.session import Part

        members = self._chosen(rank)
        found = places(members)
        several = {number for number, window in found if window}
        windows = [f"window {window}" if number in several else "" for number, window in found]
        names = [" · ".join(filter(None, (name, window))) for window in windows]
        return [Part(member.trace, name, member.rank) for member, name in zip(members, names, strict=True)]

    def chosen(self, rank: int | Iterable[int] | None) -> list[tuple[int | None, _native.Trace]]:
        """The traces of these ranks, or all, read, each with its rank."""
        return [_native_of(member) for member in self._chosen(rank)]

    def _chosen(self, rank: int | Iterable[int] | None) -> list[Member]:
        self.load()
        return self._of_ranks(rank)

    def _of_ranks(self, rank: int | Iterable[int] | None) -> list[Member]:
        if not self._members:
            raise ValueError("expected at least one trace, found none")
        if rank is None:
            return self.members
        wanted = {rank} if isinstance(rank, int) else set(rank)
        unknown = sorted(wanted - set(self.ranks))
        if unknown or not wanted:
            raise ValueError(f"expected one or more of the ranks {self.ranks}, found {unknown}")
        return [member for member in self.members if member.rank in wanted]

    def __getitem__(self, rank: int) -> Trace:
        return self.windows(rank)[0]

    def __iter__(self) -> Iterator[Trace]:
        return (member.trace for member in self.members)

    def __len__(self) -> int:
        return len(self._members)

    def __contains__(self, rank: object) -> bool:
        return rank in self.ranks

    def _rows(self) -> list[list[str]]:
        return [
            [
                "?" if member.rank is None else str(member.rank),
                member.rank_from,
                member.pair.kineto or "–",
                member.pair.execution or "–",
                member.pair.how,
                *(map(text.count, counts) if (counts := member.counts()) else ("not read", "")),
            ]
            for member in self.members
        ]

    _HEADER = ("rank", "rank from", "Kineto trace", "Execution Trace", "paired by", "events", "nodes")

    def _remarks(self) -> list[str]:
        skipped = [f"{name}: {why}" for name, why in self.skipped.items()]
        more = [f"and {len(skipped) - _SHOWN_SKIPPED:,} more"] if len(skipped) > _SHOWN_SKIPPED else []
        return [*self.notes, *(["left out:"] if skipped else []), *skipped[:_SHOWN_SKIPPED], *more]

    def __repr__(self) -> str:
        title = f"TraceSet: {text.plural(len(self), 'trace')} of {text.plural(len(self.ranks), 'rank')}"
        right = [name in ("rank", "events", "nodes") for name in self._HEADER]
        rows = [[text.printable(cell) for cell in row] for row in self._rows()]
        return "\n".join([title, text.aligned(self._HEADER, rows, right), *map(text.printable, self._remarks())])

    def _repr_html_(self) -> str:
        header = "".join(f"<th>{text.escaped(cell)}</th>" for cell in self._HEADER)
        body = "".join(f"<tr>{''.join(f'<td>{text.escaped(cell)}</td>' for cell in row)}</tr>" for row in self._rows())
        notes = "".join(f"<p>{text.escaped(text.printable(note))}</p>" for note in self._remarks())
        return f"<table><thead><tr>{header}</tr></thead><tbody>{body}</tbody></table>{notes}"


def _native_of(member: Member) -> tuple[int | None, _native.Trace]:
    return member.rank, member.trace._native  # noqa: SLF001 - the core compares them


def _title(traces: Sequence[tuple[int | None, Trace]]) -> str:
    """Of a page about them."""
    return traces[0][1].title if len(traces) == 1 else f"{text.plural(len(traces), 'trace')} of a job"


def places(members: Sequence[Member]) -> list[tuple[int | None, int]]:
    """The rank of each member, and which of its rank's traces it is, from 0."""
    windows: Counter[int | None] = Counter()
    found: list[tuple[int | None, int]] = []
    for member in members:
        found.append((member.rank, windows[member.rank]))
        windows[member.rank] += 1
    return found


def trace_set(members: Sequence[Member], skipped: Mapping[str, str], *, progress: bool | None) -> TraceSet:
    """The set of these members, all read; those that cannot be are left out."""
    failures = _read_all(members, progress=progress, may_fail=True)
    return TraceSet([member for member in members if member not in failures], {**skipped, **_skipped(failures)})


def scattered_set(
    members: Sequence[Member], skipped: Mapping[str, str], executor: Executor, *, progress: bool | None
) -> TraceSet:
    """The set of these members, all read by an executor's workers; those that cannot be are left out."""
    scattered = _scattered(executor, progress=progress)
    failures = scattered.look(members)
    left = [member for member in members if member not in failures]
    return TraceSet(left, {**skipped, **_skipped(failures)}, scattered)


def _scattered(executor: Executor, *, progress: bool | None) -> Scattered:
    from kinetoscope._remote.coordinator import Scattered

    return Scattered(executor, progress)


def _skipped(failures: Mapping[Member, str]) -> dict[str, str]:
    return {name: why for member, why in failures.items() for name in member.pair.names}


def _read_all(members: Sequence[Member], *, progress: bool | None, may_fail: bool = False) -> dict[Member, str]:
    """Reads members in parallel. Returns those that cannot be read, and why; or raises it, unless they `may_fail`."""

    def read(member: Member, reading: _native.Reading) -> str | None:
        try:
            member.read(reading)
        except (_native.TraceError, OSError) as error:
            if not may_fail:
                raise
            return str(error)
        return None

    size = sum(member.size for member in members)
    with bar("reading traces", size, len(members), wanted=progress) as look:
        whys = for_each(members, read, look)
    return {member: why for member, why in zip(members, whys, strict=True) if why is not None}


def _order(member: Member) -> tuple[bool, int, bytes]:
    return member.rank is None, member.rank or 0, natural(member.pair.names[0])
