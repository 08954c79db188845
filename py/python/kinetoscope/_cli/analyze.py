"""The command `analyze`, with one subcommand per analysis of the core."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from kinetoscope import _native
from kinetoscope._base import text
from kinetoscope._base.tell import tell, tell_problem, tell_sentences
from kinetoscope._cli.arguments import Command, CommandGroup, Group, command, count, flag, integer, number
from kinetoscope._cli.output_format import PICTURES, WritingOptions, add_writing, format_of, print_or_write
from kinetoscope._cli.reading import ReadingOptions, add_rank, add_reading, add_traces, read_recordings, report_defects
from kinetoscope._cli.snapshot import STATE, STATE_SUMMARY, add_moment, analyzed
from kinetoscope._cli.terminal import busy
from kinetoscope.tables import Tables

if TYPE_CHECKING:
    from kinetoscope._analysis.result import AnalysisResult
    from kinetoscope.table import Table
    from kinetoscope.trace import Trace
    from kinetoscope.trace_set import TraceSet


PHASE = "phase"
"""Value of `by` that every analysis takes."""


class SelectionOptions(NamedTuple):
    """Part of a trace that is analysed. Fields are parameters of the Python method."""

    start_ns: int | None
    end_ns: int | None
    iteration: int | None
    phase: str | None
    state: str | None
    annotation: str | None
    module: str | None
    stream: int | None
    launched_inside: bool
    clip: bool
    observed: bool


class ResultOptions(NamedTuple):
    """Options of every command that returns an `AnalysisResult`."""

    by: str | None
    table: str | None
    rank: int | None
    selection: SelectionOptions
    writing: WritingOptions
    reading: ReadingOptions

    def parameters(self) -> dict[str, Any]:
        """Returns the parameters of the Python method that are not None."""
        given = {"by": self.by, **self.selection._asdict()}
        return {name: value for name, value in given.items() if value is not None}


class AnalyzeOptions(NamedTuple):
    """Options of one analysis."""

    analysis: str
    traces: list[str]
    parameters: list[tuple[str, Any]]
    """Name and value of each option that only this analysis has."""
    result: ResultOptions


def analyses() -> list[Command]:
    """Returns a command for each analysis of the core, with its options."""
    template = command("", "", add_arguments=add_result, options=AnalyzeOptions, run=_analyze)
    state = template._replace(name=STATE, summary=STATE_SUMMARY, add_arguments=_add_state_arguments)
    of_traces = [
        template._replace(
            name=analysis["name"],
            summary=analysis["doc"][:1].upper() + analysis["doc"][1:],
            add_arguments=partial(_add_arguments, analysis),
        )
        for analysis in json.loads(_native.analyses_json())
    ]
    return [*of_traces, state]


ANALYZE = CommandGroup(
    "analyze",
    "Analyse a trace or all ranks of a job",
    "Run kinetoscope analyze NAME --help for the options of an analysis.",
    title="analyses",
    noun="analysis",
    metavar="NAME",
    commands=analyses,
)


def _add_arguments(analysis: dict[str, Any], parser: argparse.ArgumentParser) -> None:
    add_traces(parser)
    parser.set_defaults(analysis=analysis["name"], parameters=[])
    group = parser.add_argument_group("Analysis")
    names = [option["name"] for option in analysis["options"]]
    for option in analysis["options"]:
        is_by = option["name"] == "by"
        add_option(group, option | {"choices": [*option["choices"], PHASE]} if is_by else option)
    add_result(parser, has_by="by" in names)


def _add_state_arguments(parser: argparse.ArgumentParser) -> None:
    add_traces(parser)
    parser.set_defaults(analysis=STATE, parameters=[])
    add_moment(parser.add_argument_group("Analysis"))
    add_result(parser)


def add_named_part(group: Group) -> None:
    """Adds the arguments that select a part by name."""
    group.add_argument("--iteration", type=count, metavar="N", help="select iteration N, as in ProfilerStep#N")
    group.add_argument("--phase", metavar="NAME", help="select iterations of a phase, such as decode")
    group.add_argument("--state", metavar="NAME", help="select iterations of a state: warm_up, capture or steady")
    group.add_argument("--annotation", metavar="NAME", help="select annotations by name; * stands for any text")
    group.add_argument("--module", metavar="NAME", help="select modules by name; * stands for any text")


def add_result(parser: argparse.ArgumentParser, *, has_by: bool = False) -> None:
    """Adds the arguments of `ResultOptions`; no `--by` if the analysis has its own."""
    add_selection(parser, has_by=has_by)
    if has_by:
        parser.set_defaults(by=None)
    output = parser.add_argument_group("Output")
    output.add_argument("--table", metavar="NAME", help="table of the result (default: the first)")
    add_writing(output, PICTURES)
    add_reading(parser)


def add_selection(parser: argparse.ArgumentParser, *, has_by: bool = False) -> Group:
    """Adds the arguments of `SelectionOptions`, `by` and `rank`; no `--by` if there is one."""
    selection = parser.add_argument_group("Selection")
    selection.add_argument("--start-ns", type=integer, metavar="N", help="start of the time range, as in the tables")
    selection.add_argument("--end-ns", type=integer, metavar="N", help="end of the time range")
    add_named_part(selection)
    if not has_by:
        by = partial(_choice, [PHASE])
        selection.add_argument("--by", type=by, metavar=f"{{{PHASE}}}", help="one result per phase of the iterations")
    selection.add_argument("--stream", type=integer, metavar="N", help="select the device events of stream N")
    add_rank(selection)
    selection.add_argument(
        "--launched-inside", action="store_true", help="skip device work launched outside the selection"
    )
    selection.add_argument(
        "--no-clip",
        dest="clip",
        action="store_false",
        help="do not cut events at the edges: count the whole duration if the event or its launch starts inside",
    )
    selection.add_argument(
        "--observed", action="store_true", help="include iterations with the Execution Trace observer, which is slow"
    )
    return selection


class _Kind(NamedTuple):
    parse: Callable[[str], Any]
    metavar: str


_KINDS = {
    "count": _Kind(count, "N"),
    "id": _Kind(integer, "N"),
    "number": _Kind(number, "N"),
    "text": _Kind(str, "TEXT"),
}


def add_option(group: argparse._ArgumentGroup, option: dict[str, Any]) -> None:
    """Adds the argument of an analysis' option; its name and value go to `parameters`."""
    name, summary = option["name"], option["doc"].replace("%", "%%")
    add = partial(group.add_argument, flag(name), dest="parameters")
    if option["kind"] == "flag":
        add(action="append_const", const=(name, True), help=summary)
        return
    if option["kind"] == "choice":
        kind = _Kind(partial(_choice, option["choices"]), f"{{{','.join(option['choices'])}}}")
    else:
        kind = _KINDS[option["kind"]]
    default = "" if option["default"] is None else f" (default: {option['default']})"
    parse = partial(_named, name, kind.parse)
    add(action="append", type=parse, metavar=kind.metavar, help=f"{summary}{default}")


