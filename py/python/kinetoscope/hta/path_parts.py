"""What a graph of the critical path is made of, by HTA's names; times are in µs, as in the frames."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kinetoscope.answer import Answer
    from kinetoscope.hta.common.trace import Trace

_NS = 1000
BLOCKING_CALLS = (
    *("cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventQuery", "cudaEventSynchronize"),
    *("cudaMemcpy", "cudaMemcpyAsync"),
)


class CPEdgeType(Enum):
    """What an edge stands for."""

    OPERATOR_KERNEL = "critical_path_operator"
    """Time in a host event, or work of a device."""
    DEPENDENCY = "critical_path_dependency"
    """An order that takes no time."""
    KERNEL_LAUNCH_DELAY = "critical_path_kernel_launch_delay"
    """From a launch to its work."""
    KERNEL_KERNEL_DELAY = "critical_path_kernel_kernel_delay"
    """From the end of work to the next on its stream."""
    SYNC_DEPENDENCY = "critical_path_sync_dependency"
    """From the end of work to what waited for it."""


_TYPES = {
    "operator": CPEdgeType.OPERATOR_KERNEL,
    "kernel": CPEdgeType.OPERATOR_KERNEL,
    "dependency": CPEdgeType.DEPENDENCY,
    "launch": CPEdgeType.KERNEL_LAUNCH_DELAY,
    "kernel_kernel": CPEdgeType.KERNEL_KERNEL_DELAY,
    "sync": CPEdgeType.SYNC_DEPENDENCY,
}


@dataclass
class CPNode:
    """The start or the end of an event."""

    idx: int = -1
    """Its place in the list of nodes, which are in the order of time."""
    ev_idx: int = -1
    """The event, by its label in the frame."""
    ts: float = 0
    """When it was."""
    is_start: bool = False
    """Whether it is the start."""
    is_blocking: bool = False
    """Whether the event is a call that may wait for a device."""


@dataclass(frozen=True)
class CPEdge:
    """What must come before what."""

    begin: int
    """The earlier node."""
    end: int
    """The later node."""
    weight: float = 0
    """How long it takes; -1 where cutting times to whole µs made a short event last so long."""
    type: CPEdgeType = CPEdgeType.OPERATOR_KERNEL
    """What it stands for."""


class PathParts(NamedTuple):
    """A graph and the longest path through it."""

    nodes: Sequence[CPNode]
    edges: Sequence[CPEdge]
    owners: Mapping[tuple[int, int], int]
    """The event that an edge's time is put to, by the edge's nodes."""
    path: Sequence[int]
    """The nodes of the path."""


def parts_of(traces: Trace, rank: int, answer: Answer) -> PathParts:
    """The tables of `critical_path(like="hta")`, with HTA's names and units."""
    nodes = _nodes(traces, rank, answer)
    rows = answer.tables["critical_path_edges"].select("source", "target", "weight_ns", "kind", "id", "is_critical")
    edges: list[CPEdge] = []
    owners: dict[tuple[int, int], int] = {}
    onwards: dict[int, int] = {}
    for source, target, weight_ns, kind, event, is_critical in rows.rows():
        edge = CPEdge(source, target, weight_ns / _NS, _TYPES[kind])
        edges.append(edge)
        if edge.type is CPEdgeType.OPERATOR_KERNEL:
            owners[source, target] = event
        elif edge.type is CPEdgeType.KERNEL_KERNEL_DELAY:
            owners[source, target] = nodes[source].ev_idx
        if is_critical:
            onwards[source] = target
    return PathParts(nodes, edges, owners, _in_order(onwards))


def _nodes(traces: Trace, rank: int, answer: Answer) -> list[CPNode]:
    events = traces.recorded(rank).events.select("id", "name").rows()
    blocking = {event for event, name in events if name in BLOCKING_CALLS}
    rows = answer.tables["critical_path_nodes"].select("node", "id", "time_ns", "is_start").rows()
    return [
        CPNode(node, event, (time_ns - traces.min_ts * _NS) / _NS, is_start, event in blocking)
        for node, event, time_ns, is_start in rows
    ]


def _in_order(onwards: Mapping[int, int]) -> list[int]:
    """The nodes of a path, given the next one of each."""
    path = list(onwards.keys() - set(onwards.values()))
    while path and path[-1] in onwards:
        path.append(onwards[path[-1]])
    return path
