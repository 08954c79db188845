"""Trace files of ranks, and reading several files in parallel."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kinetoscope._base.progress import bar
from kinetoscope._base.threads import for_each
from kinetoscope._base.warnings import warn
from kinetoscope._io.cache import cache_folder
from kinetoscope._io.file import file_at_path
from kinetoscope._io.header import peek
from kinetoscope._load.job import read_dir
from kinetoscope._load.read import Options, read_recording
from kinetoscope._native import TraceError

if TYPE_CHECKING:
    from kinetoscope._load.member import Member
    from kinetoscope._native import Reading
    from kinetoscope.trace import Trace


class MissingTraceError(FileNotFoundError, ValueError):
    """Raised if a trace file does not exist.

    HTA raises ValueError for files of a mapping, and OSError for files of a list.
    """


class RankFile:
    """A trace file that is read at most once."""

    def __init__(self, path: str, rank: int | None = None, member: Member | None = None) -> None:
        self.path = path
        """The path."""
        self.rank = rank
        """The rank, if known before reading."""
        self._member = member
        self._trace: Trace | None = None

    @property
    def size(self) -> int:
        """Size of the file in bytes."""
        return self._member.size if self._member else file_at_path(self.path).size

    @property
    def notes(self) -> list[str]:
        """Warnings about the file, available after reading."""
        return self._member.notes if self._member else []

    def read(self, reading: Reading | None = None) -> Trace:
        """Reads the trace. Raises TraceError or OSError for an unreadable file."""
        if self._trace is None:
            if self._member:
                self._trace = self._member.read(reading)
            else:
                self._trace = read_recording(file_at_path(self.path), None, Options(None, cache_folder(None)), reading)
        return self._trace


def read_all(files: Sequence[RankFile]) -> list[Trace]:
    """Reads files in parallel; shows a progress bar in a terminal or notebook.

    Raises the errors of `RankFile.read`.
    """
    with bar("reading traces", sum(file.size for file in files), len(files), wanted=None) as look:
        traces = for_each(files, RankFile.read, look)
    for note in (note for file in files for note in file.notes):
        warn(note)
    return traces


def files_in_folder(folder: str) -> dict[int, RankFile]:
    """Finds the traces in a folder. Warns if there are none."""
    try:
        members = [(member, member.pair.kineto) for member in read_dir(folder, eager=False).members]
    except (OSError, TraceError, ValueError) as error:
        warn(f"no traces to read: {error}; set trace_dir to a folder of traces, or trace_files to their paths")
        return {}
    return _by_rank(RankFile(str(Path(folder, name)), member.rank, member) for member, name in members if name)


def files_at(paths: Sequence[str]) -> dict[int, RankFile]:
    """Finds the ranks of files. Raises MissingTraceError for a missing file."""
    _expect_files(paths)
    files = [RankFile(path, peek(file_at_path(path)).rank) for path in paths]
    unknown = [file for file in files if file.rank is None]
    for file, trace in zip(unknown, read_all(unknown), strict=True):
        file.rank = trace.rank  # known only now: the rank may follow the events in the file
    return _by_rank(files)


def files_of(paths: Mapping[int, str]) -> dict[int, RankFile]:
    """Returns the files of known ranks. Raises MissingTraceError for a missing file."""
    _expect_files(paths.values())
    return {rank: RankFile(path, rank) for rank, path in paths.items()}


def _by_rank(files: Iterable[RankFile]) -> dict[int, RankFile]:
    """Assigns the first free ranks to files of unknown rank.

    Skips a second file of a rank, with a warning.
    """
    found: dict[int, RankFile] = {}
    for file in sorted(files, key=lambda file: file.rank is None):
        rank = next(free for free in itertools.count() if free not in found) if file.rank is None else file.rank
        if found.setdefault(rank, file) is not file:
            warn(f"skipped {file.path}: {found[rank].path} has rank {rank}, too")
    return dict(sorted(found.items()))


def _expect_files(paths: Iterable[str]) -> None:
    if missing := [path for path in paths if not Path(path).exists()]:
        raise MissingTraceError(f"validation failed: no such file: {missing[0]}; set trace_files to existing traces")
