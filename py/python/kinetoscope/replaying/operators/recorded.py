"""Chooses recorded operators for benchmarks, with their times and their roofline."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from kinetoscope._native import TraceError
from kinetoscope.replaying.operators.allowed import refusal
from kinetoscope.replaying.operators.communication_command import communicates, communication_reason
from kinetoscope.replaying.operators.names import nearest
from kinetoscope.replaying.operators.ordinary_times import IterationKinds

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

_EVENT = ("id", "name", "kind", "input_shapes", "input_types", "node_id", "dur_ns", "device_ns")
_NODE = ("node_id", "name", "kind", "input_shapes", "input_types", "event_id")
_SHOWN = 5


class RecordedOperator(NamedTuple):
    """Calls of an operator with equal shapes and types."""

    name: str
    shapes: str
    """Shapes of the arguments, as JSON."""
    types: str
    event_id: int | None
    """An event of the calls, one with a node where there is one."""
    node_id: int | None
    num_calls: int
    """Calls without the observer of the Execution Trace; all calls if there are no such."""
    total_ns: int | None
    """Time of these calls; None where the trace has no times."""
    is_device_time: bool
    """Whether times are those of device work; otherwise of the host."""
    is_observed: bool = False
    """Whether the observer ran at all calls. It slows the host."""
    roofline_ns: float | None = None
    bound: str | None = None
    peaks_of: str | None = None
    device_name: str | None = None

    @property
    def mean_ns(self) -> float | None:
        """Mean time of a call."""
        return None if self.total_ns is None else self.total_ns / self.num_calls


def operators(trace: Trace) -> list[RecordedOperator]:
    """Returns the operators of a trace by name, shapes and types, the longest time first.

    Operators that only observed iterations have come last: their time does not compare.
    """
    columns = (*_EVENT, "iteration", "record_id")
    rows = [row for row in trace.events.select(*columns).rows() if row[2] == "operator" and row[4]]
    if not rows:
        return _of_nodes(trace)
    is_device = any(row[7] for row in rows)
    kinds = IterationKinds.of(trace)
    found: dict[tuple[str, ...], RecordedOperator] = {}
    for event_id, name, _, shapes, types, node_id, dur_ns, device_ns, *place in rows:
        key = (name, shapes or "", types)
        is_observed = kinds.is_observed(*place)
        known = found.get(key)
        if known is None:
            known = RecordedOperator(*key, event_id, node_id, 0, 0, is_device, is_observed)
        if known.node_id is None and node_id is not None:
            known = known._replace(event_id=event_id, node_id=node_id)
        found[key] = _with_call(known, (device_ns if is_device else dur_ns) or 0, is_observed=is_observed)
    return _with_roofline(trace, list(found.values()), "device" if is_device else "host")


def _with_call(known: RecordedOperator, ns: int, *, is_observed: bool) -> RecordedOperator:
    """Adds a call. Calls without the observer replace those with it."""
    if is_observed and not known.is_observed:
        return known
    num_calls, total_ns = known.num_calls, known.total_ns or 0
    if known.is_observed and not is_observed:
        num_calls = total_ns = 0
    return known._replace(num_calls=num_calls + 1, total_ns=total_ns + ns, is_observed=is_observed)


def _of_nodes(trace: Trace) -> list[RecordedOperator]:
    found: dict[tuple[str, ...], RecordedOperator] = {}
    for node_id, name, kind, shapes, types, _ in trace.nodes.select(*_NODE).rows():
        if kind != "operator":
            continue
        key = (name, shapes or "", types or "")
        known = found.setdefault(key, RecordedOperator(*key, None, node_id, 0, None, is_device_time=False))
        found[key] = known._replace(num_calls=known.num_calls + 1)
    return sorted(found.values(), key=lambda each: -each.num_calls)


def _with_roofline(trace: Trace, found: Sequence[RecordedOperator], on: str) -> list[RecordedOperator]:
    """Adds the roofline. Operators that it counts come first: others only contain them."""
    result = with_sources(trace).roofline(on=on)
    device = result.tables["roofline_device"].select("device_name", "peaks_of").rows()
    names = device[0] if device else (None, None)
    rows = result.select("name", "input_shapes", "roofline_ns", "bound", "total_ns").rows()
    known = {(row[0], _canonical(row[1])): row[2:] for row in rows}
    unmodelled = dict(result.tables["roofline_unmodelled"].select("name", "total_ns").rows())
    counted: list[RecordedOperator] = []
    others: list[RecordedOperator] = []
    for each in found:
        roofline_ns, bound, total_ns = known.get((each.name, _canonical(each.shapes)), (None, None, None))
        each = each._replace(roofline_ns=roofline_ns, bound=bound, device_name=names[0], peaks_of=names[1])  # noqa: PLW2901 - the same with its roofline
        is_counted = total_ns is not None or each.name in unmodelled
        (counted if is_counted else others).append(each)
    return [each for some in (counted, others) for each in sorted(some, key=_order)]


def _order(each: RecordedOperator) -> tuple[bool, int]:
    return each.is_observed, -(each.total_ns or 0)


def _canonical(shapes: str | None) -> str:
    return (shapes or "").replace(" ", "")


def with_sources(trace: Trace) -> Trace:
    """Returns the trace with the sources of generated kernels, if they are beside it."""
    try:
        return trace.with_kernel_sources()
    except (ValueError, OSError, TraceError):
        return trace


# --- a choice -------------------------------------------------------------------------------------


def chosen(
    trace: Trace, event_id: int | None, node_id: int | None, name: str | None, shapes: Sequence[Any] | None
) -> RecordedOperator:
    """Returns the operator of an event or a node, or the one of a name with the longest time.

    Raises ValueError if the trace lacks it, or if none or several ways to choose are given.
    """
    given = {
        key: value
        for key, value in {"event_id": event_id, "node_id": node_id, "name": name}.items()
        if value is not None
    }
    if len(given) != 1:
        raise ValueError(f"expected one of event_id, node_id and name, found {', '.join(given) or 'none'}")
    found = operators(trace)
    if name is not None:
        if communicates(name) and not any(each.name == name for each in found):
            raise ValueError(f"no shapes of {name} are recorded; {communication_reason(trace, name, None)}")
        return _named(found, name, shapes)
    if node_id is not None:
        return _at_node(trace, found, node_id)
    row = _row(trace.events, _EVENT, event_id, f"event {event_id}")
    return _at(found, row[1], (row[3], row[4]), event_id, row[5])


def _at_node(trace: Trace, found: Iterable[RecordedOperator], node_id: int) -> RecordedOperator:
    """Returns the operator of a node; its times are those of the event that it is linked to."""
    row = _row(trace.nodes, _NODE, node_id, f"node {node_id}")
    if row[5] is not None:
        event = _row(trace.events, _EVENT, row[5], f"event {row[5]}")
        if event[4]:
            return _at(found, event[1], (event[3], event[4]), row[5], node_id)
    return _at(found, row[1], (row[3], row[4]), None, node_id)


def _at(
    found: Iterable[RecordedOperator],
    name: str,
    arguments: tuple[str | None, str | None],
    event_id: int | None,
    node_id: int | None,
) -> RecordedOperator:
    key = (name, arguments[0] or "", arguments[1] or "")
    known = next((each for each in found if (each.name, each.shapes, each.types) == key), None)
    if known is None and node_id is None:
        raise ValueError(f"expected an operator with shapes, found {name} (event {event_id})")
    known = known or RecordedOperator(*key, event_id, node_id, 1, None, is_device_time=False)
    return known if node_id is None else known._replace(node_id=node_id, event_id=event_id)


def _row(table: Any, columns: Sequence[str], wanted: int | None, what: str) -> Sequence[Any]:
    row = next((row for row in table.select(*columns).rows() if row[0] == wanted), None)
    if row is None:
        raise ValueError(f"expected an operator, found no {what}")
    return row


def _named(found: Sequence[RecordedOperator], name: str, shapes: Sequence[Any] | None) -> RecordedOperator:
    named = [each for each in found if each.name == name]
    if not named:
        close = ", ".join(nearest([name], {each.name for each in found if refusal(each.name, None) is None}))
        example = f", such as {close}" if close else ""
        raise ValueError(f"expected the name of a recorded operator{example}; found {name}")
    if shapes is None:
        return named[0]
    wanted = json.loads(json.dumps(shapes))
    matching = [each for each in named if _agrees(json.loads(each.shapes or "[]"), wanted)]
    if not matching:
        known = "; ".join(each.shapes for each in named[:_SHOWN])
        raise ValueError(f"expected shapes of {name} as recorded ({known}), found {json.dumps(shapes)}")
    return matching[0]


def _agrees(recorded: list[Any], wanted: list[Any]) -> bool:
    """Whether shapes of tensors are equal; those of numbers, which are empty, may be left out."""
    return recorded == wanted or [each for each in recorded if each] == [each for each in wanted if each]
