"""The commands `summary` and `doctor`."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kinetoscope._analysis.doctor import MARK_WIDTH, diagnosis
from kinetoscope._base import text
from kinetoscope._base.tell import tell, tell_sentences
from kinetoscope._cli.arguments import command, count
from kinetoscope._cli.output import expect_extension
from kinetoscope._cli.reading import ReadingOptions, add_reading, add_trace, read_path
from kinetoscope._cli.terminal import print_section
from kinetoscope._export.names import ranked
from kinetoscope._io.atomic import write_bytes
from kinetoscope._native import TraceError
from kinetoscope.tables import Tables
from kinetoscope.trace_set import TraceSet

if TYPE_CHECKING:
    from kinetoscope._analysis.summary import Summary


class SummaryOptions(NamedTuple):
    """Options of `summary`."""

    trace: str
    limit: int
    json: bool
    reading: ReadingOptions


def _add_summary_arguments(parser: argparse.ArgumentParser) -> None:
    add_trace(parser)
    output = parser.add_argument_group("Output")
    output.add_argument("--limit", type=count, default=10, metavar="N", help="rows of each table (default: 10)")
    output.add_argument("--json", action="store_true", help="print JSON")
    add_reading(parser)


def _summary(options: SummaryOptions) -> None:
    found = read_path(options.trace, options.reading)
    if isinstance(found, TraceSet):
        _print_summaries(found, options)
    elif isinstance(found, Tables):
        tell(json.dumps(found.metadata, indent=2) if options.json else found)
    else:
        summary = found.summary(limit=options.limit)
        if options.json:
            tell(json.dumps(summary.data, indent=2))
        else:
            _print_summary(summary, options.limit)


def _print_summaries(job: TraceSet, options: SummaryOptions) -> None:
    summaries = {rank: trace.summary(limit=options.limit) for rank, trace in ranked(job)}
    if options.json:
        tell(json.dumps({rank: summary.data for rank, summary in summaries.items()}, indent=2))
        return
    _print_job(job)
    for rank, summary in summaries.items():
        tell(f"\n--- rank {rank} ---\n")
        _print_summary(summary, options.limit)


def _print_job(job: TraceSet) -> None:
    """Prints the members of a job, and remarks on its files."""
    if sys.stdout.isatty():
        print_section(job._section)  # noqa: SLF001 - text for people, as its repr
        for remark in job._remarks():  # noqa: SLF001 - as above
            tell_sentences(text.printable(remark))
    else:
        tell(job)


def _print_summary(summary: Summary, limit: int) -> None:
    tell_sentences(summary.headline)
    for section in summary.sections(limit):
        tell()
        print_section(section)


SUMMARY = command(
    "summary",
    "Summarise a trace: time by kind, iterations, top operators and kernels, health",
    add_arguments=_add_summary_arguments,
    options=SummaryOptions,
    run=_summary,
)


class DoctorOptions(NamedTuple):
    """Options of `doctor`."""

    trace: str | None
    report: bool
    output: Path
    reading: ReadingOptions


def _add_doctor_arguments(parser: argparse.ArgumentParser) -> None:
    add_trace(parser, nargs="?")
    output = parser.add_argument_group("Output")
    output.add_argument(
        "--report",
        action="store_true",
        help="write facts for a bug report: versions, counts, problems; no text of the trace",
    )
    default = "kinetoscope-report.json"
    output.add_argument(
        *("-o", "--output"), type=Path, default=default, metavar="FILE", help=f"the report (default: {default})"
    )
    add_reading(parser)


def _doctor(options: DoctorOptions) -> None:
    if options.report:
        _write_fault_report(options)
        return
    if options.trace is None:
        raise ValueError("expected the path of a trace, found none")
    found = read_path(options.trace, options.reading)
    if not isinstance(found, TraceSet):
        tell_sentences(diagnosis(found), indent=MARK_WIDTH)
        return
    _print_job(found)
    for rank, trace in ranked(found):
        tell_sentences(f"\n--- rank {rank} ---\n\n{diagnosis(trace)}", indent=MARK_WIDTH)


def _write_fault_report(options: DoctorOptions) -> None:
    """Writes the report, also of a file that cannot be read: then it tells where."""
    from kinetoscope._analysis.fault_report import fault_report

    expect_extension(options.output, ".json")
    found, error, num_bytes = None, None, None
    if options.trace is not None:
        try:
            found = read_path(options.trace, options.reading, options.output)
        except TraceError as caught:
            error = caught
        if Path(options.trace).is_file():
            num_bytes = Path(options.trace).stat().st_size
    report = fault_report(found, error, num_bytes)
    write_bytes(options.output, f"{json.dumps(report, indent=2)}\n".encode())
    tell(f"{options.output}: look at it, then attach it to the bug report")


DOCTOR = command(
    "doctor",
    "Check a trace: contents, gaps, and options for the next recording",
    add_arguments=_add_doctor_arguments,
    options=DoctorOptions,
    run=_doctor,
)
