"""How long files and functions may be. Functions in Rust and TypeScript are measured by clippy and biome."""

from __future__ import annotations

from collections.abc import Iterable

from rules import python

FILE = 500
FUNCTION = 80


def long_file(name: str, source: str, limit: int = FILE) -> list[str]:
    """The file, when it is longer than it may be."""
    length = source.count("\n")
    return [f"{name}: expected at most {limit} lines, found {length}"] if length > limit else []


def long_functions(name: str, source: str) -> list[str]:
    """The Python functions that are longer than they may be."""
    return [
        f"{name}:{line}: {function}: expected at most {FUNCTION} lines, found {length}"
        for line, function, length in python.long_functions(source, FUNCTION)
    ]


def together(folder: str, sources: Iterable[str], limit: int) -> list[str]:
    """The folder, when its files are longer together than they may be."""
    length = sum(source.count("\n") for source in sources)
    return [f"{folder}: expected at most {limit} lines together, found {length}"] if length > limit else []
