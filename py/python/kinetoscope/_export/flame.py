"""Flame graphs as files of other tools."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from kinetoscope._io.atomic import write_bytes

if TYPE_CHECKING:
    import os

    from kinetoscope._analysis.flamegraph import FlameGraph

_SCHEMA = "https://www.speedscope.app/file-format-schema.json"
_UNITS = {"ns": "nanoseconds", "bytes": "bytes"}
"""Units of speedscope by ours; any other one is `none`."""


class _Frame(NamedTuple):
    part: tuple[object, ...]
    """Values of the columns before `node`: the rank and window, or the phase."""
    depth: int
    name: str
    start: int
    own: int
    total: int


def write_folded(graph: FlameGraph, path: str | os.PathLike[str]) -> Path:
    """Writes a line for each frame with a weight of its own."""

    def lines() -> Iterator[str]:
        for part, frames in _parts(graph):
            stack: list[str] = []
            around = [_one_word(part)] if part else []
            for frame in frames:
                stack[frame.depth :] = [_one_word(frame.name)]
                if frame.own:
                    yield f"{';'.join(around + stack)} {frame.own}\n"

    return _write(path, lines())


def write_speedscope(graph: FlameGraph, path: str | os.PathLike[str]) -> Path:
    """Writes a profile for each part, as frames that open and close."""
    (weight, unit), *_ = graph.tables["flamegraph_coverage"].select("weight", "unit").rows(0, 1) or [("", "")]
    numbers: dict[str, int] = {}
    profiles: list[dict[str, Any]] = []
    for part, frames in _parts(graph):
        events = list(_events(frames, numbers))
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


def _events(frames: Iterable[_Frame], numbers: dict[str, int]) -> Iterator[dict[str, Any]]:
    """Yields where frames open and close; a frame closes before the next one of its depth opens."""
    opened: list[tuple[int, int]] = []
    for frame in frames:
        while len(opened) > frame.depth:
            number, end = opened.pop()
            yield {"type": "C", "frame": number, "at": end}
        number = numbers.setdefault(frame.name, len(numbers))
        yield {"type": "O", "frame": number, "at": frame.start}
        opened.append((number, frame.start + frame.total))
    for number, end in reversed(opened):
        yield {"type": "C", "frame": number, "at": end}


def _parts(graph: FlameGraph) -> Iterator[tuple[str, Iterator[_Frame]]]:
    """Yields the frames of each rank or phase with its name, which is empty where there is one."""
    before = graph.columns[: graph.columns.index("node")]
    columns = [*before, "depth", "name", "start_weight", "self_weight", "total_weight"]
    frames = (_Frame(row[: len(before)], *row[len(before) :]) for row in graph.select(*columns))
    for values, part in groupby(frames, lambda frame: frame.part):
        named = (f"{column} {value}" for column, value in zip(before, values, strict=True) if value is not None)
        yield " ".join(named), part


def _one_word(name: str) -> str:
    """Replaces the characters that separate frames and lines."""
    return " ".join(name.replace(";", ":").split()) or "(no name)"


def _write(path: str | os.PathLike[str], parts: Iterable[str]) -> Path:
    content = "".join(parts).encode()
    return write_bytes(path, gzip.compress(content, mtime=0) if Path(path).suffix == ".gz" else content)
