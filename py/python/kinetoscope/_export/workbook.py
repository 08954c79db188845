"""A workbook of Excel with a sheet per table, written by XlsxWriter."""

from __future__ import annotations

import json
import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from kinetoscope import _native
from kinetoscope._base import text
from kinetoscope._base.optional import needed
from kinetoscope._io.atomic import atomic_path

if TYPE_CHECKING:
    from kinetoscope._export.about import Section
    from kinetoscope._export.analysis_tables import AnalysisTable

EXTENSION = ".xlsx"

MAX_ROWS = 1_048_576
"""Rows of a sheet, with its header."""
MAX_TEXT = 32_767
"""UTF-16 units of a cell."""
MAX_NAME = 31
"""Characters of the name of a sheet."""
MAX_INTEGER = 1 << 53
"""Excel has floats alone: larger integers would be rounded."""

_BLOCK_ROWS = 10_000
_HEADER_ROWS = 2
_SAMPLE_ROWS = 100
_WIDTHS = (8, 60)
"""Minimum and maximum width of a column, in characters."""
_CREATED = datetime(1980, 1, 1)  # noqa: DTZ001 - a constant, because a clock would change the bytes
_NOT_IN_XML = re.compile("[\ufffe\uffff]")
"""XlsxWriter escapes all other characters that XML forbids."""
_GROUPED = frozenset({"ns", "bytes", "count", "elements", "FLOP"})
"""Units of quantities; other integers number something, and have no separators."""


class _Column(NamedTuple):
    unit: str
    source: str
    doc: str


_Documented = dict[tuple[str, str], dict[str, _Column]]
"""Columns by analysis and table."""


def write_workbook(path: str | os.PathLike[str], sections: Sequence[Section], tables: Iterable[AnalysisTable]) -> Path:
    """Writes a sheet per table, after the sheet `about` and before the sheet `columns`.

    Raises ImportError without XlsxWriter, ValueError for another extension, and OSError if the
    file cannot be written.
    """
    target = Path(path)
    if target.suffix.lower() != EXTENSION:
        raise ValueError(f"expected a file name that ends in {EXTENSION}, found {target.name}")
    with needed(EXTENSION, "kinetoscope[xlsx]"):
        import xlsxwriter
        from xlsxwriter.exceptions import XlsxFileError
    with atomic_path(target) as temporary:
        book = xlsxwriter.Workbook(temporary, {"constant_memory": True})
        book.use_zip64()  # where the file is larger than 4 GiB
        book.set_properties({"created": _CREATED})
        try:
            _Workbook(book).write(sections, tables)
        finally:  # also after an error: it removes the temporary files of the sheets
            try:
                book.close()
            except XlsxFileError as error:
                cause = error.args[0] if error.args else error
                raise cause if isinstance(cause, OSError) else OSError(str(cause)) from None
    return target


