"""The command `diff`."""

from __future__ import annotations

import argparse
from typing import NamedTuple

from kinetoscope._analysis.differences import diff
from kinetoscope._cli.analyze import ResultOptions, add_result, print_or_write_result, read_input
from kinetoscope._cli.arguments import command
from kinetoscope._cli.output_format import PICTURES, format_of
from kinetoscope._cli.terminal import busy
from kinetoscope.trace_set import TraceSet


class DiffOptions(NamedTuple):
    """Options of `diff`."""

    before: str
    after: str
    result: ResultOptions


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    source = "file, folder, archive or URL"
    parser.add_argument("before", metavar="BEFORE", help=f"baseline trace or job: {source}")
    parser.add_argument("after", metavar="AFTER", help=f"trace or job to compare with the baseline: {source}")
    add_result(parser)


def _diff(options: DiffOptions) -> None:
    result = options.result
    extension = format_of(result.writing, PICTURES)
    if result.reading.et:
        raise ValueError(
            f"expected no --et with two traces, found {result.reading.et}: store each Execution Trace beside its trace"
        )
    before, after = read_input([options.before], result), read_input([options.after], result)
    if isinstance(before, TraceSet) != isinstance(after, TraceSet):
        raise ValueError("expected two traces or two jobs, found one of each")
    with busy("comparing"):
        differences = diff(before, after, **result.parameters())
    print_or_write_result(differences, result, extension)


DIFF = command(
    "diff",
    "Compare two traces or two jobs: changes in speed, where and by how much",
    add_arguments=_add_arguments,
    options=DiffOptions,
    run=_diff,
)
