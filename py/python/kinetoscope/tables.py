"""What a file holds that is no trace: named tables, and what the file says about itself."""

from __future__ import annotations

import json
import os
from functools import cached_property
from pathlib import Path
from typing import Any

from kinetoscope import _native
from kinetoscope._base import text
from kinetoscope._export.tables import Part, export
from kinetoscope.table import Table


class Tables:
    """A file that holds something else than a trace, in tables. Made by `kinetoscope.read`."""

    def __init__(self, native: _native.Tables, source: str | None = None) -> None:
        self._native = native
        self.source = source
        """The path or name of what was read; None when it came as bytes."""

    @property
    def sort(self) -> str:
        """What it is, in words."""
        return self._native.sort

    @property
    def table_names(self) -> list[str]:
        """What `table` may be asked for; the first is the one that the others are about."""
        return self._native.table_names()

    def table(self, name: str) -> Table:
        """A table by its name; properties give the same. KeyError when there is no such table."""
        return Table(self._native.table(name))

    @cached_property
    def health(self) -> Table:
        """Every kind of defect that was survived, with its count, the first place, and what was done. Best empty."""
        return self.table("health")

    @cached_property
    def metadata(self) -> dict[str, Any]:
        """What the file says about itself."""
        return json.loads(self._native.metadata_json)

    def export(self, path: str | os.PathLike[str], table: str | None = None) -> Path:
        """Writes a table to a file, the first one by default: in a format of `Trace.export`, as the ending says.

        Errors as those of `Trace.export`.
        """
        return export(self.parts(table or self.table_names[0]), path)

    def parts(self, table: str) -> list[Part]:
        """What `export` writes."""
        return [Part(self.table(table), {})]

    def __repr__(self) -> str:
        sizes = [(name, len(self.table(name))) for name in self.table_names]
        lines = [f"  {name}: {text.plural(size, 'row')}" for name, size in sizes]
        return "\n".join([self._headline, *lines])

    def _repr_html_(self) -> str:
        tables = (self.table(name) for name in self.table_names)
        parts = [table._repr_html_() for table in tables if len(table)]
        return f"<p>{text.escaped(self._headline)}</p>{''.join(parts)}"

    @property
    def _headline(self) -> str:
        return f"{self.sort}: {Path(self.source).name}" if self.source else self.sort
