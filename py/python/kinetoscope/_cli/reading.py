"""Reads the traces that a command line names, and reports their defects."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypedDict

from kinetoscope import _native
from kinetoscope._base import lazy
from kinetoscope._base.tell import tell_problem
from kinetoscope._cli.arguments import Group, count
from kinetoscope._cli.terminal import busy
from kinetoscope._export.names import ranked
from kinetoscope._io.inputs import note_input, refuse_input
from kinetoscope._load.job import read_dir, read_several
from kinetoscope._load.read import read
from kinetoscope.tables import Tables
from kinetoscope.trace_set import TraceSet

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from kinetoscope.trace import Trace

_TRACE = "trace or job: file, folder, archive or URL"


class _SharedOptions(TypedDict):
    max_bytes: int | None
    cache: str | None
    ranks: lazy.RankMode
    iterations: list[str] | None
    capture: list[str] | None


class ReadingOptions(NamedTuple):
    """Options of a command that reads traces."""

    et: str | None
    no_et: bool
    max_bytes: int | None
    cache: str | None
    merge_ranks: bool
    iterations: list[str] | None
    capture: list[str] | None
    memory: str | None

    @property
    def shared(self) -> _SharedOptions:
        """Arguments that `read`, `read_dir` and `read_several` take."""
        ranks: lazy.RankMode = "merge" if self.merge_ranks else "split"
        return {
            "max_bytes": self.max_bytes,
            "cache": self.cache,
            "ranks": ranks,
            "iterations": self.iterations,
            "capture": self.capture,
        }


def add_trace(parser: argparse.ArgumentParser, nargs: str | None = None) -> None:
    """Adds the argument `trace`."""
    parser.add_argument("trace", nargs=nargs, metavar="TRACE", help=_TRACE)


def add_traces(parser: argparse.ArgumentParser, nargs: str = "+") -> None:
    """Adds the argument `traces`."""
    parser.add_argument("traces", nargs=nargs, metavar="TRACE", help=f"{_TRACE}; several form one job")


def add_reading(parser: argparse.ArgumentParser, *, needs_et: bool = False) -> None:
    """Adds the arguments of `ReadingOptions`; no `--no-et` if the command `needs_et`."""
    group = parser.add_argument_group("Input")
    group.add_argument("--et", metavar="FILE", help="Execution Trace of the same run (default: the file beside TRACE)")
    if needs_et:
        group.set_defaults(no_et=False)
    else:
        group.add_argument("--no-et", action="store_true", help="read no Execution Trace")
    group.add_argument("--max-bytes", type=count, metavar="N", help="refuse files of more bytes after decompression")
    group.add_argument("--cache", metavar="DIR", help="store snapshots in DIR to read the same files faster")
    group.add_argument("--merge-ranks", action="store_true", help="read a file with several ranks as one trace")
    help_text = 'name of the events that mark iterations, or "gaps"; * stands for any text; repeatable'
    group.add_argument("--iterations", action="append", metavar="NAME", help=help_text)
    help_text = "trace of the capture of CUDA or HIP graphs: file or folder; repeatable"
    group.add_argument("--capture", action="append", metavar="FILE", help=help_text)
    group.add_argument("--memory", metavar="FILE", help="memory snapshot of the same run")


def add_rank(group: Group) -> None:
    """Adds the argument `rank`."""
    group.add_argument("--rank", type=count, metavar="N", help="select one rank of a job")


def read_path(
    path: str, options: ReadingOptions, output: Path | None = None, executor: Executor | None = None
) -> Trace | TraceSet | Tables:
    """Reads a file, or a folder with an executor, of any supported format.

    Raises ValueError if `path` is empty, if `output` is an input file, or if options and path
    contradict each other.
    """
    if not path:
        raise ValueError("expected the path of a trace, found an empty one")
    if output:
        note_input(path)
        note_input(options.et or "")
        note_input(options.memory or "")
        refuse_input(output)
    if options.et and options.no_et:
        raise ValueError("expected --et or --no-et, found both")
    if path.endswith("/") or Path(path).is_dir():
        if options.et or options.memory:
            option = "--et" if options.et else "--memory"
            raise ValueError(f"expected a file with {option}, found a folder: {path}")
        et = False if options.no_et else None
        try:
            return read_dir(path, et=et, executor=executor, **options.shared)
        except _native.UnsupportedTraceError:  # a folder of dumps of a flight recorder
            return read(path, max_bytes=options.max_bytes)
    if executor:
        raise ValueError(f"expected a folder with --workers, found a file: {path}")
    with busy(f"reading {path}"):
        execution = False if options.no_et else options.et
        return read(path, execution, memory=options.memory, **options.shared)


def read_trace(path: str, options: ReadingOptions, output: Path | None = None) -> Trace | TraceSet:
    """Reads the trace or job at a path; the traces of a folder are a job.

    Raises the errors of `read_path`, and UnsupportedTraceError for other formats.
    """
    found = read_path(path, options, output)
    if isinstance(found, Tables):
        raise _native.UnsupportedTraceError(f"expected a trace, found {found.sort}: {path}")
    return found


def read_recordings(
    paths: Sequence[str],
    options: ReadingOptions,
    *,
    rank: int | None,
    output: Path | None,
    executor: Executor | None = None,
) -> Trace | TraceSet | Tables:
    """Reads one path as `read_path`, or several as one job, and selects a rank.

    Raises the errors of `read_path`, and ValueError if the rank is missing or `output` is an
    input file.
    """
    if executor and len(paths) > 1:
        raise ValueError(f"expected one folder with --workers, found {len(paths)} paths")
    found = read_path(paths[0], options, output, executor) if len(paths) == 1 else _read_several(paths, options, output)
    selected = found if rank is None else _select_rank(found, rank)
    if output:
        refuse_input(output)
    return selected


def report_defects(found: Trace | TraceSet | Tables) -> None:
    """Prints defects of the input to stderr, because a written file does not contain them."""
    for rank, trace in ranked(found) if isinstance(found, TraceSet) else [("", found)]:
        report_defects_of(trace, rank)


def report_defects_of(trace: Trace | Tables, rank: str) -> None:
    """Prints defects of one trace to stderr, after its rank unless that is empty."""
    prefix = f"rank {rank}: " if rank else ""
    for severity, number, message in trace.health.select("severity", "count", "message").rows():
        if severity == "defect":
            tell_problem(f"{prefix}{number:,} × {message}")


def _read_several(paths: Sequence[str], options: ReadingOptions, output: Path | None) -> TraceSet:
    if options.et or options.memory:
        option = "--et" if options.et else "--memory"
        raise ValueError(f"expected one file with {option}, found {len(paths)}")
    if output:
        for path in paths:
            note_input(path)
        refuse_input(output)
    et = False if options.no_et else None
    job = read_several(paths, et=et, **options.shared)
    for path, reason in job.skipped.items():
        tell_problem(f"skipped {path}: {reason}")
    return job


def _select_rank(found: Trace | TraceSet | Tables, rank: int) -> Trace | TraceSet:
    if isinstance(found, Tables):
        raise ValueError(f"expected a trace with --rank, found {found.sort}")  # noqa: TRY004 - a user's mistake
    if not isinstance(found, TraceSet):
        if found.rank == rank:
            return found
        known = "a trace that records no rank" if found.rank is None else f"rank {found.rank}"
        raise ValueError(f"expected a trace of rank {rank}, found {known}")
    members = [member for member in found.members if member.rank == rank]
    if not members:
        raise ValueError(f"expected one of the ranks {found.ranks}, found {rank}")
    return TraceSet(members)
