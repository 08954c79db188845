"""Recorded times of iterations that the observer of the Execution Trace did not slow down."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from kinetoscope._base import text

if TYPE_CHECKING:
    from kinetoscope.replaying.operators.unit import Unit
    from kinetoscope.trace import Trace

_SHOWN = 5


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
