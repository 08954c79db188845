"""Where a command writes: a file for each trace, named as what is in it, and never one that was read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kinetoscope._export.tables import FORMATS
from kinetoscope.trace_set import TraceSet, places

if TYPE_CHECKING:
    from kinetoscope.tables import Tables
    from kinetoscope.trace import Trace

_PACKED = ".gz"
_ENDINGS = {".json", ".et", ".html", ".kscope", *FORMATS}
"""Those that say what is in a file."""


class Output(NamedTuple):
    """A trace, and the file that is made of it."""

    rank: str
    """What tells it apart from the job's other traces; empty where there are none."""
    trace: Trace
    path: Path


def outputs(found: Trace | TraceSet, path: Path, separator: str = "_") -> list[Output]:
    """A file for each trace: the one at `path`, or, of a job, those of its name with the rank behind it.

    ValueError when one of them is a file that was read.
    """
    if not isinstance(found, TraceSet):
        all_of_them = [Output("", found, path)]
    else:
        all_of_them = [Output(rank, trace, _with_rank(path, separator + rank)) for rank, trace in ranked(found)]
    for output in all_of_them:
        refuse_input(output.path, sources(found))
    return all_of_them


def ranked(job: TraceSet) -> Iterator[tuple[str, Trace]]:
    """The traces of a job under names that tell them apart: `0`, `1`, `1.1` for its second window, `unknown`."""
    for member, (number, window) in zip(job.members, places(job.members), strict=True):
        rank = "unknown" if number is None else str(number)
        yield f"{rank}.{window}" if window else rank, member.trace


def _with_rank(path: Path, rank: str) -> Path:
    packed = _PACKED if path.suffix == _PACKED else ""
    plain = path.with_name(path.name.removesuffix(packed))
    return plain.with_name(f"{plain.stem}{rank}{plain.suffix}{packed}")


def sources(found: Trace | TraceSet | Tables) -> list[str]:
    """The files that were read."""
    traces = list(found) if isinstance(found, TraceSet) else [found]
    files = [file for trace in traces for file in (trace.source, getattr(trace, "execution_source", None))]
    return [file for file in files if file]


def refuse_input(path: Path, files: Iterable[str]) -> None:
    """ValueError when `path` is one of these files, by whatever name."""
    for file in files:
        if path.is_file() and Path(file).is_file() and path.samefile(file):
            other = "" if str(path) == file else f", which is {file}"
            raise ValueError(f"expected another file to write than those that are read, found {path}{other}")


def expect_ending(path: Path, *endings: str, may_be_packed: bool = False) -> None:
    """ValueError when the name of a file promises something else than what is written to it."""
    plain = path.name.removesuffix(_PACKED) if may_be_packed else path.name
    other = Path(plain).suffix.lower()
    if other in _ENDINGS - {*endings} or other == _PACKED:
        packed = f" or {endings[0]}{_PACKED}" if may_be_packed else ""
        raise ValueError(f"expected a file name that ends in {endings[0]}{packed}, found {path.name}")
