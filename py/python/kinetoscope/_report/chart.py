"""A chart of a table: SVG without scripts, with the rows in a table below."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from kinetoscope._base import text
from kinetoscope._io.atomic import atomic_path
from kinetoscope._report.html import block, figure, table_html
from kinetoscope._report.table_text import section

if TYPE_CHECKING:
    from kinetoscope.table import Table

_NUM_ROWS = 100
_EXTENSIONS = (".svg", ".html", ".htm")
_PAGE_STYLE = ":root{color-scheme:light dark}body{margin:24px auto;max-width:1100px;padding:0 16px}"


class Chart:
    """A chart from `AnalysisResult.plot`. A notebook shows it with the table folded below it."""

    def __init__(self, svg: str, table: Table) -> None:
        self.svg = svg
        """The chart as an SVG document."""
        self._table = table

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the chart (`.svg`), or a page with chart and table (`.html`) that works offline.

        Raises ValueError for another extension. If the file cannot be written, raises OSError and
        leaves `path` unchanged.
        """
        target = Path(path)
        extension = target.suffix.lower()
        if extension not in _EXTENSIONS:
            raise ValueError(f"expected a file name that ends in {', '.join(_EXTENSIONS)}, found {target.name}")
        content = self.svg if extension == ".svg" else self._page()
        with atomic_path(target) as temporary:
            temporary.write_text(content, encoding="utf-8")
        return target

    def __repr__(self) -> str:
        return f"Chart of {self._table.name}: {text.plural(len(self._table), 'row')}"

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        rows = section(self._table, _NUM_ROWS)
        details = f"<details><summary>{text.escaped(rows.title)}</summary>{table_html(rows)}</details>"
        return block(f"{figure(self.svg)}{details}")

    def _page(self) -> str:
        head = f"<meta charset='utf-8'><title>{text.escaped(self._table.name)}</title><style>{_PAGE_STYLE}</style>"
        return f"<!doctype html><html lang='en'><head>{head}</head><body>{self._repr_html_()}</body></html>\n"
