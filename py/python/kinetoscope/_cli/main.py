"""The command `kinetoscope`. Options are those of the Python methods."""

from __future__ import annotations

import argparse
import errno
import json
import os
import sys
import warnings
from collections.abc import Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

from kinetoscope import _native
from kinetoscope._analysis.doctor import diagnosis
from kinetoscope._analysis.iteration_match import window
from kinetoscope._base import text
from kinetoscope._cli.analyze import add_analyze, add_diff, add_sql
from kinetoscope._cli.arguments import add_reading, count, one_or_all, read_asked, tell_defects, tell_defects_of
from kinetoscope._cli.output import expect_ending, outputs, ranked, refuse_input, sources
from kinetoscope._cli.report import add_report, add_view
from kinetoscope._cli.share import add_redact, add_trim, parts_to_share, to_share
from kinetoscope._cli.terminal import busy, print_section
from kinetoscope._export.tables import FORMATS, export, json_lines
from kinetoscope.chakra import GROUPS, write_chakra, write_groups
from kinetoscope.profiling.commands import add_nsys, add_run
from kinetoscope.replay.commands import add_replay
from kinetoscope.tables import Tables
from kinetoscope.trace_set import TraceSet

if TYPE_CHECKING:
    from kinetoscope._analysis.summary import Summary
    from kinetoscope.trace import Trace

