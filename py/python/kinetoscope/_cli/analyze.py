"""The commands that ask: `analyze` and `diff`, with the options that the core lists for each, and `sql`."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from kinetoscope import _native
from kinetoscope._analysis.differences import diff
from kinetoscope._base import text
from kinetoscope._cli.arguments import add_reading, all_of, count, integer, number, tell_defects
from kinetoscope._cli.output import refuse_input, sources
from kinetoscope._cli.output_format import PICTURES, add_form, form_of, hand_out
from kinetoscope._cli.terminal import busy, print_section
from kinetoscope._report.table_text import section
from kinetoscope.trace_set import TraceSet

if TYPE_CHECKING:
    from kinetoscope._analysis.result import AnalysisResult
    from kinetoscope.table import Table
    from kinetoscope.trace import Trace

_PART = (
    ("start_ns", integer, "look at what is after this, as the tables count time"),
    ("end_ns", integer, "and before this"),
    ("iteration", count, "look at ProfilerStep#N"),
    ("stream", integer, "look at the device events of this stream alone"),
)


def add_analyze(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command, with a command of its own for each analysis."""
    about = "what an analysis answers: a table, of one trace or of all of a job"
    analyze = commands.add_parser(
        "analyze",
        help=about,
        description=f"Prints or writes {about}. kinetoscope analyze NAME --help lists its options.",
    )
    names = analyze.add_subparsers(title="analyses", required=True, metavar="NAME", dest="name")
    for analysis in json.loads(_native.analyses_json()):
        _add_analysis(names, analysis)


