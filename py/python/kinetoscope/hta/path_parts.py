"""Nodes and edges of a critical path graph, with HTA's names; times are in µs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from kinetoscope._analysis.result import AnalysisResult

_NS = 1000
BLOCKING_CALLS = (
    *("cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventQuery", "cudaEventSynchronize"),
    *("cudaMemcpy", "cudaMemcpyAsync"),
)


class CPEdgeType(Enum):
    """Kind of an edge."""

    OPERATOR_KERNEL = "critical_path_operator"
    """Time in a host event, or the duration of device work."""
    DEPENDENCY = "critical_path_dependency"
    """Order of two host events; takes no time."""
    KERNEL_LAUNCH_DELAY = "critical_path_kernel_launch_delay"
    """From the start of a launch to the start of its device work."""
    KERNEL_KERNEL_DELAY = "critical_path_kernel_kernel_delay"
    """From the end of device work to the start of the next work on its stream."""
    SYNC_DEPENDENCY = "critical_path_sync_dependency"
    """From the end of device work to the waiting event; takes no time."""


class BoundType(Enum):
    """Resource that bounds an edge of the path."""

    GPU_KERNEL_KERNEL_OVERHEAD = "gpu_kernel_kernel_overhead"
    GPU_KERNEL_LAUNCH_OVERHEAD = "gpu_kernel_launch_overhead"
    DATA_LOADING = "data_loading"
    CPU_BOUND = "cpu_bound"
    GPU_COMPUTE_BOUND = "gpu_compute_bound"
    GPU_COMMUNICATION_BOUND = "gpu_communication_bound"


DEFAULT_EDGE_TYPES_IN_VIZ: set[CPEdgeType] = {
    CPEdgeType.DEPENDENCY,
    CPEdgeType.KERNEL_LAUNCH_DELAY,
    CPEdgeType.SYNC_DEPENDENCY,
}
"""Edges of the path that an overlaid trace shows by default."""

_TYPES = {
    "operator": CPEdgeType.OPERATOR_KERNEL,
    "kernel": CPEdgeType.OPERATOR_KERNEL,
    "dependency": CPEdgeType.DEPENDENCY,
    "launch": CPEdgeType.KERNEL_LAUNCH_DELAY,
    "kernel_kernel": CPEdgeType.KERNEL_KERNEL_DELAY,
    "sync": CPEdgeType.SYNC_DEPENDENCY,
}


@dataclass(repr=False)
class CPNode:
    """The start or the end of an event."""

    idx: int = -1
    """Position in the list of nodes, which is sorted by time."""
    ev_idx: int = -1
    """Label of the event in the frame."""
    ts: float = 0
    """Time in µs; an integer if the frame's durations are integers."""
    is_start: bool = False
    """Whether the node is the start of the event."""
    is_blocking: bool = False
    """Whether the event is a call that may wait for a device."""

    def __repr__(self) -> str:
        return (
            f"CPNode(event: {self.ev_idx}, node_id={self.idx}, ts={self.ts}, "
            f"is_start={self.is_start}, is_blocking={self.is_blocking})"
        )


@dataclass(frozen=True)
class CPEdge:
    """The order of two nodes, and the time between them."""

    begin: int
    """The earlier node."""
    end: int
    """The later node."""
    type: CPEdgeType
    """Kind of the edge."""
    weight: float = 0
    """Time in µs; -1 if rounding to whole µs made a short event's duration negative."""


class PathParts(NamedTuple):
    """A graph and the longest path through it."""

    nodes: Sequence[CPNode] = ()
    edges: Sequence[CPEdge] = ()
    owners: Mapping[tuple[int, int], int] = {}
    """The event that accounts for the time of an edge, by the edge's nodes."""
    path: Sequence[int] = ()
    """The nodes of the path."""


class Clock(NamedTuple):
    """Converts times of the core to times of a frame."""

    origin_ns: int
    """Time 0 of the frame on the core's clock."""
    is_whole: bool
    """Whether the frame's times are integers."""

    def us(self, ns: int) -> float:
        """Converts a duration in ns to µs."""
        return ns // _NS if self.is_whole else ns / _NS

    def ts(self, ns: int) -> float:
        """Converts a time of the core to a time of the frame."""
        return self.us(ns - self.origin_ns)


def parts_of(answer: AnalysisResult, clock: Clock, blocking: Collection[int]) -> PathParts:
    """Converts the tables of `critical_path(like="hta")`.

    `blocking` contains the events that may wait for a device.
    """
    nodes = [
        CPNode(node, event, clock.ts(time_ns), is_start, event in blocking)
        for node, event, time_ns, is_start in answer.tables["critical_path_nodes"]
        .select("node", "id", "time_ns", "is_start")
        .rows()
    ]
    rows = answer.tables["critical_path_edges"].select("source", "target", "weight_ns", "kind", "id", "is_critical")
    edges: list[CPEdge] = []
    owners: dict[tuple[int, int], int] = {}
    onwards: dict[int, int] = {}
    for source, target, weight_ns, kind, event, is_critical in rows.rows():
        edge = CPEdge(source, target, _TYPES[kind], clock.us(weight_ns))
        edges.append(edge)
        if edge.type is CPEdgeType.OPERATOR_KERNEL:
            owners[source, target] = event
        elif edge.type is CPEdgeType.KERNEL_KERNEL_DELAY:
            owners[source, target] = nodes[source].ev_idx
        if is_critical:
            onwards[source] = target
    return PathParts(nodes, edges, owners, _in_order(onwards))


def _in_order(onwards: Mapping[int, int]) -> list[int]:
    """Returns the nodes of a path in order, from the successor of each node."""
    path = list(onwards.keys() - set(onwards.values()))
    while path and path[-1] in onwards:
        path.append(onwards[path[-1]])
    return path
