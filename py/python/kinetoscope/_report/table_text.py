"""Rows of a table as text for people."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from kinetoscope._analysis.summary import Section
from kinetoscope._base import text

if TYPE_CHECKING:
    from kinetoscope.table import Table

_POINTS = ("start_ns", "end_ns", "time_ns", "peak_ns")
"""Columns with points in time: these keep all digits, to compare with other tables."""
_COUNTED = ("count", "length")
_LARGE = 1000


def section(table: Table, limit: int) -> Section:
    """Formats the first rows; omits columns in which they are all null."""
    rows = table.rows(0, limit)
    values = list(zip(*rows, strict=True)) if rows else [()] * len(table.columns)
    shown = [at for at, cells in enumerate(values) if not rows or any(cell is not None for cell in cells)]
    formatters = [_formatter(table.columns[at]) for at in shown]
    return Section(
        title=f"{table.name}: {text.plural(len(table), 'row')}",
        header=[_header(table.columns[at]) for at in shown],
        rows=[[formatter(row[at]) for at, formatter in zip(shown, formatters, strict=True)] for row in rows],
        numbers=[_is_numeric(values[at]) for at in shown],
        left_out=len(table) - len(rows),
    )


def _header(column: str) -> str:
    """Removes the unit from a column name if the cells contain it."""
    return column if column.endswith(_POINTS) else column.removesuffix("_ns").removesuffix("_bytes")


def _is_numeric(cells: Sequence[Any]) -> bool:
    return any(isinstance(cell, (int, float)) and not isinstance(cell, bool) for cell in cells)


def _formatter(column: str) -> Callable[[Any], str]:
    """Returns the format function for a column, by its name."""
    convert: Callable[[Any], str] = str
    if column.endswith("_ns") and not column.endswith(_POINTS):
        convert = text.duration
    elif column.endswith("bytes"):
        convert = text.size
    elif column.endswith("share"):
        convert = _share
    elif column.endswith(_COUNTED) or column.startswith("num_"):
        convert = text.count
    return lambda value: _formatted(value, convert)


def _formatted(value: Any, convert: Callable[[Any], str]) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if isinstance(value, float) and convert in {str, text.count}:
        # Four digits, but never in powers of ten.
        return f"{value:,.0f}" if abs(value) >= _LARGE else f"{value:,.4g}"
    return convert(value)


def _share(part: float) -> str:
    return text.share(part, 1)
