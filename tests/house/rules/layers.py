"""Who may import whom."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Edge(NamedTuple):
    """One import of one module by another."""

    place: str
    source: str
    target: str


class Layers(NamedTuple):
    """The modules of each layer, what each layer may import besides itself, and the exceptions with their reasons."""

    modules: dict[str, set[str]]
    may_import: dict[str, set[str]]
    exceptions: dict[tuple[str, str], str]

    def layer(self, module: str) -> str | None:
        """The layer that a module is in."""
        return next((layer for layer, modules in self.modules.items() if module in modules), None)


def findings(layers: Layers, edges: Iterable[Edge]) -> list[str]:
    """Imports against the layers, modules in no layer, cycles, and exceptions that nothing needs."""
    edges = [edge for edge in edges if edge.source != edge.target]
    pairs = {(edge.source, edge.target) for edge in edges}
    return against(layers, edges) + _cycles(pairs - layers.exceptions.keys())


def against(layers: Layers, edges: Iterable[Edge]) -> list[str]:
    """Imports against the layers, modules in no layer, and exceptions that nothing needs."""
    edges = [edge for edge in edges if edge.source != edge.target]
    used: set[tuple[str, str]] = set()
    found: list[str] = []
    for edge in edges:
        source, target = layers.layer(edge.source), layers.layer(edge.target)
        unknown = edge.source if source is None else edge.target
        if source is None or target is None:
            found.append(f"{edge.place}: expected every module in a layer, found {unknown} in none")
        elif (edge.source, edge.target) in layers.exceptions:
            used.add((edge.source, edge.target))
        elif target not in layers.may_import[source] | {source}:
            found.append(f"{edge.place}: {edge.source} ({source}) may not import {edge.target} ({target})")
    return found + [f"exception {pair}: nothing needs it" for pair in sorted(layers.exceptions.keys() - used)]


def _cycles(edges: set[tuple[str, str]]) -> list[str]:
    """Modules left when those that import nothing, or that nobody imports, are taken away again and again."""
    while True:
        sources, targets = {source for source, _ in edges}, {target for _, target in edges}
        kept = {(source, target) for source, target in edges if target in sources and source in targets}
        if kept == edges:
            break
        edges = kept
    return [f"cycle through {', '.join(sorted({source for source, _ in edges}))}"] if edges else []
