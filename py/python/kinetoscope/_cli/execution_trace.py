"""The commands `link`, `edit` and `chakra`, which write Execution Traces and Chakra graphs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from kinetoscope._analysis.iteration_match import window
from kinetoscope._base import text
from kinetoscope._base.tell import tell
from kinetoscope._cli.arguments import Group, command, count
from kinetoscope._cli.output import expect_extension, outputs
from kinetoscope._cli.reading import (
    ReadingOptions,
    add_reading,
    add_trace,
    read_trace,
    report_defects,
    report_defects_of,
)
from kinetoscope._cli.terminal import busy
from kinetoscope._export.clean_times import with_clean_times
from kinetoscope._export.job_groups import JobPlace, job_places
from kinetoscope._io.inputs import refuse_input
from kinetoscope.chakra import GROUPS, expect_agreement, job_groups, write_chakra, write_groups
from kinetoscope.trace_set import TraceSet

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

_DOCTOR = "run kinetoscope doctor for details"


class LinkOptions(NamedTuple):
    """Options of `link`."""

    trace: str
    rank: int | None
    iteration: int | None
    output: Path
    like_chakra: bool
    reading: ReadingOptions


def _add_link_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--kineto",
        dest="trace",
        required=True,
        metavar="TRACE",
        help="Kineto trace, or a folder or archive that also has the Execution Trace",
    )
    selection = parser.add_argument_group("Selection")
    _add_rank(selection)
    _add_iteration(selection)
    output = parser.add_argument_group("Output")
    _add_output(output)
    output.add_argument("--like-chakra", action="store_true", help="reproduce the output of chakra_trace_link exactly")
    add_reading(parser, needs_et=True)


def _link(options: LinkOptions) -> None:
    expect_extension(options.output, ".json", may_be_gzip=True)
    trace = _read_one(options)
    if not trace.num_events:
        raise ValueError(f"expected a Kineto trace, found an Execution Trace alone: {trace.source}")
    trace = _relinked(trace, options.iteration)
    report_defects(trace)
    if options.iteration is None and not options.like_chakra:
        trace = with_clean_times([trace])[0]
    nodes = trace.coverage["nodes"]
    if nodes["count"] and not nodes["num_linked"]:
        raise ValueError(f"expected two files of one run, found no link of {nodes['count']:,} nodes: {_DOCTOR}")
    with busy(f"writing {options.output}"):
        path = trace.to_et_plus(options.output, like_chakra=options.like_chakra)
    tell(path)
    _print_iteration(trace)


LINK = command(
    "link",
    "Add times and device work of the Kineto trace to the Execution Trace",
    details="The layout is that of chakra_trace_link.",
    add_arguments=_add_link_arguments,
    options=LinkOptions,
    run=_link,
)


class EditOptions(NamedTuple):
    """Options of `edit`."""

    trace: str
    rank: int | None
    iteration: int | None
    subtree: int | None
    output: Path
    upgrade: bool
    anonymise: bool
    reading: ReadingOptions


def _add_edit_arguments(parser: argparse.ArgumentParser) -> None:
    add_trace(parser)
    selection = parser.add_argument_group("Selection")
    _add_rank(selection)
    selection.add_argument(
        "--iteration", type=count, metavar="N", help="keep the nodes of ProfilerStep#N, as either trace records it"
    )
    selection.add_argument("--subtree", type=count, metavar="ID", help="keep the node with this id and its descendants")
    output = parser.add_argument_group("Output")
    _add_output(output)
    output.add_argument("--upgrade", action="store_true", help="convert nodes to the newest schema")
    output.add_argument(
        "--anonymise", action="store_true", help="replace names that are not PyTorch's own with pseudonyms"
    )
    add_reading(parser, needs_et=True)


def _edit(options: EditOptions) -> None:
    expect_extension(options.output, ".json", may_be_gzip=True)
    trace = _read_one(options)
    report_defects(trace)
    edited = trace.edit(
        iteration=options.iteration,
        subtree=options.subtree,
        upgrade=options.upgrade,
        anonymise=options.anonymise,
    )
    path = edited.to_execution_trace(options.output)
    tell(f"{path}: {len(edited.nodes):,} of {len(trace.nodes):,} nodes")


EDIT = command(
    "edit",
    "Cut, upgrade or anonymise an Execution Trace",
    add_arguments=_add_edit_arguments,
    options=EditOptions,
    run=_edit,
)


class ChakraOptions(NamedTuple):
    """Options of `chakra`."""

    trace: str
    iteration: int | None
    output: Path
    allow_mismatches: bool
    reading: ReadingOptions


def _add_chakra_arguments(parser: argparse.ArgumentParser) -> None:
    add_trace(parser)
    _add_iteration(parser.add_argument_group("Selection"))
    output = parser.add_argument_group("Output")
    output.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("rank.et"),
        metavar="FILE",
        help="output file, gzip if it ends in .gz (default: rank.et; rank.0.et, … for a job)",
    )
    output.add_argument(
        "--allow-mismatches",
        action="store_true",
        help="write the graphs even if ranks lack calls of others, for which a simulator waits forever",
    )
    add_reading(parser, needs_et=True)


def _chakra(options: ChakraOptions) -> None:
    expect_extension(options.output, ".et", may_be_gzip=True)
    found = read_trace(options.trace, options.reading, options.output)
    if isinstance(found, TraceSet):
        expect_agreement(found, allow_mismatches=options.allow_mismatches)
    files = outputs(found, options.output, ".")
    refuse_input(options.output.parent / GROUPS)
    traces = [_relinked(file.trace, options.iteration) for file in files]
    if options.iteration is None:
        traces = with_clean_times(traces)
    places = job_places(found, traces) if isinstance(found, TraceSet) else [None]
    for file, trace, place in zip(files, traces, places, strict=True):
        report_defects_of(trace, file.rank)
        _write_chakra(trace, file.path, place)
    if groups := job_groups(found):
        tell(f"{write_groups(options.output.parent, groups)}: {text.plural(len(groups), 'process group')}")
    else:
        tell(f"no {GROUPS}: no process group with its ranks was recorded")


def _write_chakra(trace: Trace, path: Path, place: JobPlace | None) -> None:
    with busy(f"writing {path}"):
        chakra = write_chakra(trace, path, place)
    tell(f"{path}: {len(chakra.nodes):,} nodes, {len(chakra.dependencies):,} dependencies")
    _print_iteration(trace)
    for number, severity, message in chakra.health.select("count", "severity", "message").rows():
        tell(f"  {severity}: {number:,} × {message}")


CHAKRA = command(
    "chakra",
    "Convert to Chakra graphs (.et) for simulators, with comm_group.json",
    details="Writes one graph per rank of a job. Compares the ranks first, as replay-comms --dry-run does.",
    add_arguments=_add_chakra_arguments,
    options=ChakraOptions,
    run=_chakra,
)


def _add_rank(group: Group) -> None:
    group.add_argument("--rank", type=count, metavar="N", help="select one rank of a job; refuse traces of other ranks")


def _add_iteration(group: Group) -> None:
    group.add_argument(
        "--iteration",
        type=count,
        metavar="N",
        help="link this iteration, by names and shapes only, if just one of the files has many: ProfilerStep#N, or "
        "the Nth from 0 without steps (default: the first with the best fit; doctor lists others)",
    )


def _add_output(group: Group) -> None:
    group.add_argument(
        "-o", "--output", type=Path, required=True, metavar="FILE", help="output file, gzip if it ends in .gz"
    )


def _read_one(options: LinkOptions | EditOptions) -> Trace:
    """Reads the trace of the selected rank. Raises ValueError if the output is an input file."""
    found = read_trace(options.trace, options.reading, options.output)
    refuse_input(options.output)
    return _select(found, options.rank)


def _select(found: Trace | TraceSet, rank: int | None) -> Trace:
    """Returns the trace of a rank. Raises ValueError unless exactly one trace matches."""
    if isinstance(found, TraceSet):
        traces: list[tuple[Any, Trace]] = [(member.rank, member.trace) for member in found.members]
    else:
        traces = [(found.rank, found)]
    matching = [trace for other, trace in traces if rank is None or other in {rank, None}]
    if len(matching) != 1:
        ranks = ", ".join("unknown" if other is None else str(other) for other, _ in traces)
        expected = "one trace, or --rank to select one" if rank is None else f"one trace of rank {rank}"
        raise ValueError(f"expected {expected}, found rank{'s' if len(traces) > 1 else ''} {ranks}")
    return matching[0]


def _relinked(trace: Trace, iteration: int | None) -> Trace:
    return trace if iteration is None else trace.relink(iteration=iteration)


def _print_iteration(trace: Trace) -> None:
    """Prints the linked iteration, or that the files have no link."""
    nodes = trace.coverage["nodes"]
    if iteration := window(trace):
        tell(f"  {iteration}")
    elif trace.num_events and nodes["count"] and not nodes["num_linked"]:
        tell(f"  the two files have no links: {_DOCTOR}")
