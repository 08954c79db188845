"""Output for a terminal: a progress spinner, and tables that fit its width."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from kinetoscope._base import text
from kinetoscope._base.tell import tell

if TYPE_CHECKING:
    from kinetoscope._analysis.summary import Section

_GAP = 2
_TEXT_WIDTH = 24
"""Minimum width of a text column; columns on the right are dropped before it shrinks more."""


def busy(activity: str) -> AbstractContextManager[object]:
    """Shows a spinner on stderr while the context is open, if stderr is a terminal."""
    if not sys.stderr.isatty():
        return nullcontext()
    from rich.console import Console
    from rich.text import Text

    return Console(stderr=True).status(Text(text.printable(f"{activity} …")))


def print_section(section: Section) -> None:
    """Prints a table as text; in a terminal, one line per row and only the columns that fit."""
    if section.is_prose or not sys.stdout.isatty():
        tell(section)
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
    """Returns widths of the first columns that fit. Long texts share the remaining width."""
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
