"""Device work that no replayed operator owns, such as that of CUDA graphs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kinetoscope._base import text
from kinetoscope.replaying.operators.coverage import OperatorSample

if TYPE_CHECKING:
    from kinetoscope.replaying.operators.unit import Unit, UnitChoice
    from kinetoscope.trace import Trace

_EVENT = ("id", "kind", "parent_id", "node_id", "iteration", "name", "launch_id", "dur_ns")
_DEVICE_WORK = {"kernel", "copy", "fill"}
_MAX_SHOWN = 3


def launch_samples(trace: Trace, units: Sequence[Unit], choice: UnitChoice) -> list[OperatorSample]:
    """Returns the device work that was launched outside of the units, by the launching call.

    Counts the iterations of the units. Device work without a known launch, or below an operator
    without a node, may be that of any unit, so it does not count.
    """
    rows = trace.events.select(*_EVENT).rows()
    around = {row[0]: row[1:4] for row in rows}
    of_events = {row[0]: row[4] for row in rows}
    iterations = {of_events.get(unit.event_id) for unit in units if unit.event_id is not None}
    if iterations != {None}:
        iterations.discard(None)
    owners, roots = {unit.node_id for unit in units}, _chosen_nodes(trace, choice)
    names = {row[0]: row[5] for row in rows if row[1] == "launch"}
    work: dict[int, int] = {}
    for _, kind, _, _, iteration, _, launch_id, dur_ns in rows:
        if kind in _DEVICE_WORK and launch_id in names and iteration in iterations:
            work[launch_id] = work.get(launch_id, 0) + (dur_ns or 0)
    found: dict[str, list[int]] = {}
    for launch_id, ns in work.items():
        nodes = list(_nodes_around(around, launch_id))
        # no unit launches a graph by itself
        is_known = bool(nodes and nodes[0] is not None) or _is_graph(names[launch_id])
        if is_known and owners.isdisjoint(nodes) and (roots is None or not roots.isdisjoint(nodes)):
            found.setdefault(names[launch_id], []).append(ns)
    return [
        OperatorSample(name, len(all_ns), 0, sum(all_ns), None, None, _launch_reason(name), is_operator=False)
        for name, all_ns in found.items()
    ]


def _nodes_around(around: Mapping[int, Sequence[Any]], event_id: int) -> Iterator[int | None]:
    """Yields the nodes of the operators and annotations around an event; None for one without."""
    at: int | None = event_id
    while at is not None and at in around:
        kind, at, node_id = around[at]
        if kind in {"operator", "annotation"}:
            yield node_id


def _chosen_nodes(trace: Trace, choice: UnitChoice) -> set[int] | None:
    """Returns the nodes in which operators are chosen; None for all."""
    if choice.node_id is not None:
        return {choice.node_id}
    if choice.subgraph is None:
        return None
    return {node_id for node_id, name in trace.nodes.select("node_id", "name").rows() if name == choice.subgraph}


def _is_graph(name: str) -> bool:
    """Whether a call launches a graph: `cudaGraphLaunch`, `hipGraphLaunch`."""
    return "GraphLaunch" in name


def _launch_reason(name: str) -> str:
    return (
        "the Execution Trace has no operators of a graph"
        if _is_graph(name)
        else "no replayed operator makes such a launch"
    )


def launches_graphs(samples: Iterable[OperatorSample]) -> bool:
    """Whether some work is that of graphs of the device."""
    return any(not each.is_operator and _is_graph(each.name) for each in samples)


def launch_notes(samples: Sequence[OperatorSample]) -> list[str]:
    """Describes the device work that does not run because no unit owns it."""
    by_reason: dict[str, list[OperatorSample]] = {}
    for each in samples:
        if not each.is_operator:
            by_reason.setdefault(each.reason, []).append(each)
    notes: list[str] = []
    for reason, launches in by_reason.items():
        number, ns = sum(each.num_calls for each in launches), sum(each.recorded_ns or 0 for each in launches)
        names = sorted({text.printable(each.name) for each in launches})
        more = f" and {len(names) - _MAX_SHOWN} more" if len(names) > _MAX_SHOWN else ""
        verb = "does" if number == 1 else "do"
        calls = text.plural(number, "launch", "launches")
        shown = f"{', '.join(names[:_MAX_SHOWN])}{more}"
        notes.append(f"{calls} ({shown}) with {text.duration(ns)} on the device {verb} not run: {reason}")
    return notes
