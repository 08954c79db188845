"""A graph of the critical path in a file: plain data, so that a stranger's file can do nothing but be read."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinetoscope.hta.path_parts import CPEdge, CPEdgeType, CPNode, PathParts
from kinetoscope.whole import written_whole

if TYPE_CHECKING:
    import pandas

_GRAPH = "cp_graph.json"
_EVENTS = "trace_data.csv"
_FORMAT = "kinetoscope critical path 1"
_MAX_BYTES = 1 << 30


def save(out_dir: str, parts: PathParts, weights: Mapping[tuple[int, int], float], frame: pandas.DataFrame) -> str:
    """Writes `<out_dir>.zip`: the graph with its weights of now, and the events of its nodes as CSV."""
    target = Path(f"{str(out_dir).rstrip('/')}.zip").expanduser()
    target.parent.mkdir(parents=True, exist_ok=True)
    graph = {
        "format": _FORMAT,
        "nodes": [(node.ev_idx, node.ts, node.is_start, node.is_blocking) for node in parts.nodes],
        "edges": [
            (edge.begin, edge.end, edge.weight, edge.type.name, parts.owners.get((edge.begin, edge.end)))
            for edge in parts.edges
        ],
        "weights": [weights[edge.begin, edge.end] for edge in parts.edges],
        "path": list(parts.path),
    }
    events = frame.loc[frame.index.isin({node.ev_idx for node in parts.nodes})]
    with written_whole(target) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_GRAPH, json.dumps(graph))
        archive.writestr(_EVENTS, events.to_csv(index=False))
    return str(target)


def restore(zip_filename: str) -> tuple[PathParts, list[float]]:
    """The graph, and the weights of its edges when it was saved. ValueError for what `save` did not write."""
    with zipfile.ZipFile(Path(zip_filename).expanduser()) as archive:
        if _GRAPH not in archive.namelist():
            raise ValueError(
                f"expected a graph that was saved here, found {', '.join(archive.namelist()) or 'nothing'}"
            )
        if archive.getinfo(_GRAPH).file_size > _MAX_BYTES:
            raise ValueError(f"expected a graph of at most {_MAX_BYTES} bytes, found a larger one")
        try:
            return _parts(json.loads(archive.read(_GRAPH)))
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise ValueError(f"expected a graph that was saved here, found another file: {zip_filename}") from error


def _parts(graph: dict[str, Any]) -> tuple[PathParts, list[float]]:
    if graph["format"] != _FORMAT:
        raise ValueError(graph["format"])
    nodes = [
        CPNode(at, int(row[0]), float(row[1]), bool(row[2]), bool(row[3])) for at, row in enumerate(graph["nodes"])
    ]
    edges = [CPEdge(_place(row[0], nodes), _place(row[1], nodes), row[2], CPEdgeType[row[3]]) for row in graph["edges"]]
    owners = {(row[0], row[1]): int(row[4]) for row in graph["edges"] if row[4] is not None}
    weights = [float(weight) for weight in graph["weights"]]
    if len(weights) != len(edges):
        raise ValueError(len(weights))
    return PathParts(nodes, edges, owners, [_place(node, nodes) for node in graph["path"]]), weights


def _place(number: int, nodes: list[CPNode]) -> int:
    return nodes[number].idx if number >= 0 else nodes[len(nodes)].idx
