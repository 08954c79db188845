"""Whether a recording can be trusted."""

from __future__ import annotations

from typing import NamedTuple

from kinetoscope._analysis.result import AnalysisResult
from kinetoscope._base import text

STATES = ("complete", "incomplete", "inconsistent")
"""From the best to the worst."""


class Verdict(NamedTuple):
    """Whether a recording can be trusted; prints its state and its problems."""

    state: str
    """`complete`, `incomplete` (something is missing) or `inconsistent` (something cannot be)."""
    problems: AnalysisResult
    """One row per problem, the worst first; rows of state `complete` are remarks."""

    def __repr__(self) -> str:
        return "\n".join([self.state, *lines(self.problems)])

    __str__ = __repr__

    def _repr_html_(self) -> str:
        return f"<p>{self.state}</p>{self.problems._repr_html_() if len(self.problems) else ''}"


def lines(problems: AnalysisResult) -> list[str]:
    """Formats the problems that make a trace incomplete or inconsistent, one line each."""
    has_ranks = "rank" in problems.columns
    rows = problems.select(*(["rank"] if has_ranks else []), "state", "message").rows()
    named = [(f"rank {row[0]}: " if has_ranks and row[0] is not None else "", row[-2], row[-1]) for row in rows]
    return [text.printable(f"{rank}{message}") for rank, state, message in named if state != STATES[0]]


def judged(problems: AnalysisResult) -> Verdict:
    """Returns the verdict that follows from the problems: their worst state."""
    states = {state for (state,) in problems.select("state").rows()}
    return Verdict(max(states, key=STATES.index, default=STATES[0]), problems)
