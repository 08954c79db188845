"""The command `diff`."""

from __future__ import annotations

import argparse
from typing import Any, NamedTuple

from kinetoscope._analysis.differences import diff
from kinetoscope._cli.analyze import ResultOptions, add_result, print_or_write_result, read_input
from kinetoscope._cli.arguments import command
from kinetoscope._cli.output_format import PICTURES, format_of
from kinetoscope._cli.snapshot import refuse_options
from kinetoscope._cli.terminal import busy
from kinetoscope.tables import Tables
from kinetoscope.trace_set import TraceSet


class DiffOptions(NamedTuple):
    """Options of `diff`."""

    before: str
    after: str
    result: ResultOptions


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    source = "file, folder, archive or URL"
    parser.add_argument("before", metavar="BEFORE", help=f"baseline trace, job or memory snapshot: {source}")
    parser.add_argument("after", metavar="AFTER", help=f"the same, to compare with the baseline: {source}")
    add_result(parser)


def _diff(options: DiffOptions) -> None:
    result = options.result
    extension = format_of(result.writing, PICTURES)
    if result.reading.et:
        raise ValueError(
            f"expected no --et with two traces, found {result.reading.et}: store each Execution Trace beside its trace"
        )
    sides: list[Any] = [read_input([path], result) for path in (options.before, options.after)]
    kinds = set(map(_kind, sides))
    if len(kinds) > 1 or not kinds <= {"a trace", "a job", "a memory snapshot"}:
        raise ValueError(f"expected two traces, two jobs or two memory snapshots, found {' and '.join(sorted(kinds))}")
    part = result.parameters()
    if isinstance(sides[0], Tables):
        refuse_options(sides[0], part)
        part = {}
    with busy("comparing"):
        differences = diff(*sides, **part)
    print_or_write_result(differences, result, extension)


def _kind(found: object) -> str:
    return found.sort if isinstance(found, Tables) else "a job" if isinstance(found, TraceSet) else "a trace"


DIFF = command(
    "diff",
    "Compare two traces, jobs or memory snapshots: what changed, where and by how much",
    add_arguments=_add_arguments,
    options=DiffOptions,
    run=_diff,
)
