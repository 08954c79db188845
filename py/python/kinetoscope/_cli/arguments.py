"""What commands take: traces, how they are read, and numbers."""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from kinetoscope import _native
from kinetoscope._cli.output import ranked, refuse_input
from kinetoscope._cli.terminal import busy
from kinetoscope._load.job import read_dir, read_several
from kinetoscope._load.read import read
from kinetoscope.tables import Tables
from kinetoscope.trace_set import TraceSet

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

_MAX_COUNT = 1 << 63


def count(text: str) -> int:
    """A number that is not negative and that the native reader can take."""
    return _whole(text, "a count", 0)


def integer(text: str) -> int:
    """A number that may be negative, which the native reader can take, too."""
    return _whole(text, "an integer", -_MAX_COUNT)


def _whole(text: str, expected: str, least: int) -> int:
    try:
        found = int(text)
    except ValueError:
        found = _MAX_COUNT
    if not least <= found < _MAX_COUNT:
        raise _unlike(expected, text)
    return found


def number(text: str) -> float:
    """A number that is not negative."""
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not (math.isfinite(found) and found >= 0):
        raise _unlike("a number from 0", text)
    return found


def _unlike(expected: str, found: str) -> argparse.ArgumentTypeError:
    return argparse.ArgumentTypeError(f"expected {expected}, found {found}")


def add_reading(command: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """How a trace is read."""
    command.add_argument("--et", help="Execution Trace recorded with it (default: the one beside it)")
    command.add_argument(
        "--max-bytes", type=count, metavar="N", help="refuse files that are larger than this, decompressed"
    )
    command.add_argument("--cache", metavar="DIR", help="keep snapshots here, and read them the next time")


def read_asked(options: argparse.Namespace) -> Trace | TraceSet | Tables:
    """What is at `options.trace`, whatever it is."""
    if not options.trace:
        raise ValueError("expected the path of a trace, found an empty one")
    if output := getattr(options, "output", None):
        refuse_input(output, [options.trace, options.et or ""])
    common = {"max_bytes": options.max_bytes, "cache": options.cache}
    if options.trace.endswith("/") or Path(options.trace).is_dir():
        if options.et or options.no_et:
            wanted = "--et" if options.et else "--no-et"
            raise ValueError(f"expected a file with {wanted}, found a folder: {options.trace}")
        return read_dir(options.trace, **common)
    with busy(f"reading {options.trace}"):
        return read(options.trace, False if options.no_et else options.et, **common)


def one_or_all(options: argparse.Namespace) -> Trace | TraceSet:
    """The trace or the traces at `options.trace`."""
    found = read_asked(options)
    if isinstance(found, Tables):
        other = f"{found.sort}, which summary, export and doctor take"
        raise _native.UnsupportedTraceError(f"expected a trace, found {other}: {options.trace}")
    return found


def all_of(options: argparse.Namespace) -> Trace | TraceSet:
    """The traces at all of `options.traces`; of `options.rank` alone, where one is asked for."""
    if len(options.traces) == 1:
        options.trace = options.traces[0]
        found = one_or_all(options)
    else:
        found = _several(options)
    return found if options.rank is None else _of_rank(found, options.rank)


def _several(options: argparse.Namespace) -> TraceSet:
    wanted = "--et" if options.et else "--no-et" if options.no_et else None
    if wanted:
        raise ValueError(f"expected one file with {wanted}, found {len(options.traces)}")
    if options.output:
        refuse_input(options.output, options.traces)
    job = read_several(options.traces, max_bytes=options.max_bytes, cache=options.cache)
    for name, why in job.skipped.items():
        print(f"kinetoscope: {name} was left out: {why}", file=sys.stderr)
    return job


def _of_rank(found: Trace | TraceSet, rank: int) -> Trace | TraceSet:
    if not isinstance(found, TraceSet):
        if found.rank in {rank, None}:
            return found
        raise ValueError(f"expected a trace of rank {rank}, found rank {found.rank}")
    wanted = [member for member in found.members if member.rank == rank]
    if not wanted:
        raise ValueError(f"expected one of the ranks {found.ranks}, found {rank}")
    return TraceSet(wanted)


def tell_defects(found: Trace | TraceSet | Tables) -> None:
    """What was wrong with the files, on the error stream: what is written says it no more."""
    for rank, part in ranked(found) if isinstance(found, TraceSet) else [("", found)]:
        tell_defects_of(part, rank)


def tell_defects_of(part: Trace | Tables, rank: str) -> None:
    """The same of one of them."""
    which = f"rank {rank}: " if rank else ""
    for severity, number, message in part.health.select("severity", "count", "message").rows():
        if severity == "defect":
            print(f"kinetoscope: {which}{number:,} × {message}", file=sys.stderr)
