"""File format of critical path graphs: plain data, so that files cannot run code."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from kinetoscope._io.atomic import atomic_path
from kinetoscope.hta.path_parts import CPEdge, CPEdgeType, CPNode, PathParts

if TYPE_CHECKING:
    import pandas

_GRAPH = "cp_graph.json"
_EVENTS = "trace_data.csv"
_FORMAT = "kinetoscope critical path 1"
_MAX_BYTES = 1 << 30


class SavedPath(NamedTuple):
    """Contents of a saved `CPGraph`."""

    parts: PathParts
    weights: Sequence[float]
    """The weight of each edge, after changes."""
    data_load_events: Sequence[str] | None = None
    """Patterns of the names of host events that load data."""
    events: Sequence[int] = ()
    """Labels of the rows of the graph's frame."""


def save(out_dir: str, saved: SavedPath, frame: pandas.DataFrame) -> str:
    """Writes `<out_dir>.zip`: the graph as JSON, and its frame as CSV. Returns the path."""
    target = Path(f"{str(out_dir).rstrip('/')}.zip").expanduser()
    target.parent.mkdir(parents=True, exist_ok=True)
    owners = saved.parts.owners
    graph = {
        "format": _FORMAT,
        "nodes": [(node.ev_idx, node.ts, node.is_start, node.is_blocking) for node in saved.parts.nodes],
        "edges": [
            (edge.begin, edge.end, edge.weight, edge.type.name, owners.get((edge.begin, edge.end)))
            for edge in saved.parts.edges
        ],
        "weights": list(saved.weights),
        "path": list(saved.parts.path),
        "data_load_events": None if saved.data_load_events is None else list(saved.data_load_events),
        "events": frame.index.tolist(),
    }
    with atomic_path(target) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_GRAPH, json.dumps(graph))
        archive.writestr(_EVENTS, frame.to_csv(index=True, index_label="_index_"))
    return str(target)


def restore(zip_filename: str) -> SavedPath:
    """Reads a file that `save` wrote. Raises ValueError for other files."""
    with zipfile.ZipFile(Path(zip_filename).expanduser()) as archive:
        if _GRAPH not in archive.namelist():
            raise ValueError(
                f"expected a file that CPGraph.save wrote, found {', '.join(archive.namelist()) or 'nothing'}"
            )
        if archive.getinfo(_GRAPH).file_size > _MAX_BYTES:
            raise ValueError(f"expected a graph of at most {_MAX_BYTES} bytes, found a larger one")
        try:
            return _saved(json.loads(archive.read(_GRAPH)))
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise ValueError(f"expected a file that CPGraph.save wrote, found another file: {zip_filename}") from error


def rows_of(saved: SavedPath, frame: pandas.DataFrame) -> pandas.DataFrame:
    """Returns the rows of a graph's frame.

    Raises ValueError if the frame of the rank lacks a row.
    """
    labels = [*saved.events, *(node.ev_idx for node in saved.parts.nodes)]
    if missing := set(labels).difference(frame.index):
        raise ValueError(
            f"expected the trace that the graph was saved of, found one without {len(missing)} of its events"
        )
    return frame.loc[list(saved.events)]


def _saved(graph: dict[str, Any]) -> SavedPath:
    if graph["format"] != _FORMAT:
        raise ValueError(graph["format"])
    parts = _parts(graph)
    weights = [float(weight) for weight in graph["weights"]]
    if len(weights) != len(parts.edges):
        raise ValueError(len(weights))
    patterns = graph["data_load_events"]
    texts = None if patterns is None else [str(pattern) for pattern in patterns]
    return SavedPath(parts, weights, texts, [int(label) for label in graph["events"]])


def _parts(graph: dict[str, Any]) -> PathParts:
    nodes = [CPNode(at, int(row[0]), row[1] + 0, bool(row[2]), bool(row[3])) for at, row in enumerate(graph["nodes"])]
    edges = [
        CPEdge(_place(row[0], nodes), _place(row[1], nodes), CPEdgeType[row[3]], row[2] + 0) for row in graph["edges"]
    ]
    owners = {(row[0], row[1]): int(row[4]) for row in graph["edges"] if row[4] is not None}
    return PathParts(nodes, edges, owners, [_place(node, nodes) for node in graph["path"]])


def _place(number: int, nodes: list[CPNode]) -> int:
    return nodes[number].idx if number >= 0 else nodes[len(nodes)].idx
