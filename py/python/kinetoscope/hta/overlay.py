"""A trace with its critical path drawn into it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinetoscope.hta import written
from kinetoscope.hta.path_parts import CPEdge, CPEdgeType, CPNode

if TYPE_CHECKING:
    from kinetoscope.hta.analyzers.critical_path_analysis import CPGraph
    from kinetoscope.hta.common.trace import Trace

_DRAWN = {CPEdgeType.DEPENDENCY, CPEdgeType.KERNEL_LAUNCH_DELAY, CPEdgeType.SYNC_DEPENDENCY}
_KEPT = {"user_annotation", "python_function"}


def write_overlay(
    traces: Trace,
    rank: int,
    graph: CPGraph,
    output_dir: str,
    only_show_critical_events: bool = True,  # noqa: FBT001, FBT002 - HTA's signature
    show_all_edges: bool = False,  # noqa: FBT001, FBT002 - as above
) -> str:
    """Writes `overlaid_critical_path_<file>`; returns its path."""
    document = written.document_of(traces, rank)
    events: list[dict[str, Any]] = document["traceEvents"]
    critical = graph.critical_path_events_set
    for label in critical:
        events[label].setdefault("args", {})["critical"] = 1
    flows = [
        end
        for number, edge in enumerate(_edges(graph, is_all=show_all_edges and not only_show_critical_events))
        for end in _flow(number, edge, graph, events)
    ]
    if only_show_critical_events:
        events = [event for label, event in enumerate(events) if label in critical or _is_kept(event)]
    document["traceEvents"] = events + flows
    return written.write_document(document, Path(output_dir, f"overlaid_critical_path_{written.name_of(traces, rank)}"))


def _is_kept(event: dict[str, Any]) -> bool:
    return event.get("ph") != "X" or event.get("cat") in _KEPT


def _edges(graph: CPGraph, *, is_all: bool) -> list[CPEdge]:
    if is_all:
        return list(graph.parts.edges)
    path = zip(graph.critical_path_nodes, graph.critical_path_nodes[1:], strict=False)
    places = {place: at for at, place in enumerate(path)}
    drawn = [edge for edge in graph.critical_path_edges_set if edge.type in _DRAWN]
    return sorted(drawn, key=lambda edge: places[edge.begin, edge.end])


def _flow(number: int, edge: CPEdge, graph: CPGraph, events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    is_critical = edge in graph.critical_path_edges_set
    common = {
        "id": number,
        "cat": edge.type.value,
        "name": "critical_path",
        "args": {"weight": edge.weight, "critical": is_critical, "type": edge.type.value},
    }
    ends = [_end(graph.node_list[node], events) for node in (edge.begin, edge.end)]
    return [{"ph": "s", **ends[0], **common}, {"ph": "f", **ends[1], **common, "bp": "e"}]


def _end(node: CPNode, events: list[dict[str, Any]]) -> dict[str, Any]:
    event = events[node.ev_idx]
    after = 0 if node.is_start else event.get("dur", 0) - _inside(event)
    return {"pid": event.get("pid"), "tid": event.get("tid"), "ts": event["ts"] + after}


def _inside(event: dict[str, Any]) -> float:
    """How far before its end an arrow from device work begins: at the end, viewers put it to what comes next."""
    return min(1, event.get("dur", 0)) if "stream" in event.get("args", {}) else 0
