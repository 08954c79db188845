"""The command `digest`."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from kinetoscope._analysis.differences import diff
from kinetoscope._analysis.digest import MAX_CHARS
from kinetoscope._base.tell import tell
from kinetoscope._cli.arguments import command
from kinetoscope._cli.reading import ReadingOptions, add_rank, add_reading, add_traces, read_recordings
from kinetoscope._cli.sides import read_sides
from kinetoscope._cli.terminal import busy
from kinetoscope.memory import MemorySnapshot
from kinetoscope.tables import Tables

if TYPE_CHECKING:
    from kinetoscope._analysis.digest import DigestForm


_FORMATS: dict[str, DigestForm] = {"md": "markdown", "json": "json"}
_BUDGET = re.compile(r"(\d{1,9})(k?)", re.IGNORECASE)
_SIDES = 2


class DigestOptions(NamedTuple):
    """Options of `digest`."""

    traces: list[str]
    diff: bool
    format: str
    budget: int
    rank: int | None
    reading: ReadingOptions


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_traces(parser)
    add_rank(parser.add_argument_group("Selection"))
    output = parser.add_argument_group("Output")
    output.add_argument("--diff", action="store_true", help="compare two recordings: BEFORE AFTER")
    output.add_argument("--format", choices=tuple(_FORMATS), default="md", help="Markdown or JSON (default: md)")
    help_text = f"characters at most; 8k is 8,000 (default: {MAX_CHARS // 1_000}k)"
    output.add_argument("--budget", type=_budget, default=MAX_CHARS, metavar="N", help=help_text)
    add_reading(parser)


def _budget(word: str) -> int:
    match = _BUDGET.fullmatch(word)
    if not match:
        raise argparse.ArgumentTypeError(f"expected a number of characters such as 8000 or 8k, found {word}")
    return int(match[1]) * (1_000 if match[2] else 1)


def _digest(options: DigestOptions) -> None:
    digest = _digest_of_two(options) if options.diff else _digest_of_one(options)
    tell(digest.rstrip("\n"))


def _digest_of_one(options: DigestOptions) -> str:
    found = read_recordings(options.traces, options.reading, rank=options.rank, output=None)
    if isinstance(found, Tables) and not isinstance(found, MemorySnapshot):
        raise ValueError(f"expected a trace, a job or a memory snapshot, found {found.sort}")  # noqa: TRY004 - a user's mistake
    with busy("writing the digest"):
        return found.digest(options.budget, form=_FORMATS[options.format])


def _digest_of_two(options: DigestOptions) -> str:
    if len(options.traces) != _SIDES:
        raise ValueError(f"expected two paths with --diff, found {len(options.traces)}")
    before, after = read_sides(options.traces, options.reading, rank=options.rank)
    form = _FORMATS[options.format]
    with busy("comparing"):
        if isinstance(before, MemorySnapshot):
            return before.digest(options.budget, form=form, after=after)
        differences: Any = diff(before, after)
        digest: str = differences.digest(options.budget, form=form)
        return digest


DIGEST = command(
    "digest",
    "Summarise a trace, a job or a memory snapshot as short text, for programs that read text",
    details="The most important comes first; each block names the command that its rows come from.",
    add_arguments=_add_arguments,
    options=DigestOptions,
    run=_digest,
)
