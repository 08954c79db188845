"""The command `export`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kinetoscope import _native
from kinetoscope._base.tell import data_output, tell
from kinetoscope._cli.arguments import command
from kinetoscope._cli.output import expect_extension, outputs
from kinetoscope._cli.reading import ReadingOptions, add_reading, add_trace, read_path, read_trace, report_defects
from kinetoscope._cli.terminal import busy
from kinetoscope._cli.trim import add_redact
from kinetoscope._export.job_groups import job_places
from kinetoscope._export.param import write_param_comms
from kinetoscope._export.tables import FORMATS, Part, export, json_lines
from kinetoscope._io.inputs import refuse_input
from kinetoscope._load.redaction import redacted
from kinetoscope.tables import Tables
from kinetoscope.trace_set import TraceSet

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

_PARAM_COMMS = "param-comms"


class ExportOptions(NamedTuple):
    """Options of `export`."""

    trace: str
    table: str | None
    output: Path | None
    format: str | None
    redact: str | None
    reading: ReadingOptions


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_trace(parser)
    selection = parser.add_argument_group("Selection")
    selection.add_argument(
        "--table",
        metavar="NAME",
        help="table to export (default: events; nodes if there are no events; the first table of other formats)",
    )
    output = parser.add_argument_group("Output")
    output.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="output file (default with --format jsonl: print)"
    )
    output.add_argument(
        "--format",
        choices=[*(extension[1:] for extension in FORMATS), _PARAM_COMMS],
        help=f"format (default: by the extension of FILE); {_PARAM_COMMS}: collectives for PARAM, one file per rank",
    )
    add_redact(output)
    add_reading(parser)


def _export(options: ExportOptions) -> None:
    if options.format == _PARAM_COMMS:
        _export_param_comms(options)
        return
    if options.output and options.format:
        expect_extension(options.output, f".{options.format}")
    found = read_path(options.trace, options.reading, options.output)
    report_defects(found)
    name = options.table or _default_table(found)
    parts = _redacted_parts(found, name, options.redact) if options.redact else found.parts(name)
    if options.output is None:
        if options.format != "jsonl":
            raise ValueError("expected an output file (-o), or --format jsonl to print, found neither")
        data_output().writelines(json_lines(parts))
        return
    refuse_input(options.output)
    with busy(f"writing {options.output}"):
        path = export(parts, options.output, f".{options.format}" if options.format else None)
    tell(f"{path}: {sum(len(part.table) for part in parts):,} rows of {name}")


def _default_table(found: Trace | TraceSet | Tables) -> str:
    if isinstance(found, Tables):
        return found.table_names[0]
    traces = found if isinstance(found, TraceSet) else [found]
    return "events" if any(trace.num_events for trace in traces) else "nodes"


def _redacted_parts(found: Trace | TraceSet | Tables, table: str, level: str) -> list[Part]:
    """Returns a table of the redacted traces. Raises UnsupportedTraceError for other formats."""
    parts = found.parts(table)
    if isinstance(found, Tables):
        raise _native.UnsupportedTraceError(f"expected a trace to redact, found {found.sort}")
    traces = redacted(list(found) if isinstance(found, TraceSet) else [found], level=level)
    return [Part(trace.table(table), part.columns) for trace, part in zip(traces, parts, strict=True)]


def _export_param_comms(options: ExportOptions) -> None:
    if options.output is None:
        raise ValueError(f"expected an output file (-o) with --format {_PARAM_COMMS}, found none")
    expect_extension(options.output, ".json")
    found = read_trace(options.trace, options.reading, options.output)
    report_defects(found)
    files = outputs(found, options.output)
    traces = [file.trace for file in files]
    traces = redacted(traces, level=options.redact) if options.redact else traces
    places = job_places(found, traces) if isinstance(found, TraceSet) else [None]
    for file, trace, place in zip(files, traces, places, strict=True):
        write_param_comms(trace._native, file.path, place)  # noqa: SLF001 - the core writes it
        tell(f"{file.path}: {file.path.stat().st_size:,} bytes")


EXPORT = command(
    "export",
    f"Export a table as {', '.join(FORMATS)}",
    details="Tables of a job have the columns rank and window.",
    add_arguments=_add_arguments,
    options=ExportOptions,
    run=_export,
)
