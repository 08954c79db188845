"""First sheet of a workbook: traces, warnings and problems."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from kinetoscope import _native
from kinetoscope.trace import Trace
from kinetoscope.trace_set import TraceSet, ranks_and_windows

if TYPE_CHECKING:
    from kinetoscope._export.analysis_tables import Analyzed

_TRACES = ("rank", "window", "Kineto trace", "Execution Trace", "devices", "events", "nodes", "state")
_WARNINGS = ("rank", "window", "severity", "count", "message")
_PROBLEMS = ("rank", "window", "state", "problem", "message")


class Section(NamedTuple):
    """A titled table of the first sheet."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[Any]]
    if_empty: str
    """Text in place of no rows."""


class _Source(NamedTuple):
    """A trace, with the columns that name it."""

    rank: int | None
    window: int
    kineto: str | None
    execution: str | None
    trace: Trace


def about(found: Analyzed, rank: int | Iterable[int] | None = None) -> list[Section]:
    """Describes a trace, or the traces of a job, of these ranks or of all."""
    sources = _sources(found, rank)
    problems = {source[:2]: source.trace.problems() for source in sources}
    traces = [_trace_row(source, _state(problems[source[:2]])) for source in sources]
    warnings = [
        (source.rank, source.window, *row)
        for source in sources
        for row in source.trace.health.select("severity", "count", "message").rows()
    ]
    doubts = [
        (*place, *row) for place, result in problems.items() for row in result.select("state", "problem", "message")
    ]
    skipped = list(found.skipped.items()) if isinstance(found, TraceSet) else []
    return [
        Section("Traces", _TRACES, traces, "no traces"),
        *([Section("Skipped files", ("file", "reason"), skipped, "")] if skipped else []),
        Section("Warnings of the reader", _WARNINGS, warnings, "none"),
        Section("Problems of the recording", _PROBLEMS, doubts, "none found"),
        Section("Program", ("name", "version"), [("kinetoscope", _native.__version__)], ""),
    ]


def _state(problems: Any) -> str:
    from kinetoscope._analysis.verdict import judged

    return judged(problems).state


def _sources(found: Analyzed, rank: int | Iterable[int] | None) -> list[_Source]:
    if isinstance(found, TraceSet):
        job = found.load() if rank is None else found.of_ranks([rank] if isinstance(rank, int) else rank)
        places = ranks_and_windows(job.members)
        return [
            _Source(*place, member.pair.kineto, member.pair.execution, member.trace)
            for place, member in zip(places, job.members, strict=True)
        ]
    if isinstance(found, Trace):
        return [_Source(found.rank, 0, _file_name(found.source), _file_name(found.execution_source), found)]
    return []


def _file_name(path: str | None) -> str | None:
    """Returns the name without the folder, which differs between machines."""
    return path.replace("\\", "/").rpartition("/")[2] if path else None


def _trace_row(source: _Source, state: str) -> tuple[Any, ...]:
    trace = source.trace
    devices = trace.query({"type": "summary", "limit": 1}).data["devices"]
    names = [f"{device['device']}: {device['name'] or 'unknown'}" for device in devices]
    counts = (trace.num_events, len(trace.nodes))
    return (*source[:4], ", ".join(names) or "none", *counts, state)
