"""Results of analyses as files: a workbook, or one file per table."""

from __future__ import annotations

import os

from kinetoscope._base import lazy

TYPE_CHECKING = False  # importing it from `typing` costs half a megabyte
if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from kinetoscope._export.analysis_tables import AnalysisTable


class AnalysisFiles:
    """The methods of a trace or a job that write results of analyses."""

    def analyze(self, name: str, **request: lazy.Any) -> lazy.AnalysisResult:
        """Runs an analysis by its name."""
        raise NotImplementedError

    def to_xlsx(
        self,
        path: str | os.PathLike[str],
        analyses: lazy.ChosenAnalyses = None,
        **part: lazy.Unpack[lazy.Selection],
    ) -> lazy.Path:
        """Writes the results of analyses to a workbook of Excel; returns its path.

        `analyses` are names, or a dictionary of names with options; by default, all. `part` is a
        selection for each of them (see `Selection`).

        ::

            trace.to_xlsx("run.xlsx")
            job.to_xlsx("run.xlsx", {"operators": {"by": "shape"}, "kernels": {}}, iteration=3)

        The first sheet, `about`, names the files, devices and counts, lists all warnings and
        problems, and links to the other sheets. Each table has a sheet: names of columns, units,
        and rows. An empty table tells the reason. The last sheet explains all columns.

        Integers beyond 2**53, such as timestamps, are texts, because Excel would round them. Texts
        never run as formulas. Sheets and cells that exceed the limits of Excel are cut, and say so.
        The same input gives the same bytes.

        Raises ImportError without XlsxWriter, ValueError for an unknown analysis or another
        extension, TraceError as the analyses do, and OSError if the file cannot be written.
        """
        from kinetoscope._export.about import about
        from kinetoscope._export.analysis_tables import analysis_tables, with_options
        from kinetoscope._export.workbook import write_workbook

        chosen = with_options(analyses)
        return write_workbook(path, about(self, part.get("rank")), analysis_tables(self, chosen, {**part}))

    def export_analyses(
        self,
        folder: str | os.PathLike[str],
        analyses: lazy.ChosenAnalyses = None,
        *,
        extension: str = ".parquet",
        **part: lazy.Unpack[lazy.Selection],
    ) -> list[lazy.Path]:
        """Writes all tables of analyses to a folder, one file per table; returns their paths.

        `analyses` and `part` are those of `to_xlsx`; `extension` is one of `Trace.export`. The main
        table has the name of the analysis, `kernels.parquet`; others have both names, as
        `kernels.kernels_by_class.parquet`. A folder that does not exist is created. Empty tables
        are written, too. Runs all analyses before it writes the first file.

        Raises the errors of `to_xlsx` and `Trace.export`.
        """
        from pathlib import Path

        from kinetoscope._export.analysis_tables import analysis_tables, with_options

        tables = list(analysis_tables(self, with_options(analyses), {**part}))
        Path(folder).mkdir(exist_ok=True)
        return write_tables(tables, [Path(folder, f"{table.file_name}{extension}") for table in tables], extension)


def write_tables(tables: Iterable[AnalysisTable], paths: Iterable[Path], extension: str) -> list[Path]:
    """Writes each table to its path; returns the paths.

    Raises ValueError for an input file among the paths, before it writes the first file.
    """
    from kinetoscope._export.tables import Part, export
    from kinetoscope._io.inputs import refuse_input

    pairs = list(zip(tables, paths, strict=True))
    for _, path in pairs:
        refuse_input(path)
    return [export([Part(table.table, {})], path, extension) for table, path in pairs]
