"""The critical path as a graph that can be changed and asked again."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import pandas

from kinetoscope.hta import overlay, saved_path
from kinetoscope.hta.common.trace_symbol_table import shorten_name
from kinetoscope.hta.path_parts import BLOCKING_CALLS, CPEdge, CPEdgeType, CPNode, PathParts, parts_of

if TYPE_CHECKING:
    from kinetoscope.hta.common.trace import Trace

__all__ = ["CPEdge", "CPEdgeType", "CPGraph", "CPNode", "CriticalPathAnalysis", "restore_cpgraph"]

_BOUNDS = {
    CPEdgeType.KERNEL_KERNEL_DELAY: "gpu_kernel_kernel_overhead",
    CPEdgeType.KERNEL_LAUNCH_DELAY: "gpu_kernel_launch_overhead",
    CPEdgeType.DEPENDENCY: "",
    CPEdgeType.SYNC_DEPENDENCY: "",
}
_OF_EVENT = ("cat", "pid", "tid", "stream", "index")
_OF_GRAPH = ("_adj", "_node", "_pred", "_succ")


class CPGraph:
    """What waited for what in a rank's trace: nodes, edges with their weights in µs, and the longest path.

    What a `networkx.DiGraph` has, this has, too; its edges have `weight`, and the `CPEdge` as `object`. Who changes
    weights calls `critical_path()` then, which finds the path anew. Only this needs networkx.
    """

    BLOCKING_SYNC_CALLS: ClassVar[list[str]] = list(BLOCKING_CALLS)
    """Calls that may wait for a device."""

    def __init__(self, t_full: Trace, rank: int, parts: PathParts, data_load_events: Sequence[str] = ()) -> None:
        self.t = self.t_full = t_full
        """The traces."""
        self.rank = rank
        """The rank that it is of."""
        self.parts = parts
        """The graph as it was found."""
        self.data_load_events = list(data_load_events)
        """Patterns of the names of host events that load data."""
        self.node_list = list(parts.nodes)
        """Starts and ends of events in the order of time."""
        self.critical_path_nodes: list[int] = []
        """The nodes of the path, in order."""
        self.critical_path_events_set: set[int] = set()
        """The events that the path leads through."""
        self.critical_path_edges_set: set[CPEdge] = set()
        """The edges of the path."""
        self._edges = {(edge.begin, edge.end): edge for edge in parts.edges}
        self._follow(parts.path)

    # --- the trace ------------------------------------------------------------------------------------------------

    @property
    def trace_df(self) -> pandas.DataFrame:
        """The frame of the rank."""
        return self.t_full.get_trace(self.rank)

    @property
    def full_trace_df(self) -> pandas.DataFrame:
        """As `trace_df`."""
        return self.trace_df

    @property
    def symbol_table(self) -> Any:
        """What the numbers in `name` and `cat` stand for."""
        return self.t_full.symbol_table

    # --- events and edges -----------------------------------------------------------------------------------------

    def get_nodes_for_event(self, ev_id: int) -> tuple[CPNode | None, CPNode | None]:
        """The start and the end of an event; None for what is no node."""
        return self._nodes_of_events.get((ev_id, True)), self._nodes_of_events.get((ev_id, False))

    def get_events_for_edge(self, edge: CPEdge) -> tuple[int, int]:
        """The events that an edge leads from and to."""
        return self.node_list[edge.begin].ev_idx, self.node_list[edge.end].ev_idx

    def get_event_attribution_for_edge(self, edge: CPEdge) -> int | None:
        """The event that an edge's time is put to; None for one that is put to none."""
        return self.parts.owners.get((edge.begin, edge.end))

    def get_edges_attributed_to_event(self, ev_idx: int) -> list[CPEdge]:
        """The edges whose time is put to an event."""
        return self._edges_of_events.get(ev_idx, [])

    @cached_property
    def _nodes_of_events(self) -> dict[tuple[int, bool], CPNode]:
        return {(node.ev_idx, node.is_start): node for node in self.node_list}

    @cached_property
    def _edges_of_events(self) -> dict[int, list[CPEdge]]:
        found: dict[int, list[CPEdge]] = {}
        for place, event in self.parts.owners.items():
            found.setdefault(event, []).append(self._edges[place])
        return found

    # --- the path -------------------------------------------------------------------------------------------------

    def critical_path(self) -> bool:
        """Finds the longest path anew, after changes; False where there is none."""
        if "digraph" in self.__dict__:
            import networkx

            if not networkx.is_directed_acyclic_graph(self.digraph):
                return False
            self._follow(networkx.dag_longest_path(self.digraph, weight="weight"))
        return len(self.critical_path_nodes) > 1

    def get_critical_path_breakdown(self) -> pandas.DataFrame | None:
        """A row for each edge of the path, in order, with the event that its time is put to; None without a path."""
        places = self._steps()
        if not places:
            return None
        edges = [self._edges[place] for place in places]
        events = [self.parts.owners.get(place) for place in places]
        of_event = self.trace_df.reindex(events)
        names = [None if event is None else self._names.get(event) for event in events]
        found = {
            "event_idx": pandas.Series(events, dtype="float64"),
            "duration": [self._weight(edge) for edge in edges],
            "type": [edge.type.value for edge in edges],
            "s_name": [math.nan if name is None else shorten_name(name) for name in names],
            **{column: of_event[column].to_numpy() for column in _OF_EVENT},
            "bound_by": [self._bound(*step) for step in zip(edges, names, of_event["stream"], strict=True)],
        }
        return pandas.DataFrame(found)

    def summary(self) -> pandas.Series:
        """Prints and gives what the path is bound by, in percent of its duration."""
        breakdown = self.get_critical_path_breakdown()
        if breakdown is None:
            return pandas.Series(dtype="float64", name="duration")
        totals = pandas.Series(breakdown.groupby("bound_by")["duration"].sum())
        print("Critical Path broken down by boundedness = (in % of duration)")
        return 100 * totals / totals.sum()

    def show_critical_path(self) -> None:
        """Prints the nodes of the path."""
        for node in self.critical_path_nodes:
            print(self.node_list[node])

    def save(self, out_dir: str) -> str:
        """Writes the graph to `<out_dir>.zip`, which `restore_cpgraph` reads; returns this path."""
        weights = {place: self._weight(edge) for place, edge in self._edges.items()}
        return saved_path.save(out_dir, self.parts._replace(path=self.critical_path_nodes), weights, self.trace_df)

    def _follow(self, path: Sequence[int]) -> None:
        self.critical_path_nodes = list(path)
        self.critical_path_events_set = {self.node_list[node].ev_idx for node in path}
        self.critical_path_edges_set = {self._edges[place] for place in self._steps()}

    def _steps(self) -> list[tuple[int, int]]:
        pairs = zip(self.critical_path_nodes, self.critical_path_nodes[1:], strict=False)
        return [place for place in pairs if place in self._edges]

    def _weight(self, edge: CPEdge) -> float:
        """That of the graph where it was changed."""
        if "digraph" not in self.__dict__ or not self.digraph.has_edge(edge.begin, edge.end):
            return edge.weight
        weight = self.digraph.edges[edge.begin, edge.end]["weight"]
        return edge.weight if weight == max(edge.weight, 0) else weight

    def _bound(self, edge: CPEdge, name: str | None, stream: float) -> str:
        if edge.type in _BOUNDS:
            return _BOUNDS[edge.type]
        if stream < 0:
            is_loading = any(re.search(pattern, name or "") for pattern in self.data_load_events)
            return "data_loading" if is_loading else "cpu_bound"
        return "gpu_communication_bound" if name in self._communications else "gpu_compute_bound"

    @cached_property
    def _names(self) -> dict[int, str]:
        return dict(self.t_full.recorded(self.rank).events.select("id", "name").rows())

    @cached_property
    def _communications(self) -> set[str]:
        kernels = self.t_full.recorded(self.rank).analyze("kernels").select("class", "name").rows()
        return {name for kind, name in kernels if kind == "communication"}

    # --- networkx -------------------------------------------------------------------------------------------------

    @cached_property
    def digraph(self) -> Any:
        """The graph as a `networkx.DiGraph`. ImportError without networkx."""
        import networkx

        graph = networkx.DiGraph()
        for (begin, end), edge in self._edges.items():
            graph.add_edge(begin, end, weight=max(edge.weight, 0), object=edge)
        return graph

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") and name not in _OF_GRAPH:
            raise AttributeError(f"expected an attribute of CPGraph, found {name}")
        return getattr(self.digraph, name)

    def __getitem__(self, node: int) -> Any:
        return self.digraph[node]

    def __iter__(self) -> Iterator[int]:
        return iter(self.digraph)

    def __contains__(self, node: object) -> bool:
        return node in self.digraph

    def __len__(self) -> int:
        return len(self.digraph)

    def __bool__(self) -> bool:
        return bool(self.node_list)


