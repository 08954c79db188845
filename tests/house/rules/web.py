"""TypeScript source: what it imports."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

_IMPORT = re.compile(r"""(?:\bfrom\s*|\bimport\s*\(?\s*)["']([^"'\n]+)["']""")


def imports(path: str, source: str) -> Iterator[tuple[int, str]]:
    """Line and target of each import: a path from the root for a relative one, else the package as it is written."""
    for match in _IMPORT.finditer(source):
        target = match[1]
        if target.startswith("."):
            target = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
        yield source.count("\n", 0, match.start()) + 1, target
