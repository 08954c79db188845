"""The command `diff`."""

from __future__ import annotations

import argparse
from typing import Any, NamedTuple

from kinetoscope._analysis.differences import Differences, diff
from kinetoscope._cli.analyze import ResultOptions, add_result, print_or_write_result, read_input
from kinetoscope._cli.arguments import command
from kinetoscope._cli.gate_output import GateOutputOptions, add_gate_output, deliver, expect_outputs
from kinetoscope._cli.output_format import PICTURES, format_of
from kinetoscope._cli.reading import report_defects
from kinetoscope._cli.sides import kind_of, read_sides
from kinetoscope._cli.snapshot import refuse_options
from kinetoscope._cli.terminal import busy
from kinetoscope.tables import Tables


class DecisionOptions(NamedTuple):
    """Options that make the comparison decide."""

    fail_over: str | None
    metrics: list[str] | None
    baselines: list[str] | None
    candidates: list[str] | None


class DiffOptions(NamedTuple):
    """Options of `diff`."""

    before: str
    after: str
    result: ResultOptions
    decision: DecisionOptions
    gate: GateOutputOptions


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    source = "file, folder, archive or URL"
    parser.add_argument("before", metavar="BEFORE", help=f"baseline trace, job or memory snapshot: {source}")
    parser.add_argument("after", metavar="AFTER", help=f"the same, to compare with the baseline: {source}")
    add_result(parser)
    group = parser.add_argument_group(
        "Gate", "Any of these options makes the command decide: exit code 0 passed, 1 worse, 2 an error or unknown."
    )
    group.add_argument(
        "--fail-over",
        metavar="PERCENT",
        help="fail if a metric grew by more than this, such as 3%%, and by more than noise (default: 3%%)",
    )
    group.add_argument(
        "--metric",
        action="append",
        dest="metrics",
        metavar="NAME",
        help="step (default), device, memory, idle, exposed_communication, phase:NAME, operator:NAME, kernel:NAME or "
        "module:NAME; * stands for any text but in phases; repeatable",
    )
    group.add_argument(
        "--baseline", action="append", dest="baselines", metavar="FILE", help="further run like BEFORE; repeatable"
    )
    group.add_argument(
        "--candidate", action="append", dest="candidates", metavar="FILE", help="further run like AFTER; repeatable"
    )
    add_gate_output(group, has_page=True)


def _diff(options: DiffOptions) -> int | None:
    result = options.result
    decides = any(map(bool, options.decision)) or any(map(bool, options.gate)) or options.decision.fail_over is not None
    if decides:
        _expect_decision(options)
    extension = None if decides else format_of(result.writing, PICTURES)
    paths = (options.before, options.after)
    sides = read_sides(paths, result.reading, rank=result.rank, output=result.writing.output)
    for side in sides:
        report_defects(side)
    part = result.parameters()
    if isinstance(sides[0], Tables):
        refuse_options(sides[0], part)
        part = {}
    with busy("comparing"):
        differences = diff(*sides, **part)
    if decides:
        return _decide(differences, kind_of(sides[0]), options)
    print_or_write_result(differences, result, extension)
    return None


def _expect_decision(options: DiffOptions) -> None:
    """Raises ValueError for options that have no meaning for a decision."""
    writing = options.result.writing
    if options.result.table is not None:
        raise ValueError("expected no --table with a gate: --json prints all tables")
    if writing.format not in {None, ".json"}:
        raise ValueError(f"expected text or --json with a gate, found --{(writing.format or '')[1:]}")
    expect_outputs(options.gate, writing.output, has_page=True)


def _decide(differences: object, kind: str, options: DiffOptions) -> int:
    if not isinstance(differences, Differences):
        raise ValueError("expected traces or jobs with a gate, found memory snapshots")  # noqa: TRY004 - bad input
    decision, writing = options.decision, options.result.writing
    more = [[_further(path, kind, options.result) for path in paths or []] for paths in decision[2:]]
    with busy("comparing with noise"):
        gate = differences.gate(
            "3%" if decision.fail_over is None else decision.fail_over,
            decision.metrics or "step",
            baselines=more[0],
            candidates=more[1],
            allow_unknown=options.gate.allow_unknown,
        )
    return deliver(gate, options.gate, writing.output, is_json=writing.format == ".json", page=differences.report)


def _further(path: str, kind: str, result: ResultOptions) -> Any:
    found = read_input([path], result)
    if kind_of(found) != kind:
        raise ValueError(f"expected {kind} as a further run, found {kind_of(found)}: {path}")
    return found


DIFF = command(
    "diff",
    "Compare two traces, jobs or memory snapshots: what changed, where and by how much",
    details="With --fail-over, exit code 1 if a metric is worse.",
    add_arguments=_add_arguments,
    options=DiffOptions,
    run=_diff,
)
