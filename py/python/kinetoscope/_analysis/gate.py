"""Decisions of CI: whether a run became slower, and whether it keeps its budgets."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from kinetoscope._analysis.result import AnalysisResult
from kinetoscope._base import lazy, text

Outcome = Literal["passed", "failed", "unknown"]

_MAX_NOISE = 10
"""A larger share only tells that there are too few iterations."""

_EXIT_CODES: dict[Outcome, int] = {"passed": 0, "failed": 1, "unknown": 2}


class Decision(NamedTuple):
    """One metric or budget with the verdict on it, as texts."""

    name: str
    status: str
    is_failing: bool | None
    """None if it is unknown, and nobody allowed that."""
    rank: int | None
    first: str
    """Value before, or the limit."""
    second: str
    """Value after, or the value."""
    change: str
    threshold: str
    noise: str
    note: str

    @property
    def sentence(self) -> str:
        """The decision with its numbers, in one line."""
        rank = f" of rank {self.rank}" if self.rank is not None else ""
        note = f"; {self.note}" if self.note else ""
        if self.status == "unknown":
            return f"{self.name}{rank}: unknown{note}"
        if self.threshold:
            numbers = f"{self.change} (threshold {self.threshold}, noise {self.noise})"
            return f"{self.name}{rank}: {self.status}, {self.first} → {self.second}, {numbers}{note}"
        limit = f", limit {self.first}" if self.first else ""
        return f"{self.name}{rank}: {self.status}, {self.second}{limit}{note}"


class Gate(AnalysisResult):
    """Result of `Differences.gate` and of `check`: a table of decisions, and their outcome.

    ::

        gate = ks.diff("before.json.gz", "after.json.gz").gate(fail_over="3%")
        gate.save("result.xml")                  # also .md, .json, .txt
        raise SystemExit(gate.exit_code)
    """

    @property
    def outcome(self) -> Outcome:
        """`failed` if a metric is worse or a budget broken, else `unknown` or `passed`."""
        failing = [decision.is_failing for decision in self.decisions]
        return "failed" if True in failing else "unknown" if None in failing or not failing else "passed"

    @property
    def passed(self) -> bool:
        """Whether the outcome is `passed`."""
        return self.outcome == "passed"

    @property
    def exit_code(self) -> int:
        """Exit code of the command: 0 passed, 1 failed, 2 unknown."""
        return _EXIT_CODES[self.outcome]

    @property
    def failures(self) -> list[str]:
        """One sentence with all numbers for each decision that did not pass."""
        return [decision.sentence for decision in self.decisions if decision.is_failing is not False]

    @property
    def headline(self) -> str:
        """The outcome in one line, such as `failed: 1 of 3 metrics is worse`."""
        decisions = self.decisions
        noun = "budget" if self.name == "budgets" else "metric"
        total = text.plural(len(decisions), noun)
        if self.outcome == "passed":
            return f"passed: {total}{''.join(_remarks(decisions))}"
        is_failed = self.outcome == "failed"
        found = [each for each in decisions if (each.is_failing is True if is_failed else each.is_failing is None)]
        word = found[0].status if found else "unknown"
        verb = "is" if len(found) == 1 else "are"
        return f"{self.outcome}: {len(found)} of {total} {verb} {word}"

    @property
    def decisions(self) -> list[Decision]:
        """The rows of the table as texts."""
        make = _of_budget if self.name == "budgets" else _of_metric
        return [make(dict(zip(self.columns, row, strict=True))) for row in self.rows()]

    def markdown(self) -> str:
        """Returns the result in GitHub's Markdown. Names of the trace are code in it."""
        from kinetoscope._analysis.gate_text import markdown

        return markdown(self)

    def junit(self) -> str:
        """Returns the result as JUnit XML: a test case for each row, `error` if it is unknown."""
        from kinetoscope._analysis.gate_text import junit

        return junit(self)

    def to_dict(self) -> dict[str, lazy.Any]:
        """Returns outcome, exit code, and the rows of all tables, as JSON has them."""
        tables = {
            name: [dict(zip(table.columns, row, strict=True)) for row in table.rows()]
            for name, table in self.tables.items()
        }
        return {"outcome": self.outcome, "exit_code": self.exit_code, "headline": self.headline, **tables}

    def save(self, path: str | os.PathLike[str]) -> lazy.Path:
        """Writes the result; returns its path. Extensions: .xml (JUnit), .md, .json, .txt.

        Raises ValueError for another extension, and OSError if the file cannot be written.
        """
        from kinetoscope._analysis.gate_text import saved

        return saved(self, path)

    def __repr__(self) -> str:
        from kinetoscope._analysis.gate_text import plain

        return plain(self)

    __str__ = __repr__

    def _repr_html_(self) -> str:
        return f"<p>{text.escaped(self.headline)}</p>{super()._repr_html_()}"


def _remarks(decisions: Sequence[Decision]) -> Iterator[str]:
    """Yields how many decisions passed without being judged as good."""
    for status in ("noisy", "unknown"):
        if num := sum(each.status == status for each in decisions):
            yield f", {num} of them {status}"


def percentage(share: float | None, *, is_change: bool = False) -> str:
    """Formats a share with three digits: `3 %`, or `+7.41 %` for a change. `–` for None."""
    if share is None:
        return "–"
    number = f"{100 * share:{'+' if is_change else ''}.3g}"
    if "e" in number:
        number = f"{100 * share:{'+' if is_change else ''},.0f}"
    return f"{number} %".replace("-", "−")


def noise_text(status: str, share: float | None) -> str:
    """Formats a noise. A share of nothing has no number, though the noise is known."""
    if share is None:
        return "unknown" if status == "unknown" else "–"
    return f"±{percentage(share)}" if share <= _MAX_NOISE else f"over ±{_MAX_NOISE:.0%}".replace("%", " %")


def amount(value: float | None, unit: str) -> str:
    """Formats a value of a decision by its unit: `ns`, `bytes`, `share` or `count`."""
    if value is None:
        return "–"
    if unit == "ns":
        return text.duration(value)
    if unit == "bytes":
        return text.size(value)
    if unit == "share":
        return percentage(value)
    return text.count(int(value)) if value == int(value) else f"{value:,.1f}"


def _of_metric(row: dict[str, lazy.Any]) -> Decision:
    unit = row["unit"]
    return Decision(
        name=row["metric"],
        status=row["status"],
        is_failing=row["is_failing"],
        rank=row.get("rank"),
        first=amount(row["before_value"], unit),
        second=amount(row["after_value"], unit),
        change=percentage(row["change_share"], is_change=True),
        threshold=percentage(row["threshold_share"]),
        noise=noise_text(row["status"], row["noise_share"]),
        note=row["note"] or "",
    )


def _of_budget(row: dict[str, lazy.Any]) -> Decision:
    unit, limit = row["unit"], row["limit_value"]
    return Decision(
        name=row["budget"],
        status=row["status"],
        is_failing=row["is_failing"],
        rank=row["rank"],
        first="" if limit is None else amount(limit, unit),
        second=amount(row["value"], unit),
        change="",
        threshold="",
        noise="",
        note=row["note"] or "",
    )
