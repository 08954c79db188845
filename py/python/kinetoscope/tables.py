"""Files of formats other than traces: named tables, and the metadata of the file."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import Any

from kinetoscope import _native
from kinetoscope._base import text
from kinetoscope._base.json_text import parsed
from kinetoscope._export.tables import Part, export
from kinetoscope.table import Table


class Tables:
    """A file of another format than a trace, as tables. Returned by `kinetoscope.read`."""

    def __init__(self, native: _native.Tables, source: str | None = None) -> None:
        self._native = native
        self.source = source
        """Path or name of the file that was read; None for bytes."""

    @property
    def sort(self) -> str:
        """Name of the format, for people."""
        return self._native.sort

    @property
    def table_names(self) -> list[str]:
        """Names that `table` accepts; the first is the main table."""
        return self._native.table_names()

    def table(self, name: str) -> Table:
        """Returns a table by name, as the properties. Raises KeyError for an unknown name."""
        return Table(self._native.table(name))

    @cached_property
    def health(self) -> Table:
        """Tolerated defects: kind, count, first place, and the reader's action."""
        return self.table("health")

    @cached_property
    def metadata(self) -> dict[str, Any]:
        """Metadata of the file."""
        return parsed(self._native.metadata_json)

    def sql(self, query: str, /, **tables: object) -> Table:
        """Runs a SQL query over the tables, with DuckDB; arguments and errors as in `Trace.sql`."""
        from kinetoscope._export.sql import sql

        own = {name: self.table(name) for name in self.table_names}
        return sql(query, {name: [(table, {})] for name, table in {**own, **tables}.items()})

    def export(self, path: str | os.PathLike[str], table: str | None = None) -> Path:
        """Writes a table to a file in a format of `Trace.export`, by its extension.

        `table` defaults to the first of `table_names`. Raises the errors of `Trace.export`.
        """
        return export(self.parts(table or self.table_names[0]), path)

    def parts(self, table: str) -> list[Part]:
        """Returns the tables that `export` writes."""
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