_PARAM_COMMS = "param-comms"
_ITERATION_TO_KEEP = "keep the nodes of ProfilerStep#N alone, as the Execution Trace or the Kineto trace has it"
_ITERATION_TO_LINK = (
    "where one of the files has many iterations, link this one, by names and shapes alone: ProfilerStep#N, or the Nth "
    "from 0 where there are none (default: the first that fits best; doctor lists others)"
)
_FAILED = 2
_DOCTOR = "kinetoscope doctor says more"
_INTERRUPTED = 130
_PIPE_CLOSED = 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command. Returns 0, or 2 with one line on the standard error when the input is not what it should be."""
    options = _parser().parse_args(arguments)
    if isinstance(sys.stdout, TextIOWrapper):  # a terminal may not have every letter of a name
        sys.stdout.reconfigure(errors="replace")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", RuntimeWarning)
            warnings.showwarning = _show_warning
            options.run(options)
        sys.stdout.flush()
    except BrokenPipeError:  # `| head` has seen enough; what is left in the buffer has nowhere to go
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _PIPE_CLOSED
    except KeyboardInterrupt:
        return _INTERRUPTED
    except (OSError, ValueError, KeyError, ImportError) as error:
        print(f"kinetoscope: {_line(error)}", file=sys.stderr)
        return _FAILED
    return 0


def _show_warning(message: Warning | str, *_: object) -> None:
    print(f"kinetoscope: {message}", file=sys.stderr)


def _line(error: Exception) -> str:
    if isinstance(error, FileNotFoundError) and error.filename and error.strerror == os.strerror(errno.ENOENT):
        return f"expected a file, found none: {error.filename}"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    return " ".join(str(error.args[0] if isinstance(error, KeyError) else error).split())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="kinetoscope", description="Reads, questions and shares PyTorch traces.")
    parser.add_argument("--version", action="version", version=f"kinetoscope {_native.__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    summary = _command(commands, "summary", _summary, "time by kind, iterations, top operators and kernels, health")
    summary.add_argument("--limit", type=count, default=10, metavar="N", help="rows of each table (default: 10)")
    summary.add_argument("--json", action="store_true", help="the numbers as JSON")
    add_analyze(commands)
    add_diff(commands)
    add_sql(commands)
    add_report(commands)
    add_view(commands)
    table = _command(
        commands,
        "export",
        _export,
        f"a table as {', '.join(FORMATS)}; of several ranks, with columns that tell them apart",
    )
    table.add_argument("-o", "--output", type=Path, help="the ending chooses the format (default for jsonl: print it)")
    table.add_argument(
        "--format",
        choices=[*(ending[1:] for ending in FORMATS), _PARAM_COMMS],
        help=f"(default: as the ending says); {_PARAM_COMMS}: communications for PARAM, a file for each rank",
    )
    add_redact(table)
    table.add_argument("--table", help="(default: events; nodes, where there are none; the first of what is no trace)")
    about = "the graph that simulators read (.et), with comm_group.json; of several ranks, one each"
    chakra = _command(commands, "chakra", _chakra, about, needs_et=True)
    chakra.add_argument(
        "-o", "--output", type=Path, default=Path("rank.et"), help="(default: rank.et, rank.0.et, …); .gz compresses"
    )
    _add_iteration(chakra)
    _command(commands, "doctor", _doctor, "what is in a trace, what is missing, what to record next time")
    _link_command(commands)
    _edit_command(commands)
    add_trim(commands)
    add_run(commands)
    add_nsys(commands)
    add_replay(commands)
    return parser


def _edit_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    edit = _command(
        commands,
        "edit",
        _edit,
        "a part of an Execution Trace, in the newest layout or without private names",
        needs_et=True,
    )
    edit.add_argument("-o", "--output", type=Path, required=True, help="compressed when it ends in .gz")
    edit.add_argument("--rank", type=count, metavar="N", help="which one, of several; refuse a trace of another")
    edit.add_argument("--iteration", type=count, metavar="N", help=_ITERATION_TO_KEEP)
    edit.add_argument("--subtree", type=count, metavar="ID", help="keep the node with this id and all below it")
    edit.add_argument("--upgrade", action="store_true", help="lay nodes out as the newest schema has them")
    edit.add_argument("--anonymise", action="store_true", help="pseudonyms for names that are not PyTorch's own")


def _link_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    about = "the Execution Trace with the times and the device work of the Kineto trace"
    link = commands.add_parser("link", help=about, description=f"Writes {about}, laid out as chakra_trace_link does.")
    link.add_argument(
        "--kineto", dest="trace", required=True, metavar="TRACE", help="Kineto trace, or a folder or archive of both"
    )
    link.add_argument("--rank", type=count, metavar="N", help="which one, of several; refuse a trace of another")
    link.add_argument("-o", "--output", type=Path, required=True, help="compressed when it ends in .gz")
    link.add_argument("--like-chakra", action="store_true", help="decide and format exactly as chakra_trace_link does")
    _add_iteration(link)
    add_reading(link)
    link.set_defaults(run=_link, no_et=False)


def _add_iteration(command: argparse.ArgumentParser) -> None:
    command.add_argument("--iteration", type=count, metavar="N", help=_ITERATION_TO_LINK)


def _command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    run: object,
    about: str,
    *,
    needs_et: bool = False,
) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=about, description=f"Prints or writes {about}.")
    command.add_argument(
        "trace", metavar="TRACE", help="file, archive or folder of Kineto traces and Execution Traces, or its address"
    )
    if not needs_et:
        command.add_argument("--no-et", action="store_true", help="read the Kineto trace alone")
    add_reading(command)
    command.set_defaults(run=run, no_et=False)
    return command


def _summary(options: argparse.Namespace) -> None:
    trace = read_asked(options)
    if isinstance(trace, TraceSet):
        _summaries(trace, options)
        return
    if isinstance(trace, Tables):
        print(json.dumps(trace.metadata, indent=2) if options.json else trace)
        return
    summary = trace.summary(limit=options.limit)
    if options.json:
        print(json.dumps(summary.data, indent=2))
    else:
        _print_summary(summary, options.limit)


def _summaries(job: TraceSet, options: argparse.Namespace) -> None:
    summaries = {rank: trace.summary(limit=options.limit) for rank, trace in ranked(job)}
    if options.json:
        print(json.dumps({rank: summary.data for rank, summary in summaries.items()}, indent=2))
        return
    print(job)
    for rank, summary in summaries.items():
        print(f"\n--- rank {rank} ---\n")
        _print_summary(summary, options.limit)


def _print_summary(summary: Summary, limit: int) -> None:
    print(summary.headline)
    for section in summary.sections(limit):
        print()
        print_section(section)


def _export(options: argparse.Namespace) -> None:
    if options.format == _PARAM_COMMS:
        _export_param_comms(options)
        return
    if options.output and options.format:
        expect_ending(options.output, f".{options.format}")
    trace = read_asked(options)
    tell_defects(trace)
    name = options.table or _first_table(trace)
    parts = parts_to_share(trace, name, options)
    if options.output is None:
        if options.format != "jsonl":
            raise ValueError("expected a file to write to (-o), or --format jsonl to print, found neither")
        sys.stdout.writelines(json_lines(parts))
        return
    refuse_input(options.output, sources(trace))
    with busy(f"writing {options.output}"):
        path = export(parts, options.output, f".{options.format}" if options.format else None)
    print(f"{path}: {sum(len(part.table) for part in parts):,} rows of {name}")


def _first_table(found: Trace | TraceSet | Tables) -> str:
    if isinstance(found, Tables):
        return found.table_names[0]
    traces = found if isinstance(found, TraceSet) else [found]
    return "events" if any(trace.num_events for trace in traces) else "nodes"


def _link(options: argparse.Namespace) -> None:
    expect_ending(options.output, ".json", may_be_packed=True)
    trace = _one_trace(options)
    if not trace.num_events:
        raise ValueError(f"expected a Kineto trace, found an Execution Trace alone: {trace.source}")
    trace = _linked_to(trace, options.iteration)
    tell_defects(trace)
    nodes = trace.coverage["nodes"]
    if nodes["count"] and not nodes["num_linked"]:
        raise ValueError(f"expected two files of one run, found none of {nodes['count']:,} nodes linked: {_DOCTOR}")
    with busy(f"writing {options.output}"):
        linked = trace.to_et_plus(options.output, like_chakra=options.like_chakra)
    print(linked)
    _tell_window(trace)


def _linked_to(trace: Trace, iteration: int | None) -> Trace:
    return trace if iteration is None else trace.relink(iteration=iteration)


def _tell_window(trace: Trace) -> None:
    nodes = trace.coverage["nodes"]
    if words := window(trace):
        print(f"  {words}")
    elif trace.num_events and nodes["count"] and not nodes["num_linked"]:
        print(f"  the files are not linked with each other: {_DOCTOR}")


def _one_trace(options: argparse.Namespace) -> Trace:
    """The one that is asked for, to be written elsewhere than over any file that was read."""
    found = one_or_all(options)
    refuse_input(options.output, sources(found))
    return _of_rank(found, options.rank)


def _edit(options: argparse.Namespace) -> None:
    expect_ending(options.output, ".json", may_be_packed=True)
    trace = _one_trace(options)
    tell_defects(trace)
    wanted = {name: getattr(options, name) for name in ("iteration", "subtree", "upgrade", "anonymise")}
    edited = trace.edit(**wanted)
    path = edited.to_execution_trace(options.output)
    print(f"{path}: {len(edited.nodes):,} of {len(trace.nodes):,} nodes")


def _of_rank(found: Trace | TraceSet, rank: int | None) -> Trace:
    """The trace of a rank; of any, when none is given and there is but one."""
    if isinstance(found, TraceSet):
        traces = [(member.rank, member.trace) for member in found.members]
    else:
        traces = [(found.rank, found)]
    wanted = [trace for other, trace in traces if rank is None or other in {rank, None}]
    if len(wanted) != 1:
        ranks = ", ".join("unknown" if other is None else str(other) for other, _ in traces)
        there = f"rank{'s' if len(traces) > 1 else ''} {ranks}"
        asked = "one trace, or --rank to say which" if rank is None else f"one trace of rank {rank}"
        raise ValueError(f"expected {asked}, found {there}")
    return wanted[0]


def _export_param_comms(options: argparse.Namespace) -> None:
    if options.output is None:
        raise ValueError(f"expected a file to write {_PARAM_COMMS} to (-o), found none")
    expect_ending(options.output, ".json")
    found = one_or_all(options)
    tell_defects(found)
    files = outputs(found, options.output)
    for (_, _, path), trace in zip(files, to_share([file.trace for file in files], options), strict=True):
        trace.to_param_comms(path)
        print(f"{path}: {path.stat().st_size:,} bytes")


def _chakra(options: argparse.Namespace) -> None:
    expect_ending(options.output, ".et", may_be_packed=True)
    groups: dict[str, list[int]] = {}
    for rank, trace, path in outputs(one_or_all(options), options.output, "."):
        linked = _linked_to(trace, options.iteration)
        tell_defects_of(linked, rank)
        _write_chakra(linked, path)
        groups |= linked.comm_groups
    if groups:
        print(f"{write_groups(options.output.parent, groups)}: {text.plural(len(groups), 'process group')}")
    else:
        print(f"no {GROUPS}: the ranks of no process group were recorded")


def _write_chakra(trace: Trace, path: Path) -> None:
    with busy(f"writing {path}"):
        chakra = write_chakra(trace, path)
    print(f"{path}: {len(chakra.nodes):,} nodes, {len(chakra.dependencies):,} dependencies")
    _tell_window(trace)
    for number, severity, message in chakra.health.select("count", "severity", "message").rows():
        print(f"  {severity}: {number:,} × {message}")


def _doctor(options: argparse.Namespace) -> None:
    trace = read_asked(options)
    if not isinstance(trace, TraceSet):
        print(diagnosis(trace))
        return
    print(trace)
    for rank, part in ranked(trace):
        print(f"\n--- rank {rank} ---\n\n{diagnosis(part)}")
