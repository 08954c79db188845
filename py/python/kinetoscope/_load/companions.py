"""Traces of other tools, on the time axis of the trace that they describe."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from kinetoscope import _native
from kinetoscope._base.system import num_processors

if TYPE_CHECKING:
    from kinetoscope._io.source import Source
    from kinetoscope._load.member import Member
    from kinetoscope.trace import Trace

CompanionAlign: TypeAlias = Literal["annotations", "recorded"] | dict[str, int] | None
"""Method that finds the offset between two clocks; see `Trace.with_companion`."""


class Companion(NamedTuple):
    """The trace of another tool beside a trace of PyTorch."""

    trace: Trace
    """The trace. Its times are those of the clock of the PyTorch trace."""
    tool: str
    """Name of the tool."""
    align: str
    """Method that placed it: `annotations`, `recorded`, or `offset` for a given one."""
    offset_ns: int
    """Nanoseconds that were added to its recorded times."""
    spread_ns: int | None
    """Median distance of single annotations from the offset, in ns; None for other methods."""
    num_matches: int
    """Common annotations that fit the offset."""
    num_common: int
    """Annotations that both traces have."""


def companion(main: Trace, other: Trace, align: CompanionAlign) -> Companion:
    """Places the trace of another tool beside a trace. Raises TraceError without a sure offset."""
    from kinetoscope.trace import Trace

    own, native = main._native, other._native  # noqa: SLF001 - the core places them
    moved = native.beside(own, json.dumps(align), max_threads=num_processors())
    placed = moved.companion
    if placed is None:
        raise _native.TraceError("expected a placed trace, found none")
    trace = Trace(moved, other.source, other.execution_source)
    return Companion(trace, native.tool, *placed)


def add_companion(main: Trace, other: Trace, align: CompanionAlign = None) -> None:
    """Adds the trace of another tool to a trace that nobody else has. Raises as `companion`."""
    main.companions = (*main.companions, companion(main, other, align))


def trace_of(source: Trace | Source) -> Trace:
    """Returns a trace, read if it is a source. Raises UnsupportedTraceError for other files."""
    from kinetoscope._load.read import read
    from kinetoscope.trace import Trace

    return checked(source if isinstance(source, Trace) else read(source))


def checked(found: object) -> Trace:
    """Returns what was read, if it is a trace. Raises UnsupportedTraceError for anything else."""
    from kinetoscope.trace import Trace

    if isinstance(found, Trace):
        return found
    raise _native.UnsupportedTraceError(f"expected the trace of one process, found a {type(found).__name__}")


def is_of_other_tool(trace: Trace) -> bool:
    """Whether a known tool other than PyTorch's profiler recorded a trace."""
    return trace._native.other_tool is not None  # noqa: SLF001 - the core knows the tools


def is_of_pytorch(trace: Trace) -> bool:
    """Whether a trace has marks of PyTorch's profiler."""
    return trace._native.is_of_pytorch  # noqa: SLF001 - the core knows them


def tool_of(trace: Trace) -> str:
    """Returns the name of the tool that recorded a trace."""
    return trace._native.tool  # noqa: SLF001 - the core knows the tools


def main_of(mains: Sequence[Trace], other: Trace) -> Trace | None:
    """Returns the only trace of the same process; None if none or several are.

    A single trace is taken as it is: inside a container, its process may have another number.
    """
    if len(mains) == 1:
        return mains[0]
    at = other._native.process_among([trace._native for trace in mains])  # noqa: SLF001 - the core compares them
    return None if at is None else mains[at]


def place_companions(members: Sequence[Member]) -> tuple[list[Member], dict[str, str]]:
    """Places traces of other tools beside those of PyTorch, so that they are no ranks.

    Returns the other members, and the files that could not be placed, each with the reason. Without
    a trace of PyTorch, all members stay: they are a job of another tool.
    """
    others = [member for member in members if is_of_other_tool(member.trace)]
    ranks = [member for member in members if member not in others]
    if not others or not ranks:
        return list(members), {}
    reasons: dict[str, str] = {}
    for other in others:
        main = main_of([member.trace for member in ranks], other.trace)
        try:
            reason = NO_PROCESS if main is None else add_companion(main, other.trace)
        except _native.TraceError as error:
            reason = str(error)
        if reason:
            reasons |= dict.fromkeys(other.pair.names, f"the trace of another tool: {reason}")
    return ranks, reasons


NO_PROCESS = "expected the process of one of the ranks, found another; use Trace.with_companion of its rank"
"""Reason why the trace of another tool has no place among several ranks."""