class CriticalPathAnalysis:
    """HTA's functions of the critical path."""

    @classmethod
    def critical_path_analysis(
        cls,
        t: Trace,
        rank: int,
        annotation: str,
        instance_id: int | tuple[int, int] | None,
        data_load_events: Sequence[str] | None = None,
    ) -> tuple[CPGraph, bool] | None:
        """As `TraceAnalysis.critical_path_analysis`."""
        bounds: dict[str, int] | None = {} if annotation == "" else _range(t, rank, annotation, instance_id)
        if bounds is None:
            return None
        answer = t.recorded(rank).analyze("critical_path", like="hta", without_last=t.is_cut(rank), **bounds)
        graph = CPGraph(t, rank, parts_of(t, rank, answer), data_load_events or ())
        return graph, graph.critical_path()

    @classmethod
    def overlay_critical_path_analysis(
        cls, t: Trace, rank: int, critical_path_graph: CPGraph, output_dir: str, *shown: bool
    ) -> str:
        """As `TraceAnalysis.overlay_critical_path_analysis`."""
        return overlay.write_overlay(t, rank, critical_path_graph, output_dir, *shown)


def restore_cpgraph(zip_filename: str, t_full: Trace, rank: int) -> CPGraph:
    """The graph that `CPGraph.save` wrote, of the same trace. ValueError for another file."""
    parts, weights = saved_path.restore(zip_filename)
    graph = CPGraph(t_full, rank, parts)
    changed = {(edge.begin, edge.end): weights[at] for at, edge in enumerate(parts.edges) if weights[at] != edge.weight}
    for place, weight in changed.items():
        graph.digraph.edges[place]["weight"] = weight
    return graph


def _range(t: Trace, rank: int, annotation: str, instance_id: int | tuple[int, int] | None) -> dict[str, int] | None:
    """From the start to the end of the instances of an annotation, in ns; None where there is no such annotation."""
    symbols = {number for name, number in t.symbol_table.get_sym_index().items() if annotation in name}
    frame = t.get_trace(rank)
    labels = frame.loc[frame["name"].isin(symbols), "index"].tolist()
    if not labels:
        return None
    first, last = instance_id if isinstance(instance_id, tuple) else (instance_id or 0, instance_id or 0)
    chosen = set(labels[first : last + 1])
    if not chosen:
        raise ValueError(f"expected one of the {len(labels)} instances of {annotation}, found {instance_id}")
    events = t.recorded(rank).events.select("id", "start_ns", "dur_ns").rows()
    times = [(start_ns, start_ns + dur_ns) for event, start_ns, dur_ns in events if event in chosen]
    return {"start_ns": min(start for start, _ in times), "end_ns": max(end for _, end in times)}
