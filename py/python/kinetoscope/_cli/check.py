"""The command `check`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple

from kinetoscope._analysis.budget_file import DEFAULT, read_budgets
from kinetoscope._cli.analyze import SelectionOptions, add_selection
from kinetoscope._cli.arguments import command
from kinetoscope._cli.gate_output import GateOutputOptions, add_gate_output, deliver, expect_outputs
from kinetoscope._cli.reading import ReadingOptions, add_reading, add_traces, read_recordings, report_defects
from kinetoscope._cli.terminal import busy
from kinetoscope._native import UnsupportedTraceError
from kinetoscope.tables import Tables


class CheckOptions(NamedTuple):
    """Options of `check`."""

    traces: list[str]
    budget: Path
    json: bool
    output: Path | None
    gate: GateOutputOptions
    by: str | None
    rank: int | None
    selection: SelectionOptions
    reading: ReadingOptions


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_traces(parser)
    parser.add_argument(
        "--budget", type=Path, default=DEFAULT, metavar="FILE", help=f"TOML with a table [budget] (default: {DEFAULT})"
    )
    output = parser.add_argument_group("Output")
    output.add_argument("--json", action="store_true", help="print JSON")
    output.add_argument("-o", "--output", type=Path, metavar="FILE", help="write the decision to FILE, as --report")
    add_gate_output(output, has_page=False)
    add_selection(parser)
    add_reading(parser)


def _check(options: CheckOptions) -> int:
    expect_outputs(options.gate, options.output, has_page=False)
    budgets = read_budgets(options.budget)
    if options.gate.allow_unknown:
        budgets["allow_unknown"] = True
    found = read_recordings(options.traces, options.reading, rank=options.rank, output=options.output)
    if isinstance(found, Tables):
        raise UnsupportedTraceError(f"expected a trace, found {found.sort}: {options.traces[0]}")
    report_defects(found)
    part = {name: value for name, value in options.selection._asdict().items() if value is not None}
    with busy("comparing with budgets"):
        gate = found.check(budgets, by=options.by, **part)
    return deliver(gate, options.gate, options.output, is_json=options.json)


CHECK = command(
    "check",
    "Compare a trace or a job with budgets; exit code 1 if one is broken",
    details="Exit codes: 0 all kept, 1 one broken, 2 an error or an unknown value.",
    add_arguments=_add_arguments,
    options=CheckOptions,
    run=_check,
)
