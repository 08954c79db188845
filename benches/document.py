"""Writes the results as Markdown; keeps the text below the last generated heading."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from case import Case, Measured, short
from inputs import large

if TYPE_CHECKING:
    from shares import Parts

LIMIT = "## The next limit"
"""The heading of what is written by hand."""

_INTRODUCTION = """\
# Reading, measured

`make bench` writes this file, but for its last section. Every ratio is the median over pairs that were measured by
turns in one run; the range behind it is from the least to the greatest of them. The seconds move with what else the
machine does, the ratios much less. What has one thread is measured in seconds of the processor, the rest by the clock.
"""


class Row(NamedTuple):
    """A case with what was measured, or why nothing was."""

    case: Case
    outcome: Measured | str


def write(path: Path, conditions: str, rows: Sequence[Row], parts: Parts | None) -> str:
    """Writes the document, and returns what was generated of it."""
    sections = [_INTRODUCTION, f"{conditions}\n", _goals(rows), _seconds(rows), _shares(parts)]
    generated = "\n".join(sections)
    path.write_text(f"{generated}\n{LIMIT}{_by_hand(path)}", encoding="utf-8")
    return generated


def _by_hand(path: Path) -> str:
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    return before.partition(LIMIT)[2] or "\n"


def _goals(rows: Sequence[Row]) -> str:
    lines = ["## Goals\n", "| case | must | aim | measured | verdict |", "|---|---:|---:|---:|---|"]
    for (name, goal), outcome in rows:
        asked = f"| {name} | {goal.words(goal.must)} | {goal.words(goal.aim)} |"
        if isinstance(outcome, str):
            lines.append(f"{asked} | not measured: {outcome} |")
        else:
            lines.append(f"{asked} {_range(outcome)} | {goal.verdict(outcome.value)} |")
    return "\n".join(lines) + "\n"


def _range(measured: Measured) -> str:
    least, middle, greatest = (short(value) for value in (min(measured.values), measured.value, max(measured.values)))
    return middle if len(measured.values) == 1 else f"{middle} ({least}–{greatest})"


def _seconds(rows: Sequence[Row]) -> str:
    lines = ["## Medians\n", "| case | read | ours | beside | pairs |", "|---|---|---|---|---:|"]
    for (name, _), outcome in rows:
        if isinstance(outcome, Measured):
            lines.append(f"| {name} | {outcome.subject} | {outcome.ours} | {outcome.peer} | {len(outcome.values)} |")
    return "\n".join(lines) + "\n"


def _shares(parts: Parts | None) -> str:
    title = f"## Where the time goes\n\nFrom gzip to links, {large().name}, the quickest samples of `cargo bench`.\n"
    if parts is None:
        return f"{title}\nNot measured: `cargo bench` comes first.\n"
    whole = sum(share.seconds for share in parts.shares)
    lines = ["| part | seconds | share | measured |", "|---|---:|---:|---|"]
    lines += [
        f"| {share.name} | {share.seconds:.4f} s | {share.seconds / whole:.0%} | {share.how} |"
        for share in parts.shares
    ]
    first = max(parts.shares, key=lambda share: share.seconds)
    return "\n".join([title, *lines, "", *_sentences(parts, whole), f"The largest part is *{first.name}*.", ""])


def _sentences(parts: Parts, whole: float) -> list[str]:
    """Further results as sentences."""
    together, factor = parts.read_gzip + parts.link, parts.scan / parts.read_plain
    return [
        f"Together {whole:.4f} s; reading gzip and linking in one thread take {together:.4f} s.",
        f"Scanning every key and value of the same text, and keeping nothing, takes {parts.scan:.4f} s,",
        f"{factor:.2f} times as long as reading it; looking at each of its bytes once takes {parts.touch:.4f} s.",
        f"A snapshot is written in {parts.snapshot_write:.4f} s and loaded, unlinked, in {parts.snapshot_load:.4f} s.",
    ]
