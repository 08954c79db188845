"""The result of an analysis: a table, with further tables in `tables`."""

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
    """The main table of an analysis; `tables` has all its tables by name.

    Exports like a `Table`. If the table is empty, `reason` explains why.

    ::

        result = trace.breakdown()
        result.to_polars()
        result.tables["concurrency"].to_polars()
        result.plot()
    """

    def __init__(self, tables: Sequence[_native.Table], reason: str | None, plot: _native.Plot | None) -> None:
        super().__init__(tables[0])
        self.tables = {table.name: Table(table) for table in tables}
        """All tables by name; the first is this one."""
        self.reason = reason
        """Reason for an empty table; None otherwise."""
        self._plot = plot

    def export(self, path: str | os.PathLike[str]) -> Path:
        """Writes the table to a file; formats and errors as in `Trace.export`."""
        from kinetoscope._export.tables import Part, export

        return export([Part(self, {})], path)

    def plot(self, table: str | None = None) -> Chart:
        """Draws the result, or one of its `tables`, as SVG without scripts.

        The analysis selects the kind: bars, a change with its parts, lines over time, or points.
        Charts with many bars show the largest, and the sum of the others. Raises KeyError for an
        unknown table.
        """
        from kinetoscope._report.chart import Chart

        if table is not None and table not in self.tables:
            raise KeyError(f"expected a table of {', '.join(self.tables)}, found {table}")
        plot = self._plot if self._plot and table in {None, self._plot.table} else None
        name = table or (plot.table if plot else self.name)
        reason = self.reason if name in {self.name, plot and plot.table} else None
        rows = self.tables[name]
        return Chart(_native.chart(rows._native, plot, reason), rows)  # noqa: SLF001 - the core draws charts

    def __repr__(self) -> str:
        if self.reason is not None:
            return f"{self.name}: {self.reason}"
        others = [f"{name} ({text.plural(len(table), 'row')})" for name, table in self.tables.items()][1:]
        return "\n".join([super().__repr__(), *([f"more tables: {', '.join(others)}"] if others else [])])

    def _repr_html_(self) -> str:
        if self.reason is not None:
            return f"<p>{text.escaped(self.name)}: {text.escaped(self.reason)}</p>"
        return super()._repr_html_()


def answered(trace: _native.Trace, name: str, request: dict[str, Any]) -> AnalysisResult:
    """Runs an analysis on one trace."""
    return AnalysisResult(*_native.analyze(trace, name, written(request)))


def answered_of_job(
    traces: Sequence[tuple[int | None, _native.Trace]], name: str, request: dict[str, Any]
) -> AnalysisResult:
    """Runs an analysis on the traces of a job, each with its rank."""
    from kinetoscope._base.system import num_processors

    return AnalysisResult(*_native.analyze_job(traces, name, written(request), num_processors()))
