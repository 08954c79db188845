"""Results of analyses in the command `export`: a workbook, or one file per table."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from kinetoscope._base import text
from kinetoscope._base.tell import tell, tell_problem
from kinetoscope._cli.analyze import PHASE, SelectionOptions, add_option, expect_partners
from kinetoscope._cli.arguments import flag
from kinetoscope._cli.export_flame import ANALYSIS as FLAMEGRAPH
from kinetoscope._cli.output import expect_extension
from kinetoscope._cli.snapshot import STATE, add_moment, all_analyses, analyzed
from kinetoscope._cli.terminal import busy
from kinetoscope._export.analysis_files import write_tables
from kinetoscope._export.analysis_tables import (
    AnalysisTable,
    analysis_tables,
    known_analyses,
    tables_of,
    with_options,
)
from kinetoscope._export.tables import FORMATS
from kinetoscope._export.workbook import EXTENSION
from kinetoscope._io.inputs import refuse_input
from kinetoscope._io.paths import with_suffix_of_rank
from kinetoscope.tables import Tables

if TYPE_CHECKING:
    from kinetoscope.trace import Trace
    from kinetoscope.trace_set import TraceSet

_ALL = "all"


class AnalysisOptions(NamedTuple):
    """Analyses with their options, and the part of the trace."""

    analyses: list[str]
    parameters: list[tuple[str, Any]]
    """Name and value of each option of an analysis."""
    selection: SelectionOptions

    def selected(self) -> dict[str, Any]:
        """Returns the parameters of the selection that differ from their defaults."""
        given = self.selection._asdict()
        clip = {} if given.pop("clip") else {"clip": False}
        by = {name: value for name, value in self.parameters if (name, value) == ("by", PHASE)}
        return {name: value for name, value in given.items() if value not in {None, False}} | clip | by


def add_analyses(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments `analyses` and `parameters`: the options of all analyses, each once."""
    parser.add_argument(
        "analyses",
        nargs="*",
        metavar="ANALYSIS",
        help=f"write the results of these analyses instead of a table; {_ALL} stands for all",
    )
    parser.set_defaults(parameters=[])
    group = parser.add_argument_group("Options of analyses")
    for option in _merged_options():
        add_option(group, option)
    add_moment(group)


def _merged_options() -> list[dict[str, Any]]:
    """Returns an option per name, with the choices of all analyses that have it."""
    merged: dict[str, dict[str, Any]] = {}
    users: dict[str, list[str]] = {}
    for analysis in known_analyses():
        for option in analysis["options"]:
            name = option["name"]
            known = merged.setdefault(name, {**option, "choices": None, "default": None})
            if option["choices"]:
                known["choices"] = list(dict.fromkeys([*(known["choices"] or []), *option["choices"]]))
            users.setdefault(name, []).append(analysis["name"])
    if "by" in merged:
        merged["by"]["choices"].append(PHASE)
    return [option | {"doc": f"{', '.join(users[name])}: {option['doc']}"} for name, option in merged.items()]


def flame_request(options: AnalysisOptions, table: str | None, path: Path) -> dict[str, Any]:
    """Returns the options of a flame graph and its selection.

    Raises ValueError for a table or another analysis, and for options that it does not have.
    """
    if options.analyses != [FLAMEGRAPH] or table is not None:
        found = f"--table {table}" if table is not None else ", ".join(options.analyses) or "none"
        raise ValueError(f"expected the analysis {FLAMEGRAPH} for {path.name}, found {found}")
    return {**_chosen(options)[FLAMEGRAPH], **options.selected()}


