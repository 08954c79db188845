"""The commands `report` and `view`, which write HTML pages."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from kinetoscope._base.tell import tell, tell_problem
from kinetoscope._cli.arguments import Group, command, flag, size
from kinetoscope._cli.output import expect_extension
from kinetoscope._cli.reading import ReadingOptions, add_rank, add_reading, add_traces, read_recordings
from kinetoscope._cli.snapshot import write_report
from kinetoscope._cli.terminal import busy
from kinetoscope._cli.trim import add_redact
from kinetoscope._cli.workers import add_workers, worker_processes
from kinetoscope._io.atomic import write_bytes
from kinetoscope._load.unread import UnreadReason
from kinetoscope.tables import Tables
from kinetoscope.trace_set import TraceSet


class ContentOptions(NamedTuple):
    """Options of a report's content. They need a trace."""

    title: str | None
    max_size: int | None
    static: bool
    redact: str | None
    rank: int | None
    workers: int | None
    reading: ReadingOptions


class ReportOptions(NamedTuple):
    """Options of `report`."""

    traces: list[str]
    output: Path
    content: ContentOptions


class ViewOptions(NamedTuple):
    """Options of `view`."""

    traces: list[str]
    output: Path | None
    content: ContentOptions


def _add_report_arguments(parser: argparse.ArgumentParser) -> None:
    add_traces(parser)
    output = _add_content(parser)
    output.add_argument(
        "-o", "--output", type=Path, default=Path("report.html"), metavar="FILE", help="(default: report.html)"
    )


def _add_view_arguments(parser: argparse.ArgumentParser) -> None:
    add_traces(parser, "*")
    output = _add_content(parser)
    output.add_argument("-o", "--output", type=Path, metavar="FILE", help="(default: a temporary file)")


def _add_content(parser: argparse.ArgumentParser) -> Group:
    """Adds the arguments of `ContentOptions`. Returns the group of output options."""
    add_rank(parser.add_argument_group("Selection"))
    add_workers(parser)
    output = parser.add_argument_group("Output")
    output.add_argument("--title", help="title of the page (default: the file name)")
    output.add_argument(
        "--max-size", type=size, metavar="SIZE", help="remove details until the page fits, such as 10MB"
    )
    output.add_argument("--static", action="store_true", help="write tables and pictures alone, without scripts")
    add_redact(output)
    add_reading(parser)
    return output


def _report(options: ReportOptions) -> None:
    path = _write_report(options.traces, options.output, options.content)
    tell(f"{path}: {path.stat().st_size:,} bytes")


def _view(options: ViewOptions) -> None:
    import webbrowser

    if options.traces:
        path = _write_report(options.traces, options.output or _temporary("report.html"), options.content)
    else:
        _expect_no_content(options.content)
        path = _write_viewer(options.output or _temporary("viewer.html"))
    tell(path)
    if not webbrowser.open(path.resolve().as_uri()):
        tell("expected a web browser, found none: open the file yourself")


def _temporary(name: str) -> Path:
    """Returns a path in a new folder. Nobody removes it: the browser reads the page later."""
    import tempfile

    return Path(tempfile.mkdtemp(prefix="kinetoscope-"), name)


def _expect_no_content(options: ContentOptions) -> None:
    """Raises ValueError for an option that needs a trace."""
    for name, value in {**options._asdict(), **options.reading._asdict()}.items():
        if name != "reading" and value is not None and value is not False:
            raise ValueError(f"expected a trace with {flag(name)}, found none")


def _write_viewer(path: Path) -> Path:
    from kinetoscope._report.page import viewer_page

    expect_extension(path, ".html", ".htm")
    return write_bytes(path, viewer_page().encode())


def _write_report(paths: list[str], output: Path, options: ContentOptions) -> Path:
    expect_extension(output, ".html", ".htm")
    with worker_processes(options.workers) as executor:
        found = read_recordings(paths, options.reading, rank=options.rank, output=output, executor=executor)
        content: dict[str, Any] = {
            "title": options.title,
            "redact": options.redact or False,
            "max_size": options.max_size,
            "static": options.static,
        }
        told = set(found.skipped) if isinstance(found, TraceSet) and len(paths) > 1 else set()
        with busy(f"writing {output}"):
            path = (
                write_report(found, output, content) if isinstance(found, Tables) else found.report(output, **content)
            )
        if isinstance(found, TraceSet):
            _tell_unread({name: reason for name, reason in found.skipped.items() if name not in told})
        return path


def _tell_unread(skipped: Mapping[str, str]) -> None:
    """Prints files of the job that could not be read to stderr."""
    for name, reason in skipped.items():
        if isinstance(reason, UnreadReason):
            tell_problem(f"skipped {name}: {reason}")


REPORT = command(
    "report",
    "Write an HTML report of a trace or job: summary, findings, timeline",
    add_arguments=_add_report_arguments,
    options=ReportOptions,
    run=_report,
)
VIEW = command(
    "view",
    "Open a report in the browser; without a trace, open an empty viewer",
    details="The viewer reads files that are dropped on it.",
    add_arguments=_add_view_arguments,
    options=ViewOptions,
    run=_view,
)
