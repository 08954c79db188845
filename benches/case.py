"""A row of the table: what is asked, and what was measured."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pairs import Pairs


class Skipped(Exception):  # noqa: N818 - nothing went wrong
    """Why something cannot be measured here."""


class Goal(NamedTuple):
    """Required and desired value."""

    sign: str
    must: float
    aim: float | None
    unit: str

    def is_met(self, value: float, limit: float) -> bool:
        """Whether a value keeps to one of the two."""
        if self.sign == "±":
            return abs(value - 1) <= limit
        return value <= limit if self.sign == "≤" else value >= limit

    def verdict(self, value: float) -> str:
        """In a word or two."""
        if not self.is_met(value, self.must):
            return "**missed**"
        if self.aim is None:
            return "met"
        return "met, and the aim" if self.is_met(value, self.aim) else "met, not the aim"

    def words(self, limit: float | None) -> str:
        """One of the two in words."""
        if limit is None:
            return ""
        return f"1 ± {limit:g} {self.unit}" if self.sign == "±" else f"{self.sign} {limit:g} {self.unit}"


def at_most(must: float, aim: float | None, unit: str) -> Goal:
    """The less the better."""
    return Goal("≤", must, aim, unit)


def at_least(must: float, aim: float | None, unit: str) -> Goal:
    """The more the better."""
    return Goal("≥", must, aim, unit)


def about_one(must: float, unit: str) -> Goal:
    """No more than so much away from 1."""
    return Goal("±", must, None, unit)


class Case(NamedTuple):
    """A measurement and its goal."""

    name: str
    goal: Goal


class Measured(NamedTuple):
    """A case, measured."""

    subject: str
    """Name of the input."""
    values: list[float]
    """Value of each pair, to compare with the goal."""
    ours: str
    """The median of ours in words."""
    peer: str
    """That of what it is compared with."""

    @property
    def value(self) -> float:
        """The median over the pairs."""
        return statistics.median(self.values)


class Experiment(NamedTuple):
    """Cases that are measured together; `measure` returns the results, or raises `Skipped`."""

    measure: Callable[[], list[Measured]]
    cases: list[Case]


def compared(subject: str, pairs: Pairs, values: Sequence[float], unit: str, peer: str) -> Measured:
    """Returns the result of pairs, in seconds or another unit of `SCALES`."""
    ours, theirs = (f"{short(median * SCALES[unit])} {unit}" for median in pairs.medians)
    return Measured(subject, list(values), ours, f"{theirs}, {peer}")


def short(number: float) -> str:
    """Three digits of a number, or all before its point."""
    return f"{number:.3g}" if number < 1000 else f"{number:.0f}"  # noqa: PLR2004 - three digits


SCALES = {"s": 1.0, "ms": 1e3, "ns": 1e9, "MB": 1e-6}
"""How many of a unit there are in a second, or in a byte."""
