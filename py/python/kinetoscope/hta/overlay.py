"""Trace file with a marked critical path."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from kinetoscope.hta import written
from kinetoscope.hta.configs.config import logger
from kinetoscope.hta.configs.env_options import critical_path_show_zero_weight_launch_edges
from kinetoscope.hta.path_parts import CPEdge, CPEdgeType, CPNode

if TYPE_CHECKING:
    from collections.abc import Collection

    from kinetoscope.hta.analyzers.critical_path_analysis import CPGraph
    from kinetoscope.hta.common.trace import Trace

_KEPT = {"user_annotation", "python_function"}


class Shown(NamedTuple):
    """Selects events and edges to draw."""

    only_critical: bool
    """Whether to drop host and device events outside the path.

    Annotations and Python functions stay.
    """
    all_edges: bool
    """Whether to draw all edges of the graph instead of edges of the path."""
    edge_types: Collection[CPEdgeType]
    """Types of path edges to draw."""


def write_overlay(traces: Trace, rank: int, graph: CPGraph, output_dir: str, shown: Shown) -> str:
    """Writes `overlaid_critical_path_<file>` to a folder; returns its path.

    If `output_dir` is no folder, logs an error and returns an empty string.
    """
    folder = Path(output_dir).expanduser()
    if folder.exists() and not folder.is_dir():
        logger.error("expected a folder as output_dir, found the file %s: choose another path", output_dir)
        return ""
    folder.mkdir(parents=True, exist_ok=True)
    document = written.document_of(traces, rank)
    document["traceEvents"] = _drawn(document["traceEvents"], graph, shown)
    path = str(folder / f"overlaid_critical_path_{written.name_of(traces, rank)}")
    traces.write_raw_trace(path, document)
    return path


def _drawn(events: list[dict[str, Any]], graph: CPGraph, shown: Shown) -> list[dict[str, Any]]:
    critical = graph.critical_path_events_set
    for label in critical:
        events[label]["args"] = {**_args(events[label]), "critical": 1}
    edges = _edges(graph, shown)
    flows = [end for number, edge in enumerate(edges) for end in _flow(number, edge, graph, events)]
    if shown.only_critical:
        events = [event for label, event in enumerate(events) if label in critical or _is_kept(event)]
    return events + flows


def is_zero_weight_launch(edge: CPEdge) -> bool:
    """Returns whether an edge from a launch to its device work takes no time."""
    return edge.type is CPEdgeType.KERNEL_LAUNCH_DELAY and edge.weight == 0


def _is_kept(event: dict[str, Any]) -> bool:
    return event.get("ph") != "X" or event.get("cat") in _KEPT


def _edges(graph: CPGraph, shown: Shown) -> list[CPEdge]:
    if shown.all_edges:
        with_zeros = critical_path_show_zero_weight_launch_edges()
        return [edge for edge in graph.edge_objects() if with_zeros or not is_zero_weight_launch(edge)]
    places = {node: place for place, node in enumerate(graph.critical_path_nodes)}
    drawn = [edge for edge in graph.critical_path_edges_set if edge.type in shown.edge_types]
    return sorted(drawn, key=lambda edge: places[edge.begin])


def _flow(number: int, edge: CPEdge, graph: CPGraph, events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    args = {
        "weight": int(edge.weight),
        "critical": edge in graph.critical_path_edges_set,
        "type": edge.type.value,
    }
    common = {"id": number, "cat": "critical_path", "name": "critical_path", "args": args}
    start, end = (_end(graph.node_list[node], events) for node in (edge.begin, edge.end))
    return [{"ph": "s", **start, **common}, {"ph": "f", **end, **common, "bp": "e"}]


def _end(node: CPNode, events: list[dict[str, Any]]) -> dict[str, Any]:
    event = events[node.ev_idx]
    after = 0 if node.is_start else event.get("dur", 0) - _inside(event)
    return {"pid": event.get("pid"), "tid": event.get("tid"), "ts": event["ts"] + after}


def _inside(event: dict[str, Any]) -> float:
    """Returns the distance (µs) of an arrow's start from the end of its device event.

    An arrow exactly at the end would attach to the next event in viewers.
    """
    return min(1, event.get("dur", 0)) if "stream" in _args(event) else 0


def _args(event: dict[str, Any]) -> dict[str, Any]:
    """Returns the arguments of an event; none if a damaged file has no object there."""
    args = event.get("args")
    return args if isinstance(args, dict) else {}
