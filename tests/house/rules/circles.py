"""Circles of files that import each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

MOST_FILES = 3
"""Files of one idea may know each other; a larger circle can be read only as a whole."""


def findings(edges: Iterable[tuple[str, str]], most: int = MOST_FILES) -> list[str]:
    """Circles of more than `most` files. Each edge is a file and a file that it imports."""
    targets: dict[str, list[str]] = {}
    for source, target in edges:
        targets.setdefault(source, []).append(target)
    return [
        f"circle of {len(circle)} files, expected at most {most}: {', '.join(sorted(circle))}"
        for circle in sorted(_circles(targets), key=min)
        if len(circle) > most
    ]


def _circles(targets: Mapping[str, list[str]]) -> list[set[str]]:
    """Strongly connected components, by Kosaraju's algorithm."""
    sources: dict[str, list[str]] = {}
    for source, imported in targets.items():
        for target in imported:
            sources.setdefault(target, []).append(source)
    seen: set[str] = set()
    order = [file for start in sorted({*targets, *sources}) for file in _reached(start, targets, seen)]
    seen = set()
    return [set(circle) for start in reversed(order) if (circle := _reached(start, sources, seen))]


def _reached(start: str, nexts: Mapping[str, list[str]], seen: set[str]) -> list[str]:
    """Files on the way from `start` that are not in `seen`, each after the files that follow from it."""
    if start in seen:
        return []
    seen.add(start)
    done: list[str] = []
    open_files = [(start, iter(nexts.get(start, [])))]
    while open_files:
        file, rest = open_files[-1]
        following = next((target for target in rest if target not in seen), None)
        if following is None:
            done.append(file)
            open_files.pop()
        else:
            seen.add(following)
            open_files.append((following, iter(nexts.get(following, []))))
    return done
