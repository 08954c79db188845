"""The health of a trace in words: what is in the file, what is missing, what to record next time.

The counts are the core's; the words and the advice, which names options of `profile`, are here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from kinetoscope import _native
from kinetoscope._analysis.iteration_match import window
from kinetoscope._base import text
from kinetoscope.tables import Tables

if TYPE_CHECKING:
    from kinetoscope.table import Table
    from kinetoscope.trace import Trace

_SLICE_ROWS = 10_000


class Finding(NamedTuple):
    """One thing that is there, is missing, or is wrong."""

    mark: str
    """`ok`, `missing`, `note` or `defect`."""
    what: str
    advice: str = ""

    def __str__(self) -> str:
        return f"{self.mark:<8}{text.printable(self.what)}{f'  →  {self.advice}' if self.advice else ''}"


class Diagnosis(tuple[Finding, ...]):
    """All findings about a trace; prints as one line for each."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "\n".join(map(str, self))

    __str__ = __repr__


def diagnosis(trace: Trace | Tables) -> Diagnosis:
    """Looks at a trace the way a colleague would before working with it."""
    if isinstance(trace, Tables):
        return Diagnosis([*_tables(trace), *_defects(trace)])
    return Diagnosis([*_contents(trace), *_links(trace), *_defects(trace)])


def _tables(found: Tables) -> Iterator[Finding]:
    sizes = ((name, len(found.table(name))) for name in found.table_names if name != "health")
    yield Finding("ok", f"{found.sort}: {', '.join(f'{text.count(size)} {name}' for name, size in sizes)}")


def _contents(trace: Trace) -> Iterator[Finding]:
    summary = trace.summary().data
    kinds = {row["kind"]: row["count"] for row in summary["time_by_kind"]}
    if not trace.num_events:
        yield Finding("missing", "no events: an Execution Trace alone", "read it with its Kineto trace to see times")
        return
    span = text.duration(summary["duration_ns"])
    yield Finding("ok", f"{text.plural(trace.num_events, 'event')} over {span}")
    yield _either(len(trace.iterations), "iteration", "prof.step() at the end of each iteration")
    yield _device(trace)
    yield _told(_has_value(trace.events, "input_shapes"), "shapes of operators' inputs", "record_shapes=True")
    yield _told("python" in kinds, "Python stacks", "with_stack=True, where you need to find the line of a call")
    yield _told(_has_value(trace.instants, "name", "[memory]"), "allocations", "profile_memory=True, to see memory")


def _device(trace: Trace) -> Finding:
    number = trace.coverage["device_events"]["count"]
    if number:
        return Finding("ok", f"{text.count(number)} kernels, copies and fills")
    if num_launches := num_missed(trace):
        advice = "include ProfilerActivity.CUDA, and let the window last until the device has caught up"
        return Finding("missing", f"no device events for {text.plural(num_launches, 'launch', 'launches')}", advice)
    return Finding("missing", "no device events", "nothing, if the run was on the CPU; else ProfilerActivity.CUDA")


def num_missed(trace: Trace) -> int:
    """Launches of device work, of which the trace has none; 0 where it has any."""
    if trace.coverage["device_events"]["count"]:
        return 0
    counts = dict(trace.health.select("kind", "count").rows())
    return counts.get("launch_without_device_event", 0)


def _links(trace: Trace) -> Iterator[Finding]:
    coverage = trace.coverage
    if coverage["device_events"]["count"]:
        yield _linked(coverage, "device_events", "device events know their launch")
        yield _linked(coverage, "device_owners", "device events know their operator")
    if trace.num_events and not _has_any(trace.events, "record_id", bool):
        yield Finding("missing", "record ids (all 0 or absent)", "ks.profile: ids need the Execution Trace observer")
    if not len(trace.nodes):
        yield Finding("missing", "no Execution Trace", "ks.profile writes both; or --et, when it lies elsewhere")
    elif trace.num_events:
        yield _linked(coverage, "nodes", "nodes of the Execution Trace have their event")
        yield from _windows(trace)


def _windows(trace: Trace) -> Iterator[Finding]:
    if words := window(trace):
        yield Finding("note", words, "ks.read(…, iteration=…), or --iteration, takes another")
    if not trace.coverage["nodes"]["num_linked"]:
        with suppress(_native.TraceError):
            asked = trace.relink()
            nodes = asked.coverage["nodes"]
            linked = f"{text.count(nodes['num_linked'])} of {text.count(nodes['count'])} nodes linked"
            words = window(asked) or linked
            yield Finding("note", f"by names and shapes alone, {words}", "ks.read(…, iteration=…), or --iteration")


def _defects(trace: Trace | Tables) -> Iterator[Finding]:
    rows = trace.health.select("severity", "count", "message", "first").rows()
    for severity, count, message, first in rows:
        yield Finding(severity, f"{text.count(count)} × {message}{f' (first: {first})' if first else ''}")
    if all(severity != "defect" for severity, *_ in rows):
        yield Finding("ok", "no defects")


def _linked(coverage: dict[str, Any], share: str, what: str) -> Finding:
    counts = coverage[share]
    words = f"{text.count(counts['num_linked'])} of {text.count(counts['count'])} {what}"
    by_how = ", ".join(f"{text.count(number)} by {how.replace('_', ' ')}" for how, number in counts["linked"].items())
    why = "; ".join(f"{text.count(number)}: {coverage['reasons'][key]}" for key, number in counts["unlinked"].items())
    return Finding("missing" if why else "ok", f"{words}{f' ({by_how})' if by_how else ''}", why)


def _either(number: int, noun: str, advice: str) -> Finding:
    return Finding("ok", text.plural(number, noun)) if number else Finding("missing", f"no {noun}s", advice)


def _told(is_there: object, what: str, advice: str) -> Finding:
    return Finding("ok", what) if is_there else Finding("missing", f"no {what}", advice)


def _has_value(table: Table, column: str, value: object = None) -> bool:
    """Whether a column holds `value`, or anything at all. Looks at slices, as the first usually tells."""
    return _has_any(table, column, lambda cell: cell is not None if value is None else cell == value)


def _has_any(table: Table, column: str, is_it: Callable[[Any], bool]) -> bool:
    """Whether any cell of a column is what is looked for."""
    part = table.select(column)
    for start in range(0, len(part), _SLICE_ROWS):
        if any(is_it(cell) for (cell,) in part.rows(start, min(start + _SLICE_ROWS, len(part)))):
            return True
    return False
