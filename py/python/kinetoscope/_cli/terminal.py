"""Output for a terminal: a progress spinner, and tables that fit its width."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, NamedTuple

from kinetoscope._base import text
from kinetoscope._base.tell import tell, tell_sentences

if TYPE_CHECKING:
    from kinetoscope._analysis.summary import Section

_GAP = 2
_TEXT_WIDTH = 24
"""Minimum width of a text column; further columns go to another block before it shrinks more."""
_SENTENCE_WIDTH = 40
_MAX_KEYS = 3
_MIN_WIDTH = 8


def busy(activity: str) -> AbstractContextManager[object]:
    """Shows a spinner on stderr while the context is open, if stderr is a terminal."""
    if not sys.stderr.isatty():
        return nullcontext()
    from rich.console import Console
    from rich.text import Text

    return Console(stderr=True).status(Text(text.printable(f"{activity} …")))


class _Column(NamedTuple):
    """A column of a block."""

    at: int
    """Position in the section."""
    width: int


def print_section(section: Section) -> None:
    """Prints a table as text; in a terminal, one line per row.

    Columns that exceed the width of the terminal go to further blocks, after the columns that
    identify the rows.
    """
    if section.is_prose:
        tell_sentences(section)
        return
    if not sys.stdout.isatty():
        tell(section)
        return
    from rich.console import Console
    from rich.text import Text

    console = Console()
    blocks = _blocks(section, console.width)
    for number, block in enumerate(blocks):
        title = f"{section.title} ({number + 1} of {len(blocks)})" if len(blocks) > 1 else section.title
        console.print(Text(title), style="bold")  # a title of the grid would be as narrow as the grid
        console.print(_grid(section, block))
    if section.left_out:
        console.print(Text(f"and {section.left_out:,} more"), style="dim")


def _grid(section: Section, block: Sequence[_Column]) -> object:
    """Returns some columns of a section as a table of rich."""
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid(box=None, header_style="dim")
    for at, width in block:
        name, is_number = section.header[at], section.numbers[at]
        wraps = name in text.SENTENCES
        overflow = "fold" if wraps else "ellipsis"
        justify = "right" if is_number else "left"
        grid.add_column(name, justify=justify, no_wrap=not wraps, overflow=overflow, width=width)
    for row in section.rows:
        grid.add_row(*(Text(_fitting(section.header[at], row[at], width)) for at, width in block))
    return grid


def _fitting(name: str, cell: str, width: int) -> str:
    return text.printable(cell) if name in text.SENTENCES else text.clipped(text.printable(cell), width)


def _blocks(section: Section, width: int) -> list[list[_Column]]:
    """Distributes columns over blocks that fit a width. Long texts share the remaining width."""
    columns = zip(section.header, *section.rows, strict=True)
    needed = [max(len(text.printable(cell)) for cell in column) for column in columns]
    least = [_least(*column) for column in zip(section.header, section.numbers, needed, strict=True)]
    keys = _keys(section.numbers)
    blocks: list[list[_Column]] = []
    open_block: list[_Column] = []
    for at, size in enumerate(least):
        is_full = _width(open_block) + size + _GAP > width and len(open_block) > len(keys)
        if is_full:
            blocks.append(open_block)
            open_block = [_Column(key, least[key]) for key in keys]
        open_block.append(_Column(at, size))
    return [_spread(block, needed, section.numbers, width) for block in [*blocks, open_block]]


def _least(name: str, is_number: bool, needed: int) -> int:  # noqa: FBT001 - a column of the section
    """Returns the smallest useful width of a column."""
    if is_number:
        return needed
    return min(needed, _SENTENCE_WIDTH if name in text.SENTENCES else _TEXT_WIDTH)


def _keys(numbers: Sequence[bool]) -> range:
    """Returns the columns that identify a row: up to the first text, or the first two numbers."""
    texts = [at for at, is_number in enumerate(numbers[:_MAX_KEYS]) if not is_number]
    return range(min(texts[0] + 1 if texts else 2, len(numbers)))


def _width(block: Sequence[_Column]) -> int:
    return sum(column.width + _GAP for column in block)


def _spread(block: list[_Column], needed: list[int], numbers: Sequence[bool], width: int) -> list[_Column]:
    """Widens texts that need it by the remaining width, or narrows texts if a block is too wide."""
    left = width - _width(block)
    texts = [number for number, column in enumerate(block) if not numbers[column.at]]
    long = [number for number in texts if left < 0 or needed[block[number].at] > block[number].width]
    for index, number in enumerate(long):
        at, size = block[number]
        more = int(left / (len(long) - index))
        more = max(more, min(_MIN_WIDTH - size, 0)) if left < 0 else min(needed[at] - size, more)
        block[number] = _Column(at, size + more)
        left -= more
    return block
