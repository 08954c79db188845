"""What a command shows where someone is watching: that work is going on, and tables as wide as the terminal."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from kinetoscope._base import text

if TYPE_CHECKING:
    from kinetoscope._analysis.summary import Section

_GAP = 2
_TEXT_WIDTH = 24
"""How narrow a column of texts may become before another is left out for it."""


def busy(doing: str) -> AbstractContextManager[object]:
    """Shows that work is going on, where someone is watching."""
    if not sys.stderr.isatty():
        return nullcontext()
    from rich.console import Console
    from rich.text import Text

    return Console(stderr=True).status(Text(f"{doing} …"))


def print_section(section: Section) -> None:
    """A table in plain text; in a terminal as much of it as there is room for, each row in a line."""
    if not sys.stdout.isatty():
        print(section)
        return
    from rich.console import Console
    from rich.table import Table as Grid
    from rich.text import Text

    console = Console()
    widths = _widths(section, console.width)
    grid = Grid(title=section.title, title_justify="left", box=None, header_style="dim", title_style="bold")
    for title, is_number, _ in zip(section.header, section.numbers, widths, strict=False):
        grid.add_column(title, justify="right" if is_number else "left", no_wrap=True, overflow="ellipsis")
    for row in section.rows:
        cells = (text.clipped(text.printable(cell), width) for cell, width in zip(row, widths, strict=False))
        grid.add_row(*map(Text, cells))
    console.print(grid)
    more = [f"{section.left_out:,} more"] if section.left_out else []
    if others := section.header[len(widths) :]:
        more.append(f"{', '.join(others)} in a wider terminal")
    if more:
        console.print(Text(f"and {'; '.join(more)}"), style="dim")


def _widths(section: Section, width: int) -> Sequence[int]:
    """Of the first columns that there is room for; long texts share what the others leave."""
    columns = zip(section.header, *section.rows, strict=True)
    needed = [max(len(text.printable(cell)) for cell in column) for column in columns]
    widths = [
        size if is_number else min(size, _TEXT_WIDTH) for size, is_number in zip(needed, section.numbers, strict=True)
    ]
    while len(widths) > 1 and sum(widths) + _GAP * len(widths) > width:
        widths.pop()
    left = max(width - sum(widths) - _GAP * len(widths), 0)
    long = [at for at, size in enumerate(widths) if needed[at] > size]
    for number, at in enumerate(long):
        more = min(needed[at] - widths[at], left // (len(long) - number))
        widths[at] += more
        left -= more
    return widths
