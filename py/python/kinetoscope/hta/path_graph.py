"""The critical path of a rank, as a graph that programs can query and change."""

from __future__ import annotations

import copy
import itertools
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import pandas

from kinetoscope._base.optional import needed
from kinetoscope.hta import saved_path
from kinetoscope.hta.common.trace_symbol_table import decode_symbol_id_to_symbol_name, shorten_name
from kinetoscope.hta.configs import env_options
from kinetoscope.hta.configs.config import logger
from kinetoscope.hta.path_parts import BLOCKING_CALLS, BoundType, CPEdge, CPEdgeType, CPNode, PathParts
from kinetoscope.hta.path_window import PathWindow, clipped, graph_of, window_around, with_rows_of
from kinetoscope.hta.timing import timeit
from kinetoscope.hta.utils.utils import is_comm_kernel

if TYPE_CHECKING:
    from kinetoscope.hta.common.trace import Trace

_BOUNDS = {
    CPEdgeType.KERNEL_KERNEL_DELAY.value: BoundType.GPU_KERNEL_KERNEL_OVERHEAD.value,
    CPEdgeType.KERNEL_LAUNCH_DELAY.value: BoundType.GPU_KERNEL_LAUNCH_OVERHEAD.value,
    CPEdgeType.DEPENDENCY.value: "",
    CPEdgeType.SYNC_DEPENDENCY.value: "",
}
_OF_EVENT = ("cat", "pid", "tid", "stream", "index")
_OF_GRAPH = ("_adj", "_node", "_pred", "_succ")
_SHARED = ("t", "t_full", "trace_df", "full_trace_df", "symbol_table")
_TOO_NEGATIVE_US = -1


def _networkx() -> Any:
    """Imports networkx. Raises ImportError with advice if it is missing."""
    with needed("this critical path", "networkx"):
        import networkx
    return networkx


