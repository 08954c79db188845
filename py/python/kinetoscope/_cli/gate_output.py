"""Output of commands that decide: text, JSON, files, and the summary of a job of CI."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kinetoscope._analysis.gate_text import WRITERS, as_json, markdown, plain, saved
from kinetoscope._base.tell import data_output, tell, tell_sentences
from kinetoscope._cli.arguments import Group
from kinetoscope._io.atomic import append_bytes

if TYPE_CHECKING:
    from kinetoscope._analysis.gate import Gate

_SUMMARY = "GITHUB_STEP_SUMMARY"
_PAGE = ".html"


class GateOutputOptions(NamedTuple):
    """Options of a command that decides."""

    reports: list[Path] | None
    summary: bool
    summary_file: Path | None
    allow_unknown: bool


def add_gate_output(group: Group, *, has_page: bool) -> None:
    """Adds the arguments of `GateOutputOptions`; `has_page` if a report may be an HTML page."""
    extensions = ", ".join([*WRITERS, *([_PAGE] if has_page else [])])
    group.add_argument(
        "--report",
        action="append",
        type=Path,
        dest="reports",
        metavar="FILE",
        help=f"also write the decision to FILE (.xml is JUnit); extensions: {extensions}; repeatable",
    )
    group.add_argument("--summary", action="store_true", help=f"append Markdown to the file in ${_SUMMARY}")
    group.add_argument("--summary-file", type=Path, metavar="FILE", help="append Markdown to FILE")
    group.add_argument("--allow-unknown", action="store_true", help="pass if a value is unknown")


def expect_outputs(options: GateOutputOptions, output: Path | None, *, has_page: bool) -> None:
    """Raises ValueError for an output that cannot be written: before the traces are read."""
    known = [*WRITERS, *([_PAGE] if has_page else [])]
    for path in [*(options.reports or []), *([output] if output else [])]:
        if path.suffix.lower() not in known:
            raise ValueError(f"expected a file name that ends in {', '.join(known)}, found {path.name}")
    if options.summary and not os.environ.get(_SUMMARY):
        raise ValueError(f"expected a file in ${_SUMMARY} with --summary, found none: use --summary-file FILE")


def deliver(
    gate: Gate,
    options: GateOutputOptions,
    output: Path | None,
    *,
    is_json: bool,
    page: Callable[[Path], object] | None = None,
) -> int:
    """Prints and writes a decision; returns the exit code. `page` writes an HTML page."""
    for path in [*([output] if output else []), *(options.reports or [])]:
        if page and path.suffix.lower() == _PAGE:
            page(path)
        else:
            saved(gate, path)
        if not is_json:
            tell(f"{path}: {gate.headline}")
    summaries = [os.environ[_SUMMARY]] if options.summary else []
    for summary in [*summaries, *([options.summary_file] if options.summary_file else [])]:
        append_bytes(summary, markdown(gate).encode("utf-8", "backslashreplace") + b"\n")
    if is_json:
        data_output().write(as_json(gate))
    elif not output:
        tell_sentences(plain(gate))
    return gate.exit_code
