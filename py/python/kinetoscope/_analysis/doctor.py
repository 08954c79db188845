"""Texts of `kinetoscope doctor`: contents of a trace, missing parts, and fixes.

The core counts; the texts are here because the fixes name options of `profile`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from kinetoscope import _native
from kinetoscope._analysis.iteration_match import window
from kinetoscope._analysis.summary import FOREIGN
from kinetoscope._base import text
from kinetoscope.tables import Tables

if TYPE_CHECKING:
    from kinetoscope.table import Table
    from kinetoscope.trace import Trace


class _Problem(NamedTuple):
    name: str
    state: str
    message: str
    advice: str
    is_shown: bool
    """Whether a remark is worth a notice beside the verdict."""


_SLICE_ROWS = 10_000
MARK_WIDTH = 13
"""Width of the first column."""
_OBSERVED = "observed_times"
"""Remark on iterations in which the observer of the Execution Trace ran."""
_UNKNOWN = "unknown_kind"
"""Remark on events that may be work of an unknown device."""


class Finding(NamedTuple):
    """One line of a diagnosis."""

    mark: str
    """`ok`, `missing`, `note` or `defect`; or, for the verdict, its state."""
    message: str
    advice: str = ""
    """Fix, or reason."""

    def __str__(self) -> str:
        return f"{self.mark:<{MARK_WIDTH}}{text.printable(self.message)}{f'  →  {self.advice}' if self.advice else ''}"


class Diagnosis(tuple[Finding, ...]):
    """All findings about a trace; prints one line for each."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "\n".join(map(str, self))

    __str__ = __repr__

    def _repr_html_(self) -> str:
        return text.html_table(("", "finding", "advice"), self)


def diagnosis(trace: Trace | Tables) -> Diagnosis:
    """Checks the contents, links and defects of a trace, or the defects of other tables."""
    if isinstance(trace, Tables):
        return Diagnosis([*_tables(trace), *_defects(trace, set())])
    problems = _problems(trace)
    tool = _foreign_tool(problems)
    found = [*_verdict(problems, tool), *_contents(trace, problems, tool), *_links(trace, tool)]
    return Diagnosis([*found, *_defects(trace, {problem.name for problem in _decisive(problems)})])


def _problems(trace: Trace) -> list[_Problem]:
    rows = trace.problems().select("problem", "state", "message", "advice", "is_shown").rows()
    return [_Problem(name, state, message, advice or "", is_shown) for name, state, message, advice, is_shown in rows]


def _decisive(problems: list[_Problem]) -> list[_Problem]:
    """Returns the problems that decide the verdict."""
    return [problem for problem in problems if problem.state != "complete"]


def _foreign_tool(problems: list[_Problem]) -> _Problem | None:
    """Returns the remark about another tool than Kineto."""
    return next((problem for problem in problems if problem.name in FOREIGN), None)


def _verdict(problems: list[_Problem], tool: _Problem | None) -> Iterator[Finding]:
    decisive = _decisive(problems)
    yield from (Finding(problem.state, problem.message, problem.advice) for problem in decisive)
    if not decisive:
        yield Finding("complete", "nothing is known to be missing or impossible")
    remarks = [problem for problem in problems if problem not in decisive and problem != tool]
    noted = [problem for problem in remarks if problem.is_shown or problem.name == _OBSERVED]
    yield from (Finding("note", problem.message, problem.advice) for problem in [*([tool] if tool else []), *noted])


def _tables(tables: Tables) -> Iterator[Finding]:
    sizes = ((name, len(tables.table(name))) for name in tables.table_names if name != "health")
    yield Finding("ok", f"{tables.sort}: {', '.join(f'{text.count(size)} {name}' for name, size in sizes)}")


def _contents(trace: Trace, problems: list[_Problem], tool: _Problem | None) -> Iterator[Finding]:
    summary = trace.summary(trace.origin_ns).data  # of the whole file, observed iterations included
    kinds = {row["kind"]: row["count"] for row in summary["time_by_kind"]}
    if not trace.num_events:
        if len(trace.nodes):
            yield Finding("missing", "no events: only an Execution Trace", "read it together with its Kineto trace")
        else:
            yield Finding("missing", "no events", "the file holds no recording: record again with ks.profile")
        return
    span = text.duration(summary["duration_ns"])
    yield Finding("ok", f"{text.plural(trace.num_events, 'event')} over {span}")
    may_have_device = any(problem.name == _UNKNOWN for problem in problems)
    if tool and tool.name == "foreign_program":  # options of PyTorch's profiler do not apply
        yield _device(trace, is_foreign=True, may_have_device=may_have_device)
        return
    yield _counted(len(trace.iterations), "iteration", "call prof.step() after each iteration")
    yield _device(trace, is_foreign=bool(tool), may_have_device=may_have_device)
    yield _presence(_has_value(trace.events, "input_shapes"), "input shapes", "record with record_shapes=True")
    yield _presence("python" in kinds, "Python stacks", "record with with_stack=True to see source lines")
    has_memory = _has_value(trace.instants, "name", "[memory]")
    yield _presence(has_memory, "allocations", "record with profile_memory=True to see memory")


