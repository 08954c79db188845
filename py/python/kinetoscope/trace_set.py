"""Traces of a job: all ranks, read in parallel or at first use."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinetoscope import _native
from kinetoscope._analysis.job_methods import JobAnalyses
from kinetoscope._base import lazy, text
from kinetoscope._export.job_files import JobFiles
from kinetoscope._export.tables import Part, export
from kinetoscope._io.discovery import Pair
from kinetoscope._io.paths import natural
from kinetoscope._load.member import Member, merged_files, split_members
from kinetoscope._load.read import Options, RankPart
from kinetoscope._load.unread import by_file, read_all, unread_files, without_names
from kinetoscope.table import Table
from kinetoscope.trace import Trace

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from kinetoscope._remote.coordinator import Coordinator

_MAX_SHOWN_SKIPPED = 10
_PICTURE_WIDTH_PX = 900


class TraceSet(JobAnalyses, JobFiles):
    """All traces of a job, in order of rank. Returned by `kinetoscope.read_dir`.

    A rank may have several windows: `job[rank]` is the first, `job.windows(rank)` lists all.
    Iteration yields every trace. `repr(job)` shows `pairs`, `skipped` and `notes`.

    Methods read the traces that are not in memory yet, unless workers of an executor read them.
    """

    def __init__(
        self,
        members: Sequence[Member],
        skipped: Mapping[str, str] | None = None,
        coordinator: lazy.Coordinator | None = None,
    ) -> None:
        self._members = list(members)
        self._skipped = dict(skipped or {})
        self._coordinator = coordinator

    @property
    def members(self) -> list[Member]:
        """Recordings with their files, sorted by rank and name."""
        return sorted(self._members, key=_order)

    @property
    def pairs(self) -> list[Pair]:
        """Names of the files of each trace and how they were paired, in order of the traces."""
        return [member.pair for member in self.members]

    @property
    def skipped(self) -> dict[str, str]:
        """Files without a trace in the job, by name, each with the reason."""
        failures = (member.failures for member in self._members)
        return {name: reason for part in (self._skipped, *failures) for name, reason in sorted(part.items())}

    @property
    def notes(self) -> list[str]:
        """Remarks about merged files, ranks with several traces, and traces of unknown rank."""
        counts = Counter(member.rank for member in self.members)
        shared = [
            f"rank {rank} has {number} traces: job[{rank}] is the first, job.windows({rank}) lists all"
            for rank, number in counts.items()
            if number > 1 and rank is not None
        ]
        unknown = f"{text.plural(counts[None], 'trace')} of unknown rank: last in an iteration over the job"
        return [
            *merged_files(self.members),
            *shared,
            *([unknown] if counts[None] and len(self._members) > 1 else []),
        ]

    @property
    def ranks(self) -> list[int]:
        """Ranks with a trace, ascending."""
        return sorted({member.rank for member in self._members if member.rank is not None})

    def windows(self, rank: int) -> list[Trace]:
        """Returns all traces of a rank, in natural order of file names.

        Raises KeyError for a rank without a trace.
        """
        members = self._read_rank(rank)
        if not members:
            self.load()  # the rank inside a file overrides its name
            members = self._read_rank(rank)
        if not members:
            raise KeyError(f"expected one of the ranks {self.ranks}, found {rank}")
        return [member.trace for member in members]

    def _read_rank(self, rank: int) -> list[Member]:
        """Reads the members of a rank, until all members that claim the rank are read."""
        while True:
            members = [member for member in self.members if member.rank == rank]
            if all(member.is_read for member in members):
                return members
            read_all([member for member in members if not member.is_read], progress=None)
            self._split_merged()

    def load(self, *, progress: bool | None = None) -> TraceSet:
        """Reads all traces that are not in memory yet, in parallel. Returns the set itself.

        `progress` as in `read_dir`. Ctrl-C stops within a fraction of a second; traces that are
        complete by then stay in memory. Raises TraceError for an unreadable trace.
        """
        read_all([member for member in self.members if not member.is_read], progress=progress)
        self._split_merged()
        return self

    def _split_merged(self) -> None:
        """Replaces members whose files turned out to be merged with a member per rank."""
        self._members, copies = split_members(self._members)
        self._skipped |= copies

    def of_ranks(self, ranks: Iterable[int]) -> TraceSet:
        """Returns the traces of some ranks. Raises ValueError for a missing rank."""
        self.load()
        return TraceSet(self._of_ranks(ranks), self._skipped)

    def export(self, path: str | os.PathLike[str], table: str = "events") -> Path:
        """Writes a table of all traces to one file, as `Trace.export` does.

        Two more columns come first: `rank`, and `window`, the index among the traces of the rank,
        from 0. Raises the errors of `Trace.export`.
        """
        return export(self.parts(table), path)

    def to_chakra(self, path: str | os.PathLike[str], *, allow_mismatches: bool = False) -> list[lazy.Chakra]:
        """Writes one Chakra graph per trace, `rank.0.et` and so on for `rank.et`, and the groups.

        Compares the ranks first: a simulator would wait forever for a rank that lacks a call. With
        `allow_mismatches`, writes the graphs anyway, and warns. Further as `Trace.to_chakra`.

        Raises DisagreementError, a ValueError that names the ranks and the call, before it writes
        anything. Raises the errors of `Trace.to_chakra`.
        """
        from kinetoscope.chakra import write_job

        return write_job(self, Path(path), allow_mismatches=allow_mismatches)

    def parts(self, table: str) -> list[Part]:
        """Returns the parts that `export` writes, one per trace."""
        self.load()
        return [
            Part(member.trace.table(table), {"rank": rank, "window": window})
            for member, (rank, window) in zip(self.members, ranks_and_windows(self.members), strict=True)
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
        """Runs an analysis by its name: for each trace, or across ranks if it compares ranks.

        `rank` selects one rank or several. With an `executor`, or one that was given to
        `read_dir`, its workers read and analyse one trace at a time. `progress` then shows or
        hides a progress bar.

        Raises ValueError for a set without traces, and for a rank without a trace. Raises
        TraceError for a bad value in `request`.
        """
        from kinetoscope._analysis.result import answered_of_job

        coordinator = self._coordinator if executor is None else _new_coordinator(executor, progress=progress)
        if coordinator is None or all(member.is_read for member in self._members):
            return answered_of_job(self.chosen(rank), name, request)
        self._inspect(coordinator)
        return coordinator.analyze(self._of_ranks(rank), name, request)

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        title: str | None = None,
        redact: bool | str = False,
        max_size: int | str | None = None,
        static: bool = False,
    ) -> Path:
        """Writes one HTML file about all traces: time by rank, late ranks, findings, timeline.

        Of more than 16 whole traces, the timeline has few: of the slowest, median and fastest rank,
        and of the one that others await. All other sections describe all ranks. Workers of an
        executor that was given to `read_dir` read and analyse the traces. With `redact`, this
        process does.

        Arguments and errors are those of `Trace.report`. Raises ValueError for a set without
        traces.
        """
        from kinetoscope._report.job import MAX_TIMELINES, write_job_report
        from kinetoscope._report.page import write_report

        if redact:
            return self._redacted(level=redact).report(path, title=title, max_size=max_size, static=static)
        if len(self._members) > MAX_TIMELINES:
            gathered = members, job = self._gather(Path(path).parent)
            lost = (name for member in self.members if member not in members for name in member.pair.names)
            unread = [*self._unread, *((name, "it can no longer be read") for name in lost)]
            if not job.is_trimmed():
                return write_job_report(
                    gathered, path, title or _title(members), max_size, static=static, unread=unread
                )
        traces = [(member.rank, member.trace) for member in self._select(None)]
        return write_report(traces, path, title or _title(traces), max_size, static=static, unread=self._unread)

    def _redacted(self, *, level: bool | str) -> TraceSet:
        from kinetoscope._load.redaction import redacted

        members = self._select(None)
        traces = redacted([member.trace for member in members], level=level)
        return TraceSet(
            [
                Member(member.pair, {}, {}, member.recording.options, trace, member.part)
                for member, trace in zip(members, traces, strict=True)
            ],
            without_names(self.skipped),
        )

    @property
    def _unread(self) -> list[tuple[str, str]]:
        """Files of the job that could not be read, each with the reason."""
        return unread_files(self.skipped)

    def _gather(self, folder: Path) -> tuple[list[Member], _native.GatheredJob]:
        """Collects what a report in `folder` tells about all ranks."""
        from kinetoscope._remote.coordinator import Coordinator

        coordinator = self._coordinator or Coordinator(None)
        if not self._coordinator:
            self.load()
        self._inspect(coordinator)
        return coordinator.gather(self._of_ranks(None), lambda member: member.link(folder))

    def _inspect(self, coordinator: lazy.Coordinator) -> None:
        """Lets workers read all members. Skips unreadable ones."""
        failures = coordinator.inspect(self._members)
        self._members = [member for member in self._members if member not in failures]
        self._skipped |= by_file(failures)
        self._split_merged()

    def render_static(self, height: int = 640) -> lazy.Static:
        """Returns the report in a frame for a notebook output, as `Trace.render_static`.

        `height` is in pixels. Raises ValueError for a set without traces.
        """
        from kinetoscope._analysis.session import TimelineSession
        from kinetoscope._report.page import report_page
        from kinetoscope._report.static import Static

        traces = [(member.rank, member.trace) for member in self._select(None)]
        page = report_page(traces, title := _title(traces), self._unread)
        return Static(page, TimelineSession(self.on_screen(), "clocks").picture(_PICTURE_WIDTH_PX), title, height)

    def sql(self, query: str, /, **tables: object) -> Table:
        """Runs a SQL query, as `Trace.sql`, on tables with the rows of all traces.

        Each table begins with the columns `rank` and `window`. Write `"window"` in quotes, because
        `window` is a SQL keyword. Raises the errors of `Trace.sql`, and ValueError for a set
        without traces.
        """
        from kinetoscope._export.sql import sql

        if not self._members:
            raise ValueError("expected at least one trace, found none")
        own = {name: self.parts(name) for name in _native.Trace.table_names()}
        return sql(query, {**own, **{name: [(table, {})] for name, table in tables.items()}})

    @property
    def clock_offsets(self) -> Table:
        """Clock offsets between the traces, in ns. Times in tables are not corrected.

        `offset_ns` is the time by which a clock is ahead of the clock of the first trace of its
        group. A group (`group`, from 0) holds the traces that communications connect, directly or
        through other traces; only its own offsets compare. An offset is the median over
        communications that end at about the same time on all ranks, such as all-reduces.
        `spread_ns` is the median distance of single communications from the offset. Both are null
        without such communications.
        """
        self.load()
        traces = [_native_of(member) for member in self.members]
        return Table(_native.rank_tables(traces, False).table("clock_offsets"))

    def diff(self, rank: int, against: int | None = None, **part: lazy.Any) -> lazy.Differences:
        """Compares a rank with another one: what takes it longer. Returns the result of `ks.diff`.

        `against` is the other rank; default: the one with the median iteration. `part` is a
        selection for both. Raises KeyError for a rank without a trace.

        ::

            job.diff(rank=3).flamegraph(classes=True).plot()
        """
        from kinetoscope._analysis.differences import diff

        if against is None:
            traces = self.chosen(None)
            typical = _native.typical_trace(traces)
            against = None if typical is None else traces[typical][0]
        return diff(self[against if against is not None else rank], self[rank], **part)

    def timeline(
        self, *, rank: int | Iterable[int] | None = None, align: lazy.session.Align = "clocks", height: int = 720
    ) -> lazy.Timeline:
        """Shows the ranks below each other on one timeline. Needs anywidget.

        `rank` selects one rank or several. `height` is in pixels. `align` places the ranks in time:

        * `"clocks"`: clocks corrected by the ends of communications
        * `"recorded"`: times as in the files
        * `"start"`: all traces start at the same time
        * `{"iteration": 3}`: this iteration starts at the same time

        Raises ImportError without anywidget, and ValueError for a rank without a trace.
        """
        from kinetoscope._notebook.widget import Timeline

        return Timeline(self.on_screen(rank), align=align, height=height)

    def on_screen(self, rank: int | Iterable[int] | None = None, name: str = "") -> list[lazy.session.Part]:
        """Returns the parts of a timeline: windows with the prefix `name`, and their companions."""
        from kinetoscope._analysis.session import Part, with_companions

        members = self._select(rank)
        positions = ranks_and_windows(members)
        with_windows = {number for number, window in positions if window}
        windows = [f"window {window}" if number in with_windows else "" for number, window in positions]
        names = [" · ".join(filter(None, (name, window))) for window in windows]
        parts = [Part(member.trace, name, member.rank) for member, name in zip(members, names, strict=True)]
        return with_companions(parts)

    def chosen(self, rank: int | Iterable[int] | None) -> list[tuple[int | None, _native.Trace]]:
        """Reads the traces of these ranks, or all; returns each with its rank."""
        return [_native_of(member) for member in self._select(rank)]

    def _select(self, rank: int | Iterable[int] | None) -> list[Member]:
        self.load()
        return self._of_ranks(rank)

    def _of_ranks(self, rank: int | Iterable[int] | None) -> list[Member]:
        if not self._members:
            raise ValueError("expected at least one trace, found none")
        if rank is None:
            return self.members
        selected = {rank} if isinstance(rank, int) else set(rank)
        unknown = sorted(selected - set(self.ranks))
        if unknown or not selected:
            raise ValueError(f"expected one or more of the ranks {self.ranks}, found {unknown}")
        return [member for member in self.members if member.rank in selected]

    def __getitem__(self, rank: int) -> Trace:
        return self.windows(rank)[0]

    def __iter__(self) -> Iterator[Trace]:
        for member in self.members:
            trace = member.trace
            if not (parts := member.parts()):
                yield trace
                continue
            self._members = [*(other for other in self._members if other is not member), *parts]
            yield from (part.trace for part in parts)

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
        skipped = [f"{name}: {reason}" for name, reason in self.skipped.items()]
        more = [f"and {len(skipped) - _MAX_SHOWN_SKIPPED:,} more"] if len(skipped) > _MAX_SHOWN_SKIPPED else []
        return [*self.notes, *(["skipped:"] if skipped else []), *skipped[:_MAX_SHOWN_SKIPPED], *more]

    def __repr__(self) -> str:
        title, header, rows, numbers, *_ = self._section
        printable = [[text.printable(cell) for cell in row] for row in rows]
        return "\n".join([title, text.aligned(header, printable, numbers), *map(text.printable, self._remarks())])

    @property
    def _section(self) -> lazy.Section:
        """The members, for a terminal."""
        title = f"TraceSet: {text.plural(len(self), 'trace')} of {text.plural(len(self.ranks), 'rank')}"
        numbers = [name in ("rank", "events", "nodes") for name in self._HEADER]
        return lazy.Section(title, list(self._HEADER), list(map(list, self._rows())), numbers, 0)

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>{text.escaped(text.printable(note))}</p>" for note in self._remarks())
        return f"{text.html_table(self._HEADER, self._rows())}{notes}"


def _native_of(member: Member) -> tuple[int | None, _native.Trace]:
    return member.rank, member.trace._native  # noqa: SLF001 - an argument of the core


def _title(traces: Sequence[tuple[int | None, Trace]] | Sequence[Member]) -> str:
    """Title of a report."""
    first = traces[0]
    return (
        first[1].title
        if len(traces) == 1 and isinstance(first, tuple)
        else f"{text.plural(len(traces), 'trace')} of a job"
    )


def ranks_and_windows(members: Sequence[Member]) -> list[tuple[int | None, int]]:
    """Returns the rank of each member, and its index among the members of that rank, from 0."""
    windows: Counter[int | None] = Counter()
    positions: list[tuple[int | None, int]] = []
    for member in members:
        positions.append((member.rank, windows[member.rank]))
        windows[member.rank] += 1
    return positions


def read_here(members: Sequence[Member], skipped: Mapping[str, str], *, progress: bool | None) -> TraceSet:
    """Reads all members in this process, and skips unreadable ones."""
    failures = read_all(members, progress=progress, may_fail=True)
    readable, copies = split_members([member for member in members if member not in failures])
    return TraceSet(readable, {**skipped, **by_file(failures), **copies})


def read_by_workers(
    members: Sequence[Member], skipped: Mapping[str, str], executor: Executor, *, progress: bool | None
) -> TraceSet:
    """Reads all members in the workers of an executor, and skips unreadable ones."""
    coordinator = _new_coordinator(executor, progress=progress)
    failures = coordinator.inspect(members)
    readable, copies = split_members([member for member in members if member not in failures])
    return TraceSet(readable, {**skipped, **by_file(failures), **copies}, coordinator)


def job_of_parts(trace: Trace, parts: Sequence[RankPart], options: Options) -> TraceSet:
    """Returns the job of the ranks in a merged file."""
    pair = Pair(trace.source or "bytes", trace.execution_source, "given" if trace.execution_source else "alone")
    traces = [part.trace if options.iteration is None else _relinked(part.trace, options.iteration) for part in parts]
    return TraceSet(
        [Member(pair, {}, {}, options, trace, part) for trace, part in zip(traces, parts, strict=True)],
    )


def _relinked(trace: Trace, iteration: int) -> Trace:
    """Links the nodes of the rank that has them to an iteration."""
    return trace.relink(iteration=iteration) if len(trace.nodes) else trace


def _new_coordinator(executor: Executor, *, progress: bool | None) -> Coordinator:
    from kinetoscope._remote.coordinator import Coordinator

    return Coordinator(executor, progress)


def _order(member: Member) -> tuple[bool, int, bytes]:
    return member.rank is None, member.rank or 0, natural(member.pair.names[0])
