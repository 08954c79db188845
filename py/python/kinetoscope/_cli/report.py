"""The commands that make pages: `report`, and `view`, which opens one in the browser."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from kinetoscope._cli.arguments import add_reading, all_of, count
from kinetoscope._cli.output import expect_ending, refuse_input, sources
from kinetoscope._cli.share import add_redact
from kinetoscope._cli.terminal import busy
from kinetoscope._io.atomic import write_bytes
from kinetoscope._report.size_limit import num_bytes

if TYPE_CHECKING:
    from kinetoscope.trace import Trace
    from kinetoscope.trace_set import TraceSet

_ABOUT_TRACES = ("title", "max_size", "redact", "rank", "no_et", "et", "max_bytes", "cache")
_TRACES = "files, archives, folders or addresses; of several ranks, one page for all"


def add_report(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command that writes a report."""
    about = "one HTML file about a trace, or about all ranks of a job: summary, findings, timeline"
    command = commands.add_parser("report", help=about, description=f"Writes {about}.")
    command.add_argument("traces", nargs="+", metavar="TRACE", help=_TRACES)
    command.add_argument("-o", "--output", type=Path, default=Path("report.html"), help="(default: report.html)")
    _add_common(command)
    command.set_defaults(run=_report)


def add_view(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command that opens one."""
    about = "the report in the browser; without a trace, an empty page that takes files dropped on it"
    command = commands.add_parser("view", help=about, description=f"Opens {about}.")
    command.add_argument("traces", nargs="*", metavar="TRACE", help=_TRACES)
    command.add_argument("-o", "--output", type=Path, help="(default: a file in the folder for temporary files)")
    _add_common(command)
    command.set_defaults(run=_view)


def _add_common(command: argparse.ArgumentParser) -> None:
    command.add_argument("--title", help="(default: the name of the file)")
    command.add_argument(
        "--max-size", type=_size, metavar="SIZE", help="leave out what it takes for the file to be no larger: 10MB"
    )
    add_redact(command)
    command.add_argument("--rank", type=count, metavar="N", help="this rank alone, of several")
    command.add_argument("--no-et", action="store_true", help="read the Kineto trace alone")
    add_reading(command)


def _size(text: str) -> int:
    try:
        return num_bytes(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _report(options: argparse.Namespace) -> None:
    path = _written(options)
    print(f"{path}: {path.stat().st_size:,} bytes")


def _view(options: argparse.Namespace) -> None:
    import tempfile
    import webbrowser

    if not options.traces:
        _expect_no_flags(options)
    if options.output is None:
        folder = tempfile.mkdtemp(prefix="kinetoscope-")  # it stays: the browser reads the page after this has ended
        options.output = Path(folder, "report.html" if options.traces else "viewer.html")
    path = _written(options) if options.traces else _viewer(options.output)
    print(path)
    if not webbrowser.open(path.resolve().as_uri()):
        print("expected a browser to open it, found none: open the file yourself")


def _expect_no_flags(options: argparse.Namespace) -> None:
    """ValueError where a flag says something of a trace and there is none."""
    for name in _ABOUT_TRACES:
        value = getattr(options, name)
        if value is not None and value is not False:
            raise ValueError(f"expected a trace with --{name.replace('_', '-')}, found none")


def _viewer(path: Path) -> Path:
    from kinetoscope._report.page import viewer_page

    expect_ending(path, ".html", ".htm")
    return write_bytes(path, viewer_page().encode())


def _written(options: argparse.Namespace) -> Path:
    expect_ending(options.output, ".html", ".htm")
    found: Trace | TraceSet = all_of(options)
    refuse_input(options.output, sources(found))
    with busy(f"writing {options.output}"):
        return found.report(options.output, title=options.title, redact=options.redact, max_size=options.max_size)