def _device(trace: Trace, *, is_foreign: bool, may_have_device: bool) -> Finding:
    number = trace.coverage["device_events"]["count"]
    if number:
        return Finding("ok", f"{text.count(number)} kernels, copies and fills")
    if num_launches := num_missed(trace):
        launches = text.plural(num_launches, "launch", "launches")
        return Finding("missing", f"no device events for {launches}", "the device was traced: see the first lines")
    if "truncated" in dict(trace.health.select("kind", "count").rows()):
        return Finding("missing", "no device events", "the file ends early: read the whole one, or record again")
    if may_have_device:
        return Finding("missing", "no device events of a known kind", "see the first lines")
    advice = "normal for a run on the CPU; otherwise include the device in `activities`"
    return Finding("missing", "no device events", "" if is_foreign else advice)


def num_missed(trace: Trace) -> int:
    """Number of launches if the trace has no device work at all; otherwise 0."""
    if trace.coverage["device_events"]["count"]:
        return 0
    counts = dict(trace.health.select("kind", "count").rows())
    return counts.get("launch_without_device_event", 0) + counts.get("lost_device_work", 0)


def _links(trace: Trace, tool: _Problem | None) -> Iterator[Finding]:
    coverage = trace.coverage
    if coverage["device_events"]["count"]:
        yield _linked(coverage, "device_events", "device events have a known launch")
        yield _linked(coverage, "device_owners", "device events have a known operator")
    if coverage["graph_work"]["count"]:
        yield _linked(coverage, "graph_work", "kernels, copies and fills of graphs have a known capture")
    if tool and not len(trace.nodes):
        return
    if trace.num_events and not _has_any(trace.events, "record_id", bool):
        yield Finding("missing", "no record ids (all 0 or absent)", "record with ks.profile, which writes both traces")
    if not len(trace.nodes) and not trace.num_events:
        return
    if not len(trace.nodes):
        yield Finding("missing", "no Execution Trace", "record with ks.profile, or pass the file with --et")
    elif trace.num_events:
        yield _linked(coverage, "nodes", "nodes of the Execution Trace have a known event")
        yield _linked(coverage, "operators", "operators and annotations have a known node")
        yield from _iteration_match(trace)


def _iteration_match(trace: Trace) -> Iterator[Finding]:
    if match := window(trace):
        yield Finding("note", match, "select another with ks.read(…, iteration=…) or --iteration")
    if not trace.coverage["nodes"]["num_linked"]:
        with suppress(_native.TraceError):
            relinked = trace.relink()
            nodes = relinked.coverage["nodes"]
            linked = f"{text.count(nodes['num_linked'])} of {text.count(nodes['count'])} nodes linked"
            message = f"by names and shapes alone: {window(relinked) or linked}"
            yield Finding("note", message, "link with ks.read(…, iteration=…) or --iteration")


def _defects(trace: Trace | Tables, told: set[str]) -> Iterator[Finding]:
    """Lists defects, without those that the verdict has told."""
    rows = trace.health.select("severity", "count", "message", "first", "kind").rows()
    for severity, count, message, first, kind in rows:
        if kind not in told:
            yield Finding(severity, f"{text.count(count)} × {message}{f' (first: {first})' if first else ''}")
    if all(severity != "defect" for severity, *_ in rows):
        yield Finding("ok", "no defects")


def _linked(coverage: dict[str, Any], share: str, statement: str) -> Finding:
    counts = coverage[share]
    message = f"{text.count(counts['num_linked'])} of {text.count(counts['count'])} {statement}"
    by_how = ", ".join(f"{text.count(number)} by {how.replace('_', ' ')}" for how, number in counts["linked"].items())
    unlinked = counts["unlinked"].items()
    reasons = "; ".join(f"{text.count(number)}: {coverage['reasons'][reason]}" for reason, number in unlinked)
    return Finding("missing" if reasons else "ok", f"{message}{f' ({by_how})' if by_how else ''}", reasons)


def _counted(number: int, noun: str, advice: str) -> Finding:
    return Finding("ok", text.plural(number, noun)) if number else Finding("missing", f"no {noun}s", advice)


def _presence(is_there: object, noun: str, advice: str) -> Finding:
    return Finding("ok", noun) if is_there else Finding("missing", f"no {noun}", advice)


def _has_value(table: Table, column: str, value: object = None) -> bool:
    """Whether a column contains `value`, or any value other than null."""
    return _has_any(table, column, lambda cell: cell is not None if value is None else cell == value)


def _has_any(table: Table, column: str, matches: Callable[[Any], bool]) -> bool:
    """Whether any cell matches. Reads slices, because a match is usually in the first."""
    part = table.select(column)
    for start in range(0, len(part), _SLICE_ROWS):
        if any(matches(cell) for (cell,) in part.rows(start, min(start + _SLICE_ROWS, len(part)))):
            return True
    return False