def add_diff(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command that compares two traces, or two jobs."""
    about = "what got slower or faster from one trace to another, where, and by how much"
    command = commands.add_parser("diff", help=about, description=f"{about[:1].upper()}{about[1:]}.")
    for name, which in (("before", "the trace to compare with"), ("after", "the trace that is compared")):
        command.add_argument(name, metavar=name.upper(), help=f"{which}: a file, an archive, a folder, an address")
    _add_asking(command, command)
    command.set_defaults(run=_diff, wanted=[])


def add_sql(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command for queries of one's own."""
    about = "what a query in SQL answers, by DuckDB"
    tables = ", ".join(_native.Trace.table_names())
    command = commands.add_parser("sql", help=about, description=f"Prints or writes {about}, of the tables {tables}.")
    command.add_argument("query", metavar="QUERY", help="such as: select name, sum(dur_ns) from events group by 1")
    _add_traces(command)
    command.add_argument("--rank", type=count, metavar="N", help="look at this rank alone, of several")
    command.add_argument("--no-et", action="store_true", help="read the Kineto trace alone")
    add_reading(command)
    add_form(command.add_argument_group("in what form"))
    command.set_defaults(run=_sql)


def _add_traces(command: argparse.ArgumentParser) -> None:
    about = "files, archives, folders, addresses; of several, one answer for all"
    command.add_argument("traces", nargs="+", metavar="TRACE", help=about)


def _add_analysis(names: argparse._SubParsersAction[argparse.ArgumentParser], analysis: dict[str, Any]) -> None:
    about = analysis["doc"].replace("%", "%%")
    command = names.add_parser(analysis["name"], help=about, description=f"{about[:1].upper()}{about[1:]}.")
    _add_traces(command)
    own = command.add_argument_group("what is asked")
    for option in analysis["options"]:
        _add_option(own, option)
    _add_asking(command, own)
    wanted = [option["name"] for option in analysis["options"]]
    command.set_defaults(run=_analyze, wanted=wanted)


def _add_asking(command: argparse.ArgumentParser, own: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """Which table of the answer, of what part, in what form, and how traces are read."""
    own.add_argument("--table", metavar="NAME", help="one of the tables beside the first, which is shown otherwise")
    _add_part(command.add_argument_group("of what part"))
    add_form(command.add_argument_group("in what form"), PICTURES)
    reading = command.add_argument_group("read how")
    reading.add_argument("--no-et", action="store_true", help="read the Kineto trace alone")
    add_reading(reading)


class _Kind(NamedTuple):
    type: Any
    metavar: str | None


_KINDS = {
    "choice": _Kind(str, None),
    "count": _Kind(count, "N"),
    "number": _Kind(number, "N"),
    "text": _Kind(str, "TEXT"),
}


def _add_option(group: argparse._ArgumentGroup, option: dict[str, Any]) -> None:
    flag, name = _flag(option["name"]), f"option_{option['name']}"
    about = option["doc"].replace("%", "%%")
    if option["kind"] == "flag":
        group.add_argument(flag, dest=name, action="store_true", help=about)
        return
    kind, default = _KINDS[option["kind"]], option["default"]
    known = "" if default is None else f" (default: {default})"
    group.add_argument(
        flag, dest=name, type=kind.type, metavar=kind.metavar, choices=option["choices"], help=f"{about}{known}"
    )


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _add_part(group: argparse._ArgumentGroup) -> None:
    for name, kind, about in _PART:
        group.add_argument(_flag(name), type=kind, metavar="N", help=about)
    group.add_argument("--rank", type=count, metavar="N", help="look at this rank alone, of several")
    group.add_argument(
        "--launched-inside", action="store_true", help="leave out device work that is launched outside of it"
    )
    group.add_argument(
        "--no-clip",
        dest="clip",
        action="store_false",
        help="count an event whole in the range in which it or its launch begins, without cutting its time",
    )


def _analyze(options: argparse.Namespace) -> None:
    form = form_of(options, PICTURES)
    found = all_of(options)
    if options.output:
        refuse_input(options.output, sources(found))
    tell_defects(found)
    with busy(f"asking for {options.name}"):
        answer = found.analyze(options.name, **_request(options))
    _answer(options, answer, form)


def _diff(options: argparse.Namespace) -> None:
    form = form_of(options, PICTURES)
    if options.et:
        raise ValueError("expected Execution Traces beside the traces, found --et, which is that of one")
    both = [_one_of(options, trace) for trace in (options.before, options.after)]
    if isinstance(both[0], TraceSet) != isinstance(both[1], TraceSet):
        raise ValueError("expected two traces or two jobs, found one of each")
    with busy("comparing"):
        answer = diff(both[0], both[1], **_request(options))
    _answer(options, answer, form)


def _one_of(options: argparse.Namespace, trace: str) -> Trace | TraceSet:
    options.traces = [trace]
    found = all_of(options)
    if options.output:
        refuse_input(options.output, sources(found))
    tell_defects(found)
    return found


def _answer(options: argparse.Namespace, answer: AnalysisResult, form: str | None) -> None:
    table = _table(answer, options.table)
    if form in PICTURES:
        print(f"{answer.plot(options.table).save(options.output)}: a picture of {table.name}")
        return
    if form:
        hand_out(table, form, options.output)
        if not len(table) and answer.reason:
            print(f"kinetoscope: {table.name}: {answer.reason}", file=sys.stderr)
        return
    _show(answer, table, options.limit)


def _sql(options: argparse.Namespace) -> None:
    form = form_of(options)
    found = all_of(options)
    if options.output:
        refuse_input(options.output, sources(found))
    tell_defects(found)
    with busy("asking"):
        table = found.sql(options.query)
    if form:
        hand_out(table, form, options.output)
    else:
        print_section(section(table, options.limit))


def _request(options: argparse.Namespace) -> dict[str, Any]:
    own = {name: getattr(options, f"option_{name}") for name in options.wanted}
    part = {name: getattr(options, name) for name, _, _ in _PART}
    asked = {name: value for name, value in {**own, **part}.items() if value is not None}
    return {**asked, "launched_inside": options.launched_inside, "clip": options.clip}


def _table(answer: AnalysisResult, name: str | None) -> Table:
    if name is None:
        return answer
    if name not in answer.tables:
        raise ValueError(f"expected a table of {', '.join(answer.tables)}, found {name}")
    return answer.tables[name]


def _show(answer: AnalysisResult, table: Table, limit: int) -> None:
    if len(table):
        print_section(section(table, limit))
    else:
        print(f"{table.name}: {answer.reason or 'no rows'}")
    beside = [
        f"{name} ({text.plural(len(other), 'row')})"
        for name, other in answer.tables.items()
        if name != table.name and len(other)
    ]
    if beside:
        print(f"\nbeside it, with --table: {', '.join(beside)}")
