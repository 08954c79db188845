"""Flame graphs as files of other tools."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from kinetoscope._io.atomic import write_bytes

if TYPE_CHECKING:
    import os

    from kinetoscope._analysis.flamegraph import FlameChanges, FlameGraph
    from kinetoscope.table import Table

_SCHEMA = "https://www.speedscope.app/file-format-schema.json"
_UNITS = {"ns": "nanoseconds", "bytes": "bytes"}
"""Units of speedscope by ours; any other one is `none`."""


class _Frame(NamedTuple):
    depth: int
    name: str
    own: Sequence[float]
    """Weight of the frame alone; of each side of a comparison."""


def write_folded(graph: FlameGraph, path: str | os.PathLike[str]) -> Path:
    """Writes a line for each frame with a weight of its own."""
    parts = _parts(graph, "depth", "name", "self_weight")
    return _write(
        path, _lines((part, (_Frame(depth, name, [own]) for depth, name, own in rows)) for part, rows in parts)
    )


def write_folded_changes(changes: FlameChanges, path: str | os.PathLike[str]) -> Path:
    """Writes a line with two weights for each frame with a weight of its own on either side."""
    parts = _parts(changes, "depth", "name", "node", "parent_node", "before_weight", "after_weight")
    return _write(path, _lines((part, _own(rows)) for part, rows in parts))


def _own(rows: Iterable[tuple[Any, ...]]) -> list[_Frame]:
    """Subtracts from the weights of frames those of the frames right inside."""
    frames = list(rows)
    own = {node: list(weights) for _, _, node, _, *weights in frames}
    for _, _, _, parent, *weights in frames:
        if parent is not None:
            own[parent] = [around - weight for around, weight in zip(own[parent], weights, strict=True)]
    return [_Frame(depth, name, own[node]) for depth, name, node, *_ in frames]


def _lines(parts: Iterable[tuple[str, Iterable[_Frame]]]) -> Iterator[str]:
    for part, frames in parts:
        stack: list[str] = []
        around = [_one_word(part)] if part else []
        for frame in frames:
            stack[frame.depth :] = [_one_word(frame.name)]
            # Means per iteration have fractions, and differences of them rounding errors.
            weights = [round(max(weight, 0), 3) for weight in frame.own]
            if any(weights):
                yield f"{';'.join(around + stack)} {' '.join(map(_digits, weights))}\n"


def _digits(weight: float) -> str:
    """Writes a number without an exponent, which readers of folded stacks do not know."""
    return str(int(weight)) if weight == int(weight) else f"{weight:.3f}"


def write_speedscope(graph: FlameGraph, path: str | os.PathLike[str]) -> Path:
    """Writes a profile for each part, as frames that open and close."""
    (weight, unit), *_ = graph.tables["flamegraph_coverage"].select("weight", "unit").rows(0, 1) or [("", "")]
    numbers: dict[str, int] = {}
    profiles: list[dict[str, Any]] = []
    for part, rows in _parts(graph, "depth", "name", "start_weight", "total_weight"):
        events = list(_events(rows, numbers))
        profiles.append(
            {
                "type": "evented",
                "name": f"{weight} {part}".strip(),
                "unit": _UNITS.get(unit, "none"),
                "startValue": 0,
                "endValue": events[-1]["at"] if events else 0,
                "events": events,
            }
        )
    document = {
        "$schema": _SCHEMA,
        "exporter": "kinetoscope",
        "shared": {"frames": [{"name": name} for name in numbers]},
        "profiles": profiles,
    }
    return _write(path, [json.dumps(document, ensure_ascii=False)])


def _events(rows: Iterable[tuple[Any, ...]], numbers: dict[str, int]) -> Iterator[dict[str, Any]]:
    """Yields where frames open and close; a frame closes before the next one of its depth opens."""
    opened: list[tuple[int, int]] = []
    for depth, name, start, total in rows:
        while len(opened) > depth:
            number, end = opened.pop()
            yield {"type": "C", "frame": number, "at": end}
        number = numbers.setdefault(name, len(numbers))
        yield {"type": "O", "frame": number, "at": start}
        opened.append((number, start + total))
    for number, end in reversed(opened):
        yield {"type": "C", "frame": number, "at": end}


def _parts(frames: Table, *columns: str) -> Iterator[tuple[str, Iterator[tuple[Any, ...]]]]:
    """Yields columns of each rank or phase with its name, which is empty where there is one."""
    before = frames.columns[: frames.columns.index("node")]
    for values, rows in groupby(frames.select(*before, *columns), lambda row: row[: len(before)]):
        named = (f"{column} {value}" for column, value in zip(before, values, strict=True) if value is not None)
        yield " ".join(named), (row[len(before) :] for row in rows)


def _one_word(name: str) -> str:
    """Replaces the characters that separate frames and lines."""
    return " ".join(name.replace(";", ":").split()) or "(no name)"


def _write(path: str | os.PathLike[str], parts: Iterable[str]) -> Path:
    content = "".join(parts).encode()
    return write_bytes(path, gzip.compress(content, mtime=0) if Path(path).suffix == ".gz" else content)