def _named(name: str, parse: Callable[[str], Any], word: str) -> tuple[str, Any]:
    return name, parse(word)


def _choice(choices: list[str], word: str) -> str:
    if word not in choices:
        raise argparse.ArgumentTypeError(f"expected one of {', '.join(choices)}, found {word}")
    return word


_PARTNERS = {"direction": "focus", "factor": "what_if", "without_last": "like"}
"""Options without an effect, unless another one is given."""


def _analyze(options: AnalyzeOptions) -> None:
    given = dict(options.parameters)
    expect_partners(given)
    extension = format_of(options.result.writing, PICTURES)
    found = read_input(options.traces, options.result)
    with busy(f"computing {options.analysis}"):
        if isinstance(found, Tables):
            result = analyzed(found, options.analysis, given, options.result.parameters())
        elif options.analysis == STATE:
            raise ValueError(f"expected a memory snapshot for {STATE}, found a trace or a job")
        else:
            result = found.analyze(options.analysis, **given, **options.result.parameters())
    print_or_write_result(result, options.result, extension)


def expect_partners(given: Mapping[str, Any]) -> None:
    """Raises ValueError for an option that has no effect without another one."""
    for name, partner in _PARTNERS.items():
        if name in given and partner not in given:
            raise ValueError(f"{flag(name)} needs {flag(partner)}")


def read_input(paths: list[str], options: ResultOptions) -> Trace | TraceSet | Tables:
    """Reads files as `read_recordings`, and reports their defects."""
    found = read_recordings(paths, options.reading, rank=options.rank, output=options.writing.output)
    report_defects(found)
    return found


def print_or_write_result(result: AnalysisResult, options: ResultOptions, extension: str | None) -> None:
    """Prints or writes the selected table of a result, or writes its picture.

    Raises ValueError if the result has no table of that name.
    """
    table, output = _table(result, options.table), options.writing.output
    if output and extension in PICTURES:
        tell(f"{result.plot(options.table).save(output)}: picture of {table.name}")
    elif extension is None:
        _print(result, table, options.writing)
    else:
        print_or_write(table, options.writing, extension)
        if not len(table) and result.reason:
            tell_problem(f"{table.name}: {result.reason}")


def _table(result: AnalysisResult, name: str | None) -> Table:
    if name is None:
        return result
    if name not in result.tables:
        raise ValueError(f"expected a table of {', '.join(result.tables)}, found {name}")
    return result.tables[name]


def _print(result: AnalysisResult, table: Table, options: WritingOptions) -> None:
    if len(table):
        print_or_write(table, options, None)
    else:
        tell_sentences(f"{table.name}: {result.reason or 'no rows'}")
    others = [
        f"{name} ({text.plural(len(other), 'row')})"
        for name, other in result.tables.items()
        if name != table.name and len(other)
    ]
    if others:
        tell_sentences(f"\nother tables (--table NAME): {', '.join(others)}")