class _Workbook:
    """The sheets of a workbook."""

    def __init__(self, book: Any) -> None:
        self._book = book
        self._documented = _documented()
        self._names = {"about", "columns"}
        self._plain = book.add_format()
        self._bold = book.add_format({"bold": True})
        self._header = book.add_format({"bold": True, "bottom": 1})
        self._unit = book.add_format({"italic": True, "font_color": "#595959", "bottom": 1})
        self._formats = {
            "grouped": book.add_format({"num_format": "#,##0"}),
            "number": book.add_format({"num_format": "0"}),
            "digits": book.add_format({"align": "right"}),
        }

    def write(self, sections: Sequence[Section], tables: Iterable[AnalysisTable]) -> None:
        """Writes all sheets; the first one lists the others."""
        first = self._book.add_worksheet("about")
        contents: list[tuple[str, str, str, int, str | None]] = []
        explained: list[tuple[str, ...]] = []
        for table in tables:
            name = self._name(table)
            documented = self._documented.get((table.analysis, table.table.name), {})
            remark = self._add_table(self._book.add_worksheet(name), table, documented)
            contents.append((name, table.analysis, table.table.name, len(table.table), remark))
            explained += [(name, column, *documented.get(column, ("", "", ""))) for column in table.table.columns]
        self._add_about(first, sections, contents)
        sheet = self._book.add_worksheet("columns")
        self._add_rows(sheet, 0, ("sheet", "column", "unit", "source", "meaning"), explained)
        sheet.freeze_panes(1, 0)
        self._set_widths(sheet, [*explained, ("sheet", "column", "unit", "source", "meaning")])

    def _name(self, table: AnalysisTable) -> str:
        """Returns a unique name: the table's, after the analysis if another one has it, too."""
        name = table.table.name
        analyses = {analysis for analysis, other in self._documented if other == name}
        if analyses - {table.analysis} and name != table.analysis:
            name = f"{table.analysis[: max(MAX_NAME - 1 - len(name), 1)]}.{name}"
        clipped, number = name[:MAX_NAME], 1
        while clipped.lower() in self._names:
            number += 1
            clipped = f"{name[: MAX_NAME - 1 - len(str(number))]}~{number}"
        self._names.add(clipped.lower())
        return clipped

    def _add_table(self, sheet: Any, table: AnalysisTable, documented: dict[str, _Column]) -> str | None:
        """Writes names, units and rows; returns a remark for a table that is empty or cut."""
        columns = table.table.columns
        units = [documented[column].unit if column in documented else "" for column in columns]
        for row, (words, style) in enumerate([(columns, self._header), (units, self._unit)]):
            for at, word in enumerate(words):  # row by row: XlsxWriter drops cells of earlier rows
                sheet.write_string(row, at, word, style) if word else sheet.write_blank(row, at, None, style)
        sheet.freeze_panes(_HEADER_ROWS, 0)
        num_rows = len(table.table)
        self._set_widths(sheet, [columns, *table.table.rows(0, _SAMPLE_ROWS)])
        if not num_rows:
            reason = f"no rows: {table.reason}" if table.reason else "no rows"
            self._write(sheet, _HEADER_ROWS, 0, reason)
            return reason
        shown = num_rows if num_rows <= MAX_ROWS - _HEADER_ROWS else MAX_ROWS - _HEADER_ROWS - 1
        formats = [self._formats["grouped" if unit in _GROUPED else "number"] for unit in units]
        for start in range(0, shown, _BLOCK_ROWS):
            rows = table.table.rows(start, min(start + _BLOCK_ROWS, shown))
            for at, row in enumerate(rows, _HEADER_ROWS + start):
                for column, value in enumerate(row):
                    self._write(sheet, at, column, value, formats[column])
        sheet.autofilter(_HEADER_ROWS - 1, 0, _HEADER_ROWS - 1 + shown, len(columns) - 1)
        if shown == num_rows:
            return None
        remark = f"cut: {text.plural(num_rows - shown, 'more row')}, which exceed the rows of a sheet"
        self._write(sheet, _HEADER_ROWS + shown, 0, remark)
        return remark

    def _add_about(self, sheet: Any, sections: Sequence[Section], contents: Sequence[Sequence[Any]]) -> None:
        at, shown = 0, list[Sequence[Any]]()
        for section in sections:
            sheet.write_string(at, 0, section.title, self._bold)
            at = self._add_rows(sheet, at + 1, section.header, section.rows or [(section.if_empty,)]) + 1
            shown += [section.header, *(section.rows[:_SAMPLE_ROWS])]
        sheet.write_string(at, 0, "Sheets", self._bold)
        header = ("sheet", "analysis", "table", "rows", "remark")
        for column, name in enumerate(header):
            sheet.write_string(at + 1, column, name, self._header)
        for row, (name, *values) in enumerate(contents, at + 2):
            sheet.write_url(row, 0, f"internal:'{name}'!A1", string=name)
            for column, value in enumerate(values, 1):
                self._write(sheet, row, column, value, self._formats["grouped"])
        self._set_widths(sheet, [*shown, header, *contents])

    def _add_rows(self, sheet: Any, at: int, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> int:
        """Writes a header and rows; returns the row after them."""
        for column, name in enumerate(header):
            sheet.write_string(at, column, name, self._header)
        room = max(MAX_ROWS // 2 - at, 1)  # the first sheet has several tables
        shown = rows if len(rows) <= room else [*rows[:room], (f"cut: {len(rows) - room:,} more rows",)]
        for row, values in enumerate(shown, at + 1):
            for column, value in enumerate(values):
                self._write(sheet, row, column, value, self._formats["number"])
        return at + 1 + len(shown)

    def _write(self, sheet: Any, row: int, column: int, value: Any, integers: Any = None) -> None:
        """Writes a value with its type; unknown is an empty cell."""
        if value is None:
            return
        if isinstance(value, bool):
            sheet.write_boolean(row, column, value)
        elif isinstance(value, int):
            if abs(value) <= MAX_INTEGER:
                sheet.write_number(row, column, value, integers)
            else:
                sheet.write_string(row, column, str(value), self._formats["digits"])
        elif isinstance(value, float) and math.isfinite(value):
            sheet.write_number(row, column, value)
        else:
            self._write_text(sheet, row, column, str(value))

    def _write_text(self, sheet: Any, row: int, column: int, value: str) -> None:
        content = cell_text(value)
        if content.startswith("<r>") and content.endswith("</r>"):
            # XlsxWriter would take it for its own formatted text, and write it without escapes
            sheet.write_rich_string(row, column, content[:1], self._plain, content[1:])
        else:
            sheet.write_string(row, column, content)

    def _set_widths(self, sheet: Any, rows: Iterable[Sequence[Any]]) -> None:
        widths = Counter[int]()
        for row in rows:
            for column, value in enumerate(row):
                shown = f"{value:.9g}" if isinstance(value, float) else "" if value is None else str(value)
                widths[column] = max(widths[column], len(shown) + 2)
        for column, width in widths.items():
            sheet.set_column(column, column, min(max(width, _WIDTHS[0]), _WIDTHS[1]))


def cell_text(value: str) -> str:
    """Returns what a cell holds of a text.

    A noncharacter, which XML forbids, becomes U+FFFD. A text that is too long ends with its length.
    """
    clean = _NOT_IN_XML.sub("\ufffd", value)
    if 2 * len(clean) <= MAX_TEXT:
        return clean
    units = clean.encode("utf-16-le", "replace")
    if len(units) <= 2 * MAX_TEXT:
        return clean
    note = f"… (cut: {text.plural(len(value), 'character')})"
    return units[: 2 * (MAX_TEXT - len(note))].decode("utf-16-le", "ignore") + note


def _documented() -> _Documented:
    tables: _Documented = {}
    for table in json.loads(_native.schema_json()):
        if table["analysis"] and table["of"] in {"trace", "job"}:
            columns = tables.setdefault((table["analysis"], table["table"]), {})
            for column in table["columns"]:
                columns[column["name"]] = _Column(column["unit"] or "", column["source"], column["doc"])
    return tables
