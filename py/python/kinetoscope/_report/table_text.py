"""The rows of a table in words, for people to read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from kinetoscope._analysis.summary import Section
from kinetoscope._base import text

if TYPE_CHECKING:
    from kinetoscope.table import Table

_POINTS = ("start_ns", "end_ns", "time_ns", "peak_ns")
"""Points in time keep their digits: other tables count from the same zero."""
_COUNTED = ("count", "length")


def section(table: Table, limit: int) -> Section:
    """The first rows in words; columns in which they have nothing are left out."""
    rows = table.rows(0, limit)
    values = list(zip(*rows, strict=True)) if rows else [()] * len(table.columns)
    shown = [at for at, cells in enumerate(values) if not rows or any(cell is not None for cell in cells)]
    words = [_words(table.columns[at]) for at in shown]
    return Section(
        title=f"{table.name}: {text.plural(len(table), 'row')}",
        header=[_header(table.columns[at]) for at in shown],
        rows=[[word(row[at]) for at, word in zip(shown, words, strict=True)] for row in rows],
        numbers=[_is_numeric(values[at]) for at in shown],
        left_out=len(table) - len(rows),
    )


def _header(column: str) -> str:
    """Without the unit, where the cells say it."""
    return column if column.endswith(_POINTS) else column.removesuffix("_ns").removesuffix("_bytes")


def _is_numeric(cells: Sequence[Any]) -> bool:
    return any(isinstance(cell, (int, float)) and not isinstance(cell, bool) for cell in cells)


def _words(column: str) -> Callable[[Any], str]:
    """How a column's values read, by its name."""
    known: Callable[[Any], str] = str
    if column.endswith("_ns") and not column.endswith(_POINTS):
        known = text.duration
    elif column.endswith("bytes"):
        known = text.size
    elif column.endswith("share"):
        known = _share
    elif column.endswith(_COUNTED) or column.startswith("num_"):
        known = text.count
    return lambda value: _word(value, known)


def _word(value: Any, known: Callable[[Any], str]) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if isinstance(value, float) and known in {str, text.count}:
        return f"{value:,.4g}"
    return known(value)


def _share(part: float) -> str:
    return text.share(part, 1)
