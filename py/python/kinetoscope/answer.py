"""What an analysis answers: a table, perhaps with others beside it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from kinetoscope import _native, text
from kinetoscope.table import Table

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from pathlib import Path


class Answer(Table):
    """The table that answers; `tables` holds it and those beside it, by name.

    Where it has no rows, `reason` says why.
    """

    def __init__(self, tables: Sequence[_native.Table], reason: str | None, plot: dict[str, Any] | None) -> None:
        super().__init__(tables[0])
        self.tables = {table.name: Table(table) for table in tables}
        """All tables of the answer by their names, this one first."""
        self.reason = reason
        """Why the table has no rows; None where it has some."""
        self._plot = plot

    def export(self, path: str | os.PathLike[str]) -> Path:
        """Writes the table to a file, as `Trace.export` does."""
        from kinetoscope.export import Part, export

        return export([Part(self, {})], path)

    def __repr__(self) -> str:
        if self.reason is not None:
            return f"{self.name}: {self.reason}"
        beside = [f"{text.plural(len(table), 'row')} of {name}" for name, table in self.tables.items()][1:]
        return "\n".join([super().__repr__(), *([f"beside it: {', '.join(beside)}"] if beside else [])])

    def _repr_html_(self) -> str:
        if self.reason is not None:
            return f"<p>{text.escaped(self.name)}: {text.escaped(self.reason)}</p>"
        return super()._repr_html_()


def answered(trace: _native.Trace, name: str, request: dict[str, Any]) -> Answer:
    """What the core answers about one trace."""
    return answer(_native.analyze(trace, name, json.dumps(request)))


def answered_of_job(traces: Sequence[tuple[int | None, _native.Trace]], name: str, request: dict[str, Any]) -> Answer:
    """What the core answers about the traces of a job, each with its rank."""
    from kinetoscope.processors import num_processors

    return answer(_native.analyze_job(traces, name, json.dumps(request), num_processors()))


def answer(found: tuple[list[_native.Table], str | None, str | None]) -> Answer:
    """An answer as the core gives it: tables, the reason for no rows, how the first is drawn."""
    tables, reason, plot = found
    return Answer(tables, reason, json.loads(plot) if plot else None)
