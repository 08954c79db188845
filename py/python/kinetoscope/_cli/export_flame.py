"""Flame graphs as files of other tools in the command `export`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from kinetoscope._base import text
from kinetoscope._base.tell import tell, tell_problem
from kinetoscope._cli.terminal import busy
from kinetoscope._export.tables import SPEEDSCOPE
from kinetoscope._io.inputs import refuse_input

if TYPE_CHECKING:
    from kinetoscope.trace import Trace
    from kinetoscope.trace_set import TraceSet

ANALYSIS = "flamegraph"
FLAME_FORMATS = {"folded": ".folded", "speedscope": SPEEDSCOPE}
"""Extensions by the names of the formats; each may end in `.gz`, too."""


class FlameFile(NamedTuple):
    """A file of a flame graph."""

    format: str
    path: Path


def flame_file(path: Path | None, format_name: str | None) -> FlameFile | None:
    """Returns the file if format or extension are those of a flame graph; else None.

    Raises ValueError without a path, and if format and extension contradict each other.
    """
    name = "" if path is None else path.name.lower().removesuffix(".gz")
    found = next((each for each, extension in FLAME_FORMATS.items() if name.endswith(extension)), None)
    chosen = format_name or found
    if chosen is None or {chosen, found}.isdisjoint(FLAME_FORMATS):
        return None
    if path is None:
        raise ValueError(f"expected an output file (-o) with --format {chosen}, found none")
    if found != chosen:
        raise ValueError(
            f"expected a file name that ends in {FLAME_FORMATS.get(chosen, f'.{chosen}')}, found {path.name}"
        )
    return FlameFile(chosen, path)


def export_flame(found: Trace | TraceSet, file: FlameFile, request: Mapping[str, Any]) -> None:
    """Writes the flame graph of a trace or a job; `request` has its options and the selection."""
    refuse_input(file.path)
    with busy(f"computing {ANALYSIS}"):
        graph = found.flamegraph(**request)
    path = graph.to_folded(file.path) if file.format == "folded" else graph.to_speedscope(file.path)
    tell(f"{path}: {text.plural(len(graph), 'frame')} of {graph.name}")
    if graph.reason:
        tell_problem(f"{graph.name}: {graph.reason}")
