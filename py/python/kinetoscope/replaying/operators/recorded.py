"""Recorded operators and their times, for benchmarks and beside those of a replay."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from kinetoscope._base import text
from kinetoscope._native import TraceError
from kinetoscope.replaying.operators.allowed import refusal
from kinetoscope.replaying.operators.communication_command import communicates, communication_reason
from kinetoscope.replaying.operators.names import nearest

if TYPE_CHECKING:
    from kinetoscope.replaying.operators.unit import Unit
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


# --- times without the observer -------------------------------------------------------------------


class IterationKinds(NamedTuple):
    """Iterations of a trace by whether the observer of the Execution Trace slowed them down."""

    observed: frozenset[int]
    ordinary: frozenset[int]
    """Those that overlap no observed one."""

    @classmethod
    def of(cls, trace: Trace) -> IterationKinds:
        """Returns the iterations of a trace. Threads may number their own alike."""
        rows = trace.iterations.select("iteration", "start_ns", "dur_ns", "is_observed").rows()
        spans = sorted((start, start + dur) for _, start, dur, is_observed in rows if is_observed)
        starts, ends = [start for start, _ in spans], list(accumulate((end for _, end in spans), max))
        observed = frozenset(number for number, _, _, is_observed in rows if is_observed)
        beside: set[int] = set()
        for number, start, dur, _ in rows:
            before = bisect_left(starts, start + dur)
            if before and ends[before - 1] > start:
                beside.add(number)
        return cls(observed, frozenset(row[0] for row in rows) - observed - beside)

    def is_observed(self, iteration: int | None, record_id: int | None) -> bool:
        """Whether the observer ran at an event. Torch numbers calls only while it runs."""
        return iteration in self.observed or bool(record_id)


class _Mean:
    """Mean times of calls."""

    def __init__(self) -> None:
        self._host: list[int] = []
        self._device: list[int] = []

    def add(self, dur_ns: int | None, device_ns: int | None) -> None:
        if dur_ns is not None:
            self._host.append(dur_ns)
        if device_ns is not None:
            self._device.append(device_ns)

    def of(self, unit: Unit) -> Unit:
        """Returns a unit with these times, as far as they are known."""
        known = {"dur_ns": self._host, "device_ns": self._device}
        return unit._replace(**{name: round(sum(ns) / len(ns)) for name, ns in known.items() if ns})


_TIMES = ("id", "name", "kind", "input_shapes", "input_types", "node_id", "iteration", "record_id")


def ordinary_times(trace: Trace, units: Sequence[Unit]) -> tuple[list[Unit], list[str]]:
    """Replaces times of observed iterations by means of the others. Returns notes about times.

    The core finds the same call in the other iterations. If it finds none, calls of the same name,
    shapes and types stand for it. Without any, the observed time stays.
    """
    events = {unit.event_id for unit in units} - {None}
    if not events:
        return list(units), []
    kinds = IterationKinds.of(trace)
    rows = trace.events.select(*_TIMES, "dur_ns", "device_ns").rows()
    keys = {row[0]: (row[1], row[3], row[4]) for row in rows if row[0] in events and kinds.is_observed(*row[6:8])}
    means: dict[Hashable, _Mean] = {}
    nodes, wanted = {unit.node_id for unit in units if unit.event_id in keys}, set(keys.values())
    for _, name, kind, shapes, types, node_id, iteration, _, *times in rows:
        if iteration not in kinds.ordinary:
            continue
        key = (name, shapes, types)
        if node_id in nodes:
            means.setdefault(node_id, _Mean()).add(*times)
        if kind == "operator" and key in wanted:
            means.setdefault(key, _Mean()).add(*times)
    found: list[Unit] = []
    ways: Counter[str] = Counter()
    for unit in units:
        key = keys.get(unit.event_id) if unit.event_id is not None else None
        if key is None:
            found.append(unit)
            continue
        way = "place" if unit.node_id in means else ("shapes" if key in means else "observed")
        ways[way] += 1
        mean = means.get(unit.node_id) or means.get(key)
        found.append(unit if mean is None else mean.of(unit))
    return found, _time_notes(ways, kinds.ordinary, is_device=any(unit.device_ns for unit in found))


def _time_notes(ways: Mapping[str, int], ordinary: Iterable[int], *, is_device: bool) -> list[str]:
    """Tells which iterations recorded times are of, and how calls were found in them."""
    slow = "it slows the host, not the device" if is_device else "it makes host times too long"
    by_place, by_shapes, observed = (ways.get(way, 0) for way in ("place", "shapes", "observed"))
    if not by_place and not by_shapes:
        return [f"the observer of the Execution Trace ran at all recorded times: {slow}"] if observed else []
    how = {"at the same place": by_place, "of the same name and shapes": by_shapes}
    told = " and ".join(f"{text.plural(number, 'call')} {words}" for words, number in how.items() if number)
    notes = [f"recorded times are means of {_numbers(sorted(ordinary))}, without the observer: {told}"]
    if observed:
        calls = f"{text.plural(observed, 'call')} {'is' if observed == 1 else 'are'}"
        notes.append(f"{calls} in no such iteration: the observer ran at the recorded time, and {slow}")
    return notes


def _numbers(iterations: Sequence[int]) -> str:
    first, last = iterations[0], iterations[-1]
    if first == last:
        return f"iteration {first}"
    if last - first == len(iterations) - 1:
        return f"iterations {first} to {last}"
    shown = ", ".join(map(str, iterations[:_SHOWN]))
    more = f" and {len(iterations) - _SHOWN} more" if len(iterations) > _SHOWN else ""
    return f"iterations {shown}{more}"
