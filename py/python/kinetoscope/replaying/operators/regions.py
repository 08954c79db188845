"""Compiled regions of which a trace does not record the kernels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kinetoscope._base import text
from kinetoscope.replaying.operators.unit import UnitChoice

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

_REGION = "## Call CompiledFxGraph"
"""Begin of the annotation that Inductor makes around each run of a compiled graph."""


def region_notes(trace: Trace, choice: UnitChoice) -> list[str]:
    """Describes the compiled regions of a choice without kernels: torch records no C++ kernels."""
    rows = trace.nodes.select("node_id", "parent_id", "name", "kernel_backend").rows()
    nodes = {row[0]: row[1:] for row in rows}
    with_kernels = {above for row in rows if row[3] for above in _above(nodes, row[0])}
    regions = [row[0] for row in rows if (row[2] or "").startswith(_REGION) and row[0] not in with_kernels]
    number = sum(_is_chosen(nodes, each, choice) for each in regions)
    if not number:
        return []
    runs = text.plural(number, "run")
    why = "C++ kernels of Inductor leave no node, so they do not run, and the coverage does not count them"
    return [f"{runs} of compiled graphs without recorded kernels: {why}"]


def _above(nodes: dict[int, Any], node_id: int) -> Iterator[int]:
    """Yields a node and those around it. A node that is its own ancestor comes once."""
    seen: set[int] = set()
    at: int | None = node_id
    while at is not None and at in nodes and at not in seen:
        seen.add(at)
        yield at
        at = nodes[at][0]


def _is_chosen(nodes: dict[int, Any], region: int, choice: UnitChoice) -> bool:
    around = list(_above(nodes, region))
    if choice.node_id is not None:
        return choice.node_id in around
    return choice.subgraph is None or any(nodes[each][1] == choice.subgraph for each in around)
