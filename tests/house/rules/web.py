"""Imports and comments of TypeScript files."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping

MOST_COLUMNS = 100
"""Of a line of prose."""

_COMMENT_LINE = re.compile(r"\s*(?:/?\*|//)")
_HEADLESS = re.compile(r"[\s/*]*What\b")
_IMPORT = re.compile(r"""(?:\bfrom\s*|\bimport\s*\(?\s*)["']([^"'\n]+)["']""")


def imports(path: str, source: str) -> Iterator[tuple[int, str]]:
    """Line and target of each import: a path from the root for a relative one, else the package as it is written."""
    for match in _IMPORT.finditer(source):
        target = match[1]
        if target.startswith("."):
            target = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
        yield source.count("\n", 0, match.start()) + 1, target


def file_imports(sources: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Each file of `sources` with each other file of them that it imports, also for types alone."""
    for path, source in sources.items():
        for _, target in imports(path, source):
            found = next((name for name in (target, f"{target}.ts", f"{target}.tsx") if name in sources), None)
            if found is not None and found != path:
                yield path, found


def comment_faults(path: str, source: str) -> Iterator[str]:
    """Comments that begin with a headless "What", and lines of comments beyond 100 columns."""
    lines = source.splitlines()
    for number, line in enumerate(lines, 1):
        if not _COMMENT_LINE.match(line):
            continue
        if len(line) > MOST_COLUMNS:
            yield f"{path}:{number}: expected at most {MOST_COLUMNS} columns of prose, found {len(line)}"
        is_first = number == 1 or not _COMMENT_LINE.match(lines[number - 2]) or lines[number - 2].strip() == "/**"
        if is_first and _HEADLESS.match(line):
            yield f"{path}:{number}: expected a verb or a noun, found a headless What"
