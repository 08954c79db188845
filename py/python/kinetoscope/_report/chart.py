"""A table drawn: a picture without scripts, with the rows in words behind it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from kinetoscope._base import text
from kinetoscope._io.atomic import written_whole
from kinetoscope._report.html import STYLE, figure, table_html
from kinetoscope._report.table_text import section

if TYPE_CHECKING:
    from kinetoscope.table import Table

_TWIN_ROWS = 100
_TWIN = ".ks details{overflow-x:auto}.ks details th,.ks details td{overflow-wrap:break-word}"
_ENDINGS = (".svg", ".html", ".htm")
_PAGE = ":root{color-scheme:light dark}body{margin:24px auto;max-width:1100px;padding:0 16px}"


class Chart:
    """A picture of a table, made by `AnalysisResult.plot`: a notebook shows it with the table folded away under it."""

    def __init__(self, svg: str, table: Table) -> None:
        self.svg = svg
        """The picture, a whole SVG document."""
        self._table = table

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the picture (`.svg`), or a page with it and the table (`.html`), which opens anywhere, offline.

        ValueError for another ending. OSError when the file cannot be written; then `path` holds what it held before.
        """
        target = Path(path)
        ending = target.suffix.lower()
        if ending not in _ENDINGS:
            raise ValueError(f"expected a file name that ends in {', '.join(_ENDINGS)}, found {target.name}")
        content = self.svg if ending == ".svg" else self._page()
        with written_whole(target) as temporary:
            temporary.write_text(content, encoding="utf-8")
        return target

    def __repr__(self) -> str:
        return f"Chart of {self._table.name}: {text.plural(len(self._table), 'row')}"

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        twin = section(self._table, _TWIN_ROWS)
        rows = f"<details><summary>{text.escaped(twin.title)}</summary>{table_html(twin)}</details>"
        return f"<style>{STYLE}{_TWIN}</style><div class='ks'>{figure(self.svg)}{rows}</div>"

    def _page(self) -> str:
        head = f"<meta charset='utf-8'><title>{text.escaped(self._table.name)}</title><style>{_PAGE}</style>"
        return f"<!doctype html><html lang='en'><head>{head}</head><body>{self._repr_html_()}</body></html>\n"
