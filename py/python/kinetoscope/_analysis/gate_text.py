"""Writes decisions as text, Markdown, JUnit XML and JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kinetoscope._analysis.gate import Decision, Gate, noise_text, percentage
from kinetoscope._base import markdown as md
from kinetoscope._base import text

_MAX_NAME = 60
_MAX_NOTE = 400
_CAUSES = "gate_causes"


def plain(gate: Gate) -> str:
    """Returns the result as text: the headline, a table of decisions, notes, and causes."""
    header, right, rows = _decisions(gate, lambda name: text.clipped(text.printable(name), _MAX_NAME))
    blocks = [gate.headline, text.aligned(header, rows, right)]
    if notes := _notes(gate, lambda name: text.clipped(text.printable(name), _MAX_NAME)):
        blocks.append("\n".join(f"{names}: {text.printable(note)}" for names, note in notes))
    causes = _causes(gate, lambda name: text.clipped(text.printable(name), _MAX_NAME))
    if causes:
        blocks.append(f"Changed beyond threshold and noise:\n{text.aligned(*_in_order(causes))}")
    return "\n\n".join(blocks)


def markdown(gate: Gate) -> str:
    """Returns the same in Markdown."""
    header, right, rows = _decisions(gate, md.code)
    blocks = [f"### Kinetoscope: {gate.headline}", md.table(header, rows, right)]
    if notes := _notes(gate, md.code):
        blocks.append("\n".join(f"- {names}: {md.code(note, _MAX_NOTE)}" for names, note in notes))
    causes = _causes(gate, md.code)
    if causes:
        header, right, rows = causes
        blocks.append(f"Changed beyond threshold and noise:\n\n{md.table(header, rows, right)}")
    return "\n\n".join(blocks) + "\n"


def junit(gate: Gate) -> str:
    """Returns the same as JUnit XML: metrics that are worse fail, unknown ones are errors."""
    decisions = gate.decisions
    failures = sum(each.is_failing is True for each in decisions)
    errors = sum(each.is_failing is None for each in decisions)
    counts = f'tests="{len(decisions)}" failures="{failures}" errors="{errors}"'
    cases = "".join(_case(each, gate.name) for each in decisions)
    output = f"<system-out>{_xml(plain(gate))}</system-out>"
    suite = f'<testsuite name="kinetoscope {gate.name}" {counts}>{cases}{output}</testsuite>'
    return f'<?xml version="1.0" encoding="utf-8"?>\n<testsuites {counts}>{suite}</testsuites>\n'


def as_json(gate: Gate) -> str:
    """Returns the same as JSON."""
    return json.dumps(gate.to_dict(), indent=2, allow_nan=False) + "\n"


WRITERS: dict[str, Callable[[Gate], str]] = {
    ".xml": junit,
    ".md": markdown,
    ".json": as_json,
    ".txt": lambda gate: plain(gate) + "\n",
}
"""Writers by extension."""


def saved(gate: Gate, path: str | os.PathLike[str]) -> Path:
    """Writes the result in the format of the extension; returns the path."""
    from kinetoscope._io.atomic import write_bytes

    extension = Path(path).suffix.lower()
    if extension not in WRITERS:
        raise ValueError(f"expected a file name that ends in {', '.join(WRITERS)}, found {Path(path).name}")
    return write_bytes(path, WRITERS[extension](gate).encode("utf-8", "backslashreplace"))


def _notes(gate: Gate, show: Callable[[str], str]) -> list[tuple[str, str]]:
    """Returns each note once, after the name of its first decision and the number of others."""
    names: dict[str, list[str]] = {}
    for each in gate.decisions:
        if each.note:
            names.setdefault(each.note, []).append(_named(each))
    others = {note: f" and {len(named) - 1} more" if len(named) > 1 else "" for note, named in names.items()}
    return [(f"{show(named[0])}{others[note]}", note) for note, named in names.items()]


def _named(decision: Decision) -> str:
    return decision.name if decision.rank is None else f"{decision.name} of rank {decision.rank}"


_Table = tuple[list[str], list[bool], list[list[str]]]
"""Header, columns of numbers, and rows."""


def _in_order(table: _Table) -> tuple[list[str], list[list[str]], list[bool]]:
    header, right, rows = table
    return header, rows, right


def _decisions(gate: Gate, show: Callable[[str], str]) -> _Table:
    decisions = gate.decisions
    has_rank = any(each.rank is not None for each in decisions)
    if gate.name == "budgets":
        header, cells = ["status", "budget", "value", "limit"], lambda each: [each.second, each.first]
    else:
        header = ["status", "metric", "before", "after", "change", "threshold", "noise"]
        cells = lambda each: [each.first, each.second, each.change, each.threshold, each.noise]  # noqa: E731 - as above
    rows = [
        [each.status, show(each.name), *cells(each), *([_rank(each.rank)] if has_rank else [])] for each in decisions
    ]
    header = [*header, *(["rank"] if has_rank else [])]
    return header, [False, False, *[True] * (len(header) - 2)], rows


def _rank(rank: int | None) -> str:
    return "–" if rank is None else str(rank)


def _causes(gate: Gate, show: Callable[[str], str]) -> _Table | None:
    """Returns the names that changed; None if there are none."""
    if _CAUSES not in gate.tables or not len(gate.tables[_CAUSES]):
        return None
    table = gate.tables[_CAUSES]
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows()]
    has_rank = "rank" in table.columns
    header = ["kind", "name", "before", "after", "change", "noise", *(["rank"] if has_rank else [])]
    return header, [False, False, *[True] * (len(header) - 2)], [_cause(row, show) for row in rows]


def _cause(row: dict[str, Any], show: Callable[[str], str]) -> list[str]:
    is_new = row["change_share"] is None
    return [
        row["kind"],
        show(row["name"]),
        text.duration(row["before_ns"]),
        text.duration(row["after_ns"]),
        "new" if is_new else percentage(row["change_share"], is_change=True),
        noise_text("", row["noise_share"]),
        *([_rank(row["rank"])] if "rank" in row else []),
    ]


def _case(decision: Decision, table: str) -> str:
    name = f'<testcase classname="kinetoscope.{table}" name="{_xml(_named(decision))}"'
    if decision.is_failing is False:
        return f"{name}/>"
    tag = "error" if decision.is_failing is None else "failure"
    return f'{name}><{tag} type="{decision.status}" message="{_xml(decision.sentence)}"/></testcase>'


def _xml(words: str) -> str:
    """Escapes text for XML, which has no control characters."""
    return text.escaped(text.printable_lines(words))
