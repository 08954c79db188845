"""Output paths of a command: one file per trace, checked against input files and extensions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kinetoscope._export.names import ranked
from kinetoscope._export.tables import FORMATS
from kinetoscope._io.inputs import refuse_input
from kinetoscope._io.paths import with_suffix_of_rank
from kinetoscope.trace_set import TraceSet

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

_GZIP = ".gz"
_EXTENSIONS = {".et", ".html", ".kscope", ".xlsx", *FORMATS}
"""Extensions that name a format."""


class Output(NamedTuple):
    """A trace and the file to write."""

    rank: str
    """Unique name of the trace in its job, as in `ranked`; empty without a job."""
    trace: Trace
    path: Path


def outputs(
    found: Trace | TraceSet, path: Path, separator: str = "_", beside: Callable[[Path], Path] | None = None
) -> list[Output]:
    """Returns `path` for a trace, or one path per trace of a job: `cut_0.json`, `cut_1.json`.

    `beside` returns the path of a second file that may be written with each. Raises ValueError if
    a path is an input file: before the first is written.
    """
    if isinstance(found, TraceSet):
        files = [Output(rank, trace, with_suffix_of_rank(path, separator + rank)) for rank, trace in ranked(found)]
    else:
        files = [Output("", found, path)]
    for output in files:
        for written in [output.path, *([beside(output.path)] if beside else [])]:
            refuse_input(written)
    return files


def expect_extension(path: Path, *extensions: str, may_be_gzip: bool = False) -> None:
    """Raises ValueError if the extension of `path` names a format other than `extensions`."""
    plain = path.name.removesuffix(_GZIP) if may_be_gzip else path.name
    extension = Path(plain).suffix.lower()
    if extension in _EXTENSIONS - {*extensions} or extension == _GZIP:
        gzip = f" or {extensions[0]}{_GZIP}" if may_be_gzip else ""
        raise ValueError(f"expected a file name that ends in {extensions[0]}{gzip}, found {path.name}")
