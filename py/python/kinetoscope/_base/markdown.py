"""Writes GitHub's Markdown: names from traces are code, so that they neither link nor format."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from kinetoscope._base import text

_MAX_WIDTH = 120


def code(name: str, width: int = _MAX_WIDTH) -> str:
    """Returns a name as code, for text and for cells of tables, with at most `width` characters.

    Nothing in code is a link, a mention or HTML. The fence is longer than any run of backquotes
    in the name. A bar would end the cell of a table, even in code.
    """
    shown = text.clipped(text.printable(name), width).replace("|", "\\|")
    if not shown.strip():
        return ""
    fence = "`" * (max(map(len, re.findall("`+", shown)), default=0) + 1)
    padding = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{padding}{shown}{padding}{fence}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[bool]) -> str:
    """Returns a table; cells are Markdown already. `right` marks columns of numbers."""
    rule = ["---:" if is_right else "---" for is_right in right]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [header, rule, *rows])