def export_analyses(
    found: Trace | TraceSet | Tables,
    options: AnalysisOptions,
    table: str | None,
    output: Path | None,
    extension: str | None,
) -> None:
    """Writes a workbook, or one file per table; `extension` is that of the format, if one is given.

    `output` is a file, or a folder with `extension`. Raises ValueError for unknown names, options
    that no analysis has, and outputs that contradict the format.
    """
    if output is None:
        raise ValueError("expected an output file or folder (-o) for results of analyses, found none")
    kind = extension or output.suffix.lower()
    if kind == EXTENSION:
        if isinstance(found, Tables):
            raise ValueError(f"expected a trace for {EXTENSION}, found {found.sort}")
        _write_workbook(found, _chosen(options), options, table, output)
        return
    if kind not in FORMATS:
        expected = ", ".join([*FORMATS, EXTENSION])
        raise ValueError(f"expected a file name that ends in {expected}, or --format, found {output.name}")
    is_folder = output.is_dir() or (extension is not None and not output.suffix)
    if not is_folder:
        expect_extension(output, kind)
    with busy(f"computing {', '.join(options.analyses)}"):
        tables = list(_selected(list(_results(found, options)), table))
    paths = _paths(tables, output, kind, is_folder=is_folder)
    for path, each in zip(write_tables(tables, paths, kind), tables, strict=True):
        tell(f"{path}: {text.plural(len(each.table), 'row')} of {each.table.name}")
        if each.reason:
            tell_problem(f"{each.table.name}: {each.reason}")


def _results(found: Trace | TraceSet | Tables, options: AnalysisOptions) -> Iterator[AnalysisTable]:
    if not isinstance(found, Tables):
        yield from analysis_tables(found, _chosen(options), options.selected())
        return
    names = list(dict.fromkeys(options.analyses))
    if names == [_ALL]:
        names = all_analyses(found) or names
    for name in names:
        # The only options are those of the state.
        given = dict(options.parameters) if name == STATE or STATE not in names else {}
        yield from tables_of(name, analyzed(found, name, given, options.selected()))


def _chosen(options: AnalysisOptions) -> dict[str, Mapping[str, Any]]:
    """Returns analyses with those options that each has."""
    names = None if options.analyses in ([], [_ALL]) else options.analyses
    chosen: dict[str, dict[str, Any]] = {name: {} for name in with_options(names)}
    given = dict(options.parameters)
    expect_partners(given)
    known = {
        analysis["name"]: {option["name"]: option["choices"] for option in analysis["options"]}
        for analysis in known_analyses()
    }
    for name, value in given.items():
        if (name, value) == ("by", PHASE):
            continue
        takers = [
            each for each in chosen if name in known[each] and (not known[each][name] or value in known[each][name])
        ]
        if not takers:
            raise ValueError(f"expected an analysis with {flag(name)} {value}, found {', '.join(chosen)}")
        for each in takers:
            chosen[each][name] = value
    return {**chosen}


def _selected(tables: Sequence[AnalysisTable], name: str | None) -> Iterator[AnalysisTable]:
    found = [table for table in tables if name in {None, table.table.name}]
    if not found:
        raise ValueError(f"expected a table of {', '.join(table.table.name for table in tables)}, found {name}")
    yield from found


def _paths(tables: Sequence[AnalysisTable], output: Path, kind: str, *, is_folder: bool) -> list[Path]:
    """Returns a path per table: in a folder, or beside each other; one table has the given name."""
    if is_folder:
        output.mkdir(exist_ok=True)
        return [output / f"{table.file_name}{kind}" for table in tables]
    if len(tables) == 1:
        return [output]
    return [with_suffix_of_rank(output, f"_{table.file_name}") for table in tables]


def _write_workbook(
    found: Trace | TraceSet,
    chosen: Mapping[str, Mapping[str, Any]],
    options: AnalysisOptions,
    table: str | None,
    output: Path,
) -> None:
    if table is not None:
        raise ValueError(f"expected names of analyses for {EXTENSION}, found --table {table}")
    refuse_input(output)
    with busy(f"writing {output}"):
        path = found.to_xlsx(output, chosen, **options.selected())
    tell(f"{path}: results of {text.plural(len(chosen), 'analysis', 'analyses')}")