class CPGraph:
    """Critical path graph of a rank: starts and ends of events, linked by edges.

    An edge holds the order of two nodes and the time between them, in µs.

    Offers the methods of a `networkx.DiGraph`; only these methods need networkx. Edges have the
    attributes `weight` and `object` (a `CPEdge`). Call `critical_path()` after you change weights.

    The graph covers the traces `t_full` from the first to the last host event in the frame of `t`.
    The nodes and edges of the graph `G` come first; without `t`, the graph has only these.
    `data_load_events` are regular expressions: host events with matching names are bound by
    `data_loading`.
    """

    BLOCKING_SYNC_CALLS: ClassVar[list[str]] = list(BLOCKING_CALLS)
    """Calls that may wait for a device."""

    def __init__(
        self,
        t: Trace | None,
        t_full: Trace,
        rank: int,
        G: Any = None,  # noqa: N803 - HTA's name
        data_load_events: Sequence[str] | None = None,
    ) -> None:
        self.rank = rank
        """The rank."""
        self.t = t
        """The traces, with the frame of the selected events."""
        self.t_full = t_full
        """The traces with all events."""
        self.full_trace_df = t_full.get_trace(rank)
        """The frame of the rank, with all events."""
        self.trace_df = (t_full if t is None else t).get_trace(rank)
        """The frame of the selected events."""
        self.symbol_table = t_full.symbol_table
        """The symbols that the ids in `name` and `cat` refer to."""
        self.data_load_events = data_load_events
        """Patterns of the names of host events that load data."""
        self.critical_path_nodes: list[int] = []
        """The nodes of the path, in order; empty before `critical_path()`."""
        self.critical_path_events_set: set[int] = set()
        """The events of the path."""
        self.critical_path_edges_set: set[CPEdge] = set()
        """The edges of the path."""
        self._given = G
        self._take(PathParts())
        window = None if t is None else window_around(t, t_full, rank)
        if window is not None:
            self._construct_graph(window)
            self.trace_df = with_rows_of(self.trace_df, self.full_trace_df, self.event_to_start_node_map)

    @timeit
    def _construct_graph(self, window: PathWindow) -> None:
        self._take(graph_of(self.t_full, self.rank, window, self.BLOCKING_SYNC_CALLS))

    @classmethod
    def in_window(
        cls, t_full: Trace, rank: int, window: PathWindow, data_load_events: Sequence[str] | None = None
    ) -> CPGraph:
        """Builds the graph of host events that start in a window, and of their device events."""
        graph = cls(None, t_full, rank, data_load_events=data_load_events)
        graph._construct_graph(window)
        graph.t = clipped(t_full, rank, window, graph.event_to_start_node_map)
        graph.trace_df = graph.t.get_trace(rank)
        return graph

    @classmethod
    def of_saved(cls, saved: saved_path.SavedPath, t_full: Trace, rank: int) -> CPGraph:
        """Builds a graph from a saved graph of the same trace.

        Raises ValueError for a different trace.
        """
        graph = cls(None, t_full, rank, data_load_events=saved.data_load_events)
        graph.trace_df = saved_path.rows_of(saved, graph.full_trace_df)
        graph._take(saved.parts)
        for edge, weight in zip(saved.parts.edges, saved.weights, strict=True):
            if weight != edge.weight:
                graph.digraph.edges[edge.begin, edge.end]["weight"] = weight
        graph._follow(saved.parts.path)
        return graph

    def _take(self, parts: PathParts) -> None:
        self.node_list = list(parts.nodes)
        """Starts and ends of events, sorted by time."""
        self.event_to_start_node_map = {node.ev_idx: node.idx for node in parts.nodes if node.is_start}
        """The start of each event, as a position in `node_list`."""
        self.event_to_end_node_map = {node.ev_idx: node.idx for node in parts.nodes if not node.is_start}
        """The end of each event, as a position in `node_list`."""
        self.edge_to_event_map = dict(parts.owners)
        """The event that accounts for the time of an edge, by the edge's nodes."""
        self._edges = {(edge.begin, edge.end): edge for edge in parts.edges}
        self._path = list(parts.path)

    # --- events and edges -------------------------------------------------------------------------

    def get_nodes_for_event(self, ev_id: int) -> tuple[CPNode | None, CPNode | None]:
        """Returns the start and the end of an event; None for an event without nodes."""
        nodes = [found.get(ev_id, -1) for found in (self.event_to_start_node_map, self.event_to_end_node_map)]
        start, end = (self.node_list[node] if node >= 0 else None for node in nodes)
        return start, end

    def get_events_for_edge(self, edge: CPEdge) -> tuple[int, int]:
        """Returns the events of the first and of the second node of an edge."""
        return self.node_list[edge.begin].ev_idx, self.node_list[edge.end].ev_idx

    def get_event_attribution_for_edge(self, edge: CPEdge) -> int | None:
        """Returns the event that accounts for the time of an edge.

        Returns None for launches and dependencies.
        """
        return self.edge_to_event_map.get((edge.begin, edge.end))

    def get_edges_attributed_to_event(self, ev_idx: int) -> list[CPEdge]:
        """Returns the edges whose time an event accounts for."""
        return self._edges_of_events.get(ev_idx, [])

    @cached_property
    def _edges_of_events(self) -> dict[int, list[CPEdge]]:
        found: dict[int, list[CPEdge]] = {}
        for place, event in self.edge_to_event_map.items():
            found.setdefault(event, []).append(self._edge(place))
        return found

    def edge_objects(self) -> Iterable[CPEdge]:
        """Returns the `CPEdge` of each edge."""
        if self._is_plain:
            return self._edges.values()
        return (attributes["object"] for _, _, attributes in self.digraph.edges(data=True))

    def _edge(self, place: tuple[int, int]) -> CPEdge:
        return self._edges[place] if self._is_plain else self.digraph.edges[place]["object"]

    @property
    def _is_plain(self) -> bool:
        """Returns whether the graph is unchanged: no caller holds a mutable part of it."""
        return self._given is None and "digraph" not in self.__dict__

    # --- the path ---------------------------------------------------------------------------------

    def critical_path(self) -> bool:
        """Finds the longest path; returns whether one exists. Weights below 0 count as 0.

        With CRITICAL_PATH_STRICT_NEGATIVE_WEIGHT_CHECKS, returns false if a weight is below -1.
        """
        if not self._validate_graph():
            return False
        path = self._path if self._has_core_path else self._longest_path()
        self._follow(path)
        return len(path) > 1

    def _validate_graph(self) -> bool:
        """Returns whether the graph can have a longest path; otherwise logs an error."""
        is_strict = env_options.critical_path_strict_negative_weight_check()
        if is_strict and any(edge.weight < _TOO_NEGATIVE_US for edge in self.edge_objects()):
            logger.error("expected weights of at least %d µs, found one below: no critical path", _TOO_NEGATIVE_US)
            return False
        if self._has_core_path:
            return True
        networkx = _networkx()

        if not networkx.is_directed_acyclic_graph(self.digraph):
            logger.error("expected a graph without cycles: list them with networkx.simple_cycles(graph)")
            return False
        return True

    @property
    def _has_core_path(self) -> bool:
        return self._is_plain and not env_options.critical_path_strict_negative_weight_check()

    def _longest_path(self) -> list[int]:
        networkx = _networkx()

        if not env_options.critical_path_strict_negative_weight_check():
            for _, _, attributes in self.digraph.edges(data=True):
                attributes["weight"] = max(attributes["weight"], 0)
        return networkx.dag_longest_path(self.digraph, weight="weight")

    def get_critical_path_breakdown(self) -> pandas.DataFrame | None:
        """Lists the edges of the path in order, with the event that the time of each belongs to.

        None without a path.

        `duration` is in µs, `bound_by` a `BoundType`, or empty for dependencies. Columns of the
        event are NaN where the time belongs to none. Adds `s_name` and `s_cat` to `trace_df`.
        """
        edges = [self._edge(step) for step in itertools.pairwise(self.critical_path_nodes)]
        if not edges:
            return None
        decode_symbol_id_to_symbol_name(self.trace_df, self.symbol_table, use_shorten_name=True)
        events = [self.get_event_attribution_for_edge(edge) for edge in edges]
        rows = pandas.DataFrame(
            {
                "event_idx": pandas.Series(events, dtype="float64" if None in events else "int64"),
                "duration": [self._weight(edge) for edge in edges],
                "type": [edge.type.value for edge in edges],
            }
        )
        of_events = self.trace_df[["s_name", *_OF_EVENT]]
        found = rows.merge(of_events, left_on="event_idx", right_on="index", how="left")
        found["bound_by"] = [self.bound_by(row) for row in found.to_dict("records")]
        return found

    def bound_by(self, row: Mapping[str, Any]) -> str:
        """Returns the `BoundType` of a row of the breakdown, by `type`, `s_name` and `stream`.

        Returns an empty string for dependencies. Raises AssertionError if `s_name` is missing.
        """
        if row["type"] in _BOUNDS:
            return _BOUNDS[row["type"]]
        if pandas.isna(row["s_name"]):
            raise AssertionError(f"expected the name of an event as s_name, found none in {dict(row)}")
        if row["stream"] < 0:
            return (BoundType.DATA_LOADING if self._loads_data(row) else BoundType.CPU_BOUND).value
        kind = self._kinds.get(row["s_name"])
        communicates = is_comm_kernel(row["s_name"]) if kind is None else kind == "communication"
        return (BoundType.GPU_COMMUNICATION_BOUND if communicates else BoundType.GPU_COMPUTE_BOUND).value

    def summary(self) -> pandas.Series:
        """Prints a heading, and returns the shares (%) of the path's duration by `bound_by`.

        Raises AssertionError if there is no path.
        """
        breakdown = self.get_critical_path_breakdown()
        if breakdown is None:
            raise AssertionError("expected a critical path, found none: call critical_path() first")
        totals = pandas.Series(breakdown.groupby("bound_by")["duration"].sum())
        print("Critical Path broken down by boundedness = (in % of duration)")
        return totals / breakdown["duration"].sum() * 100

    def show_critical_path(self) -> None:
        """Prints the nodes of the path with the names of their events."""
        for node in (self.node_list[place] for place in self.critical_path_nodes):
            print(f"Critical {node}, ev_id = {node.ev_idx} ev_name = {self._get_node_name(node.ev_idx)}")

    def save(self, out_dir: str) -> str:
        """Writes the graph to `<out_dir>.zip`, which `restore_cpgraph` reads; returns this path."""
        edges = list(self.edge_objects())
        parts = PathParts(self.node_list, edges, self.edge_to_event_map, self.critical_path_nodes)
        weights = [self._weight(edge) for edge in edges]
        return saved_path.save(out_dir, saved_path.SavedPath(parts, weights, self.data_load_events), self.trace_df)

    def _follow(self, path: Sequence[int]) -> None:
        self.critical_path_nodes = list(path)
        self.critical_path_events_set = {self.node_list[node].ev_idx for node in path}
        self.critical_path_edges_set = {self._edge(step) for step in itertools.pairwise(path)}

    def _weight(self, edge: CPEdge) -> float:
        """Returns the current weight of an edge, including changes."""
        if self._is_plain or not self.digraph.has_edge(edge.begin, edge.end):
            return edge.weight
        weight = self.digraph.edges[edge.begin, edge.end]["weight"]
        return edge.weight if weight == max(edge.weight, 0) else weight

    def _get_node_name(self, event: float) -> str:
        if event < 0:
            return "ROOT"
        return self.symbol_table.get_sym_table()[self.full_trace_df["name"].loc[int(event)]]

    def _loads_data(self, row: Mapping[str, Any]) -> bool:
        if not self.data_load_events:
            return False
        # the short name lacks text in brackets, such as DataLoader in enumerate(DataLoader)#…
        names = [row["s_name"], *([self._get_node_name(row["index"])] if "index" in row else [])]
        return any(re.search(pattern, name) for pattern in self.data_load_events for name in names)

    @cached_property
    def _kinds(self) -> dict[str, str]:
        """Returns the class of each kernel of the trace, by short name."""
        kernels = self.t_full.recorded(self.rank).analyze("kernels", observed=True).select("class", "name").rows()
        return {shorten_name(name): kind for kind, name in kernels}

    # --- networkx ---------------------------------------------------------------------------------

    @cached_property
    def digraph(self) -> Any:
        """The graph as a mutable `networkx.DiGraph`. Raises ImportError without networkx."""
        networkx = _networkx()

        lowest = float("-inf") if env_options.critical_path_strict_negative_weight_check() else 0
        graph = networkx.DiGraph(self._given)
        for (begin, end), edge in self._edges.items():
            graph.add_edge(begin, end, weight=max(edge.weight, lowest), object=edge)
        return graph

    @property
    def __class__(self) -> type:  # pyright: ignore[reportIncompatibleMethodOverride] - as a mock has it
        # makes isinstance(graph, networkx.DiGraph) true without importing networkx
        networkx = sys.modules.get("networkx")
        return type(self) if networkx is None else networkx.DiGraph

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") and name not in _OF_GRAPH:
            raise AttributeError(f"expected an attribute of CPGraph, found {name}")
        return getattr(self.digraph, name)

    def __deepcopy__(self, memo: dict[int, Any]) -> CPGraph:
        # Copies share the traces: these never change, and native traces cannot be copied.
        found = object.__new__(CPGraph)
        memo[id(self)] = found
        found.__dict__.update(
            {name: value if name in _SHARED else copy.deepcopy(value, memo) for name, value in self.__dict__.items()}
        )
        return found

    def __getitem__(self, node: int) -> Any:
        return self.digraph[node]

    def __iter__(self) -> Iterator[int]:
        return iter(self.digraph)

    def __contains__(self, node: object) -> bool:
        return node in self.digraph

    def __len__(self) -> int:
        return len(self.digraph)

    def __bool__(self) -> bool:
        return not self._is_plain or bool(self._edges)

    def __str__(self) -> str:
        places = self._edges if self._is_plain else self.digraph.edges
        nodes = {node for place in places for node in place} if self._is_plain else self.digraph
        return f"CPGraph with {len(nodes)} nodes and {len(places)} edges"
