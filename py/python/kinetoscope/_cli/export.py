"""The command `export`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kinetoscope import _native
from kinetoscope._base.tell import data_output, tell
from kinetoscope._cli.analyze import add_selection
from kinetoscope._cli.arguments import command, flag
from kinetoscope._cli.export_analyses import AnalysisOptions, add_analyses, export_analyses, flame_request
from kinetoscope._cli.export_flame import FLAME_FORMATS, FlameFile, export_flame, flame_file
from kinetoscope._cli.output import expect_extension, outputs
from kinetoscope._cli.reading import ReadingOptions, add_reading, add_trace, read_recordings, report_defects
from kinetoscope._cli.terminal import busy
from kinetoscope._cli.trim import add_redact
from kinetoscope._export.job_groups import job_places
from kinetoscope._export.param import write_param_comms
from kinetoscope._export.tables import FORMATS, Part, export, json_lines
from kinetoscope._export.workbook import EXTENSION
from kinetoscope._io.inputs import refuse_input
from kinetoscope._load.redaction import redacted
from kinetoscope.tables import Tables
from kinetoscope.trace_set import TraceSet

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

_PARAM_COMMS = "param-comms"
_XLSX = EXTENSION[1:]


class ExportOptions(NamedTuple):
    """Options of `export`."""

    trace: str
    analysis: AnalysisOptions
    rank: int | None
    table: str | None
    output: Path | None
    format: str | None
    redact: str | None
    reading: ReadingOptions

    @property
    def has_results(self) -> bool:
        """Whether results of analyses are written, instead of a table of the file."""
        is_workbook = self.format is None and self.output and self.output.suffix.lower() == EXTENSION
        return bool(self.analysis.analyses or self.format == _XLSX or is_workbook)


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_trace(parser)
    add_analyses(parser)
    selection = add_selection(parser, has_by=True)
    selection.add_argument(
        "--table",
        metavar="NAME",
        help="table to export (default: events; nodes if there are no events; the first table of other formats; "
        "all tables of analyses)",
    )
    output = parser.add_argument_group("Output")
    output.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="output file (default with --format jsonl: print); analyses with several tables write FILE_ANALYSIS "
        "for each, or into a folder",
    )
    output.add_argument(
        "--format",
        choices=[*(extension[1:] for extension in FORMATS), _XLSX, *FLAME_FORMATS, _PARAM_COMMS],
        help=f"format (default: by the extension of FILE); {_XLSX}: a workbook of analyses, of all by default; "
        f"{', '.join(FLAME_FORMATS)}: a flamegraph ({', '.join(FLAME_FORMATS.values())}); "
        f"{_PARAM_COMMS}: collectives for PARAM, one file per rank",
    )
    add_redact(output)
    add_reading(parser)


def _export(options: ExportOptions) -> None:
    if file := flame_file(options.output, options.format):
        _export_flame(options, file)
        return
    if options.has_results:
        _export_results(options)
        return
    _expect_no_selection(options.analysis)
    if options.format == _PARAM_COMMS:
        _export_param_comms(options)
        return
    if options.output and options.format:
        expect_extension(options.output, f".{options.format}")
    found = _read(options)
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


def _read(options: ExportOptions) -> Trace | TraceSet | Tables:
    """Reads the input, and reports its defects."""
    found = read_recordings([options.trace], options.reading, rank=options.rank, output=options.output)
    report_defects(found)
    return found


def _read_traces(options: ExportOptions) -> Trace | TraceSet:
    """Reads the input. Raises UnsupportedTraceError for formats other than traces."""
    found = _read(options)
    if isinstance(found, Tables):
        raise _native.UnsupportedTraceError(f"expected a trace, found {found.sort}: {options.trace}")
    return found


def _export_results(options: ExportOptions) -> None:
    """Writes results of analyses of traces, jobs and memory recordings."""
    if options.format == _PARAM_COMMS:
        raise ValueError(f"expected no analysis with --format {_PARAM_COMMS}, found {options.analysis.analyses[0]}")
    if options.output and options.format == _XLSX:
        expect_extension(options.output, EXTENSION)
    found = _read(options)
    if options.redact:
        found = _redacted(found, options.redact)
    extension = f".{options.format}" if options.format else None
    export_analyses(found, options.analysis, options.table, options.output, extension)


def _export_flame(options: ExportOptions, file: FlameFile) -> None:
    request = flame_request(options.analysis, options.table, file.path)
    found = _read_traces(options)
    export_flame(_redacted(found, options.redact) if options.redact else found, file, request)


def _redacted(found: Trace | TraceSet | Tables, level: str) -> Trace | TraceSet:
    if isinstance(found, Tables):
        raise _native.UnsupportedTraceError(f"expected a trace to redact, found {found.sort}")
    if isinstance(found, TraceSet):
        return found._redacted(level=level)  # noqa: SLF001 - the same as for its report
    return redacted([found], level=level)[0]


def _expect_no_selection(options: AnalysisOptions) -> None:
    """Raises ValueError for options that only analyses take: tables have all rows."""
    given = [*options.selected(), *(name for name, _ in options.parameters)]
    if given:
        raise ValueError(f"expected names of analyses with {flag(given[0])}, found none")


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
    found = _read_traces(options)
    files = outputs(found, options.output)
    traces = [file.trace for file in files]
    traces = redacted(traces, level=options.redact) if options.redact else traces
    places = job_places(found, traces) if isinstance(found, TraceSet) else [None]
    for file, trace, place in zip(files, traces, places, strict=True):
        write_param_comms(trace._native, file.path, place)  # noqa: SLF001 - the core writes it
        tell(f"{file.path}: {file.path.stat().st_size:,} bytes")


EXPORT = command(
    "export",
    f"Export a table or results of analyses as {', '.join([*FORMATS, EXTENSION])}, or a flame graph",
    details="Tables of a job have the columns rank and window. "
    f"A flame graph: kinetoscope export TRACE flamegraph -o FILE{', or -o FILE'.join(FLAME_FORMATS.values())}.",
    add_arguments=_add_arguments,
    options=ExportOptions,
    run=_export,
)
