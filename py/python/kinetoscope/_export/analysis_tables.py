"""Tables of several analyses, each with the reason if it is empty."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from kinetoscope import _native

if TYPE_CHECKING:
    from kinetoscope._analysis.result import AnalysisResult
    from kinetoscope.table import Table

ChosenAnalyses = Iterable[str] | Mapping[str, Mapping[str, Any]] | None
"""Names of analyses, or names with their options; None for all."""


class Analyzed(Protocol):
    """A trace or a job."""

    def analyze(self, name: str, **request: Any) -> AnalysisResult:
        """Runs an analysis by its name."""
        ...


class AnalysisTable(NamedTuple):
    """A table of an analysis."""

    analysis: str
    table: Table
    reason: str
    """Reason for an empty table, if the analysis gives one; else empty."""

    @property
    def file_name(self) -> str:
        """Name for a file without extension: `kernels`, or `kernels.kernels_by_class`."""
        return self.analysis if self.table.name == self.analysis else f"{self.analysis}.{self.table.name}"


def known_analyses() -> list[dict[str, Any]]:
    """Returns all analyses of the core with their options, in the order of its registry."""
    return json.loads(_native.analyses_json())


def with_options(analyses: ChosenAnalyses) -> dict[str, Mapping[str, Any]]:
    """Returns names of analyses with their options, each once.

    Raises ValueError for an unknown name, and for none.
    """
    known = [analysis["name"] for analysis in known_analyses()]
    if isinstance(analyses, str):
        analyses = [analyses]
    named = known if analyses is None else analyses
    chosen: dict[str, Mapping[str, Any]] = {**named} if isinstance(named, Mapping) else {name: {} for name in named}
    unknown = next((name for name in chosen if name not in known), None)
    if unknown is not None or not chosen:
        raise ValueError(f"expected analyses of {', '.join(known)}, found {unknown or 'none'}")
    return chosen


def analysis_tables(
    found: Analyzed, analyses: Mapping[str, Mapping[str, Any]], part: Mapping[str, Any]
) -> Iterator[AnalysisTable]:
    """Runs analyses one after another, and yields all tables of each."""
    for name, options in analyses.items():
        yield from tables_of(name, found.analyze(name, **{**part, **options}))


def tables_of(analysis: str, result: AnalysisResult) -> Iterator[AnalysisTable]:
    """Yields all tables of a result."""
    for table in result.tables.values():
        yield AnalysisTable(analysis, table, "" if len(table) else result.reason or "")
