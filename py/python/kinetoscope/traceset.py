"""All traces of a job: what each of its ranks recorded."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from html import escape
from itertools import repeat
from pathlib import Path
from typing import NamedTuple

from kinetoscope import _native, text
from kinetoscope.discover import Pair, find
from kinetoscope.trace import Trace

_THREADS = 4


class Member(NamedTuple):
    """One trace of a job, and where it came from."""

    rank: int | None
    """None when neither the file nor its name tells one."""
    rank_from: str
    """`file` (`distributedInfo`), `name`, or `unknown`."""
    trace: Trace
    files: Pair


class TraceSet:
    """All traces of a job, in the order of their ranks. A rank may have several: one for each window that was recorded.

    `job[rank]` is the first window of a rank, `job.windows(rank)` all of them; iterating gives every trace.
    `repr` says which files were paired, and `notes` what is odd about them.
    """

    def __init__(self, members: list[Member], notes: list[str] | None = None) -> None:
        self.members = sorted(members, key=lambda member: (member.rank is None, member.rank or 0))
        self.notes = notes or []

    @property
    def ranks(self) -> list[int]:
        """The ranks there are traces of, ascending."""
        return sorted({member.rank for member in self.members if member.rank is not None})

    def windows(self, rank: int) -> list[Trace]:
        """All traces of a rank, in the order of their files' names. KeyError when there is none."""
        found = [member.trace for member in self.members if member.rank == rank]
        if not found:
            raise KeyError(f"expected one of the ranks {self.ranks}, found {rank}")
        return found

    def __getitem__(self, rank: int) -> Trace:
        return self.windows(rank)[0]

    def __iter__(self) -> Iterator[Trace]:
        return (member.trace for member in self.members)

    def __len__(self) -> int:
        return len(self.members)

    def __contains__(self, rank: object) -> bool:
        return rank in self.ranks

    def _rows(self) -> list[list[str]]:
        return [
            [
                "?" if member.rank is None else str(member.rank),
                member.rank_from,
                member.files.kineto.name if member.files.kineto else "–",
                member.files.execution.name if member.files.execution else "–",
                member.files.how,
                text.count(member.trace.num_events),
                text.count(len(member.trace.nodes)),
            ]
            for member in self.members
        ]

    _HEADER = ("rank", "rank from", "Kineto trace", "Execution Trace", "paired by", "events", "nodes")

    def __repr__(self) -> str:
        title = f"TraceSet: {text.plural(len(self), 'trace')} of {text.plural(len(self.ranks), 'rank')}"
        right = [name in ("rank", "events", "nodes") for name in self._HEADER]
        rows = [[text.printable(cell) for cell in row] for row in self._rows()]
        return "\n".join([title, text.aligned(self._HEADER, rows, right), *map(text.printable, self.notes)])

    def _repr_html_(self) -> str:
        header = "".join(f"<th>{escape(cell)}</th>" for cell in self._HEADER)
        body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in self._rows())
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        return f"<table><thead><tr>{header}</tr></thead><tbody>{body}</tbody></table>{notes}"


def read_dir(folder: str | os.PathLike[str], *, max_bytes: int | None = None) -> TraceSet:
    """Reads all traces of a folder: the files of `ks.profile`, of `tensorboard_trace_handler`, HTA, Chakra and PARAM.

    The rank is the one in the file (`distributedInfo`), else the one in its name. Two files of one rank are both kept.
    A file that is no trace is passed over, with a note. `max_bytes` bounds the size of each file after decompression.
    OSError when the folder cannot be listed; TraceError when no file of it is a trace.
    """
    found = find(folder)
    with ThreadPoolExecutor(_THREADS) as threads:  # reading lets go of the interpreter's lock
        results = list(threads.map(_read_pair, found.pairs, repeat(max_bytes)))
    members = [member for member, _ in results if member]
    notes = [note for _, note in results if note]
    notes += [f"{path.name}: passed over, it is there compressed, too" for path in found.copies]
    if not members:
        seen = "; ".join(notes) or "no .json or .json.gz file"
        raise _native.TraceParseError(f"expected traces in {os.fspath(folder)}, found {seen}")
    return TraceSet(members, notes + _shared_ranks(members))


def _read_pair(pair: Pair, max_bytes: int | None) -> tuple[Member | None, str | None]:
    """The trace of a pair, and what is to be said about it. The Kineto trace is read even when the other cannot be."""
    try:
        return _member(pair, max_bytes), None
    except (_native.TraceError, OSError) as error:
        note = f"{' and '.join(path.name for path in pair[:2] if isinstance(path, Path))}: {error}"
    if pair.kineto is None or pair.execution is None:
        return None, note
    member, alone = _read_pair(Pair(pair.kineto, None, "alone"), max_bytes)
    return member, alone or note


def _member(pair: Pair, max_bytes: int | None) -> Member:
    kineto, execution = (str(path) if path else None for path in (pair.kineto, pair.execution))
    native = _native.Trace.read([(path, None) for path in (kineto, execution) if path], max_bytes=max_bytes)
    return Member(*_rank(native, pair), Trace(native, kineto, execution), pair)


def _rank(native: _native.Trace, pair: Pair) -> tuple[int | None, str]:
    if native.rank is not None:
        return native.rank, "file"
    return (None, "unknown") if pair.rank is None else (pair.rank, "name")


def _shared_ranks(members: list[Member]) -> list[str]:
    counts = Counter(member.rank for member in members if member.rank is not None)
    return [
        f"{number} traces are of rank {rank}: job[{rank}] is the first, job.windows({rank}) all"
        for rank, number in sorted(counts.items())
        if number > 1
    ]
