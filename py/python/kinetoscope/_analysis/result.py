"""What an analysis answers: a table, perhaps with others beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kinetoscope import _native
from kinetoscope._analysis.request import written
from kinetoscope._base import text
from kinetoscope.table import Table

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from pathlib import Path

    from kinetoscope._report.chart import Chart


class AnalysisResult(Table):
    """The table that answers; `tables` holds it and those beside it, by name.

    Where it has no rows, `reason` says why.
    """

    def __init__(self, tables: Sequence[_native.Table], reason: str | None, plot: _native.Plot | None) -> None:
        super().__init__(tables[0])
        self.tables = {table.name: Table(table) for table in tables}
        """All tables of the answer by their names, this one first."""
        self.reason = reason
        """Why the table has no rows; None where it has some."""
        self._plot = plot

    def export(self, path: str | os.PathLike[str]) -> Path:
        """Writes the table to a file, as `Trace.export` does."""
        from kinetoscope._export.tables import Part, export

        return export([Part(self, {})], path)

    def plot(self, table: str | None = None) -> Chart:
        """Draws the answer, or one of its `tables`, as the analysis says.

        That is bars, a change with its parts, functions of time, or points. The picture is SVG without scripts, and as
        large as a page takes: of more bars than can be compared the largest are drawn, and the rest as one. KeyError
        when there is no such table.
        """
        from kinetoscope._report.chart import Chart

        if table is not None and table not in self.tables:
            raise KeyError(f"expected a table of {', '.join(self.tables)}, found {table}")
        drawn = self._plot if self._plot and table in {None, self._plot.table} else None
        name = table or (drawn.table if drawn else self.name)
        reason = self.reason if name in {self.name, drawn and drawn.table} else None
        rows = self.tables[name]
        return Chart(_native.chart(rows._native, drawn, reason), rows)  # noqa: SLF001 - the core draws

    def __repr__(self) -> str:
        if self.reason is not None:
            return f"{self.name}: {self.reason}"
        beside = [f"{text.plural(len(table), 'row')} of {name}" for name, table in self.tables.items()][1:]
        return "\n".join([super().__repr__(), *([f"beside it: {', '.join(beside)}"] if beside else [])])

    def _repr_html_(self) -> str:
        if self.reason is not None:
            return f"<p>{text.escaped(self.name)}: {text.escaped(self.reason)}</p>"
        return super()._repr_html_()


def answered(trace: _native.Trace, name: str, request: dict[str, Any]) -> AnalysisResult:
    """What the core answers about one trace."""
    return AnalysisResult(*_native.analyze(trace, name, written(request)))


def answered_of_job(
    traces: Sequence[tuple[int | None, _native.Trace]], name: str, request: dict[str, Any]
) -> AnalysisResult:
    """What the core answers about the traces of a job, each with its rank."""
    from kinetoscope._base.processors import num_processors

    return AnalysisResult(*_native.analyze_job(traces, name, written(request), num_processors()))
