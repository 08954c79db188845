"""Selects the iterations to record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

from kinetoscope.profiling import pytorch


@final
class Plan:
    """A schedule for torch that can end early.

    Follows the given schedule, or the counts, or records the whole block.
    """

    def __init__(self, given: Callable[[int], Any] | None, counts: pytorch.Counts) -> None:
        """Raises ValueError for invalid counts, or for counts and a schedule."""
        self._schedule = _schedule(given, counts)
        self._has_ended = False
        self.active = counts["active"] if given is None else getattr(given, "active", None)
        """Number of iterations of a window; None if unknown."""

    def __call__(self, step: int) -> Any:
        """Returns the `ProfilerAction` for an iteration."""
        return pytorch.action("NONE") if self._has_ended else self._schedule(step)

    def end(self) -> None:
        """Ends the schedule: no later iteration is recorded."""
        self._has_ended = True


def _schedule(given: Callable[[int], Any] | None, counts: pytorch.Counts) -> Callable[[int], Any]:
    positive = {name: value for name, value in counts.items() if value and name != "repeat"}
    if given is not None:
        if positive:
            raise ValueError(f"ks.profile: expected schedule= or counts of iterations, found both: {positive}")
        return given
    if counts["active"] is None and not positive:
        # with schedule=None, torch would not annotate iterations
        return lambda _: pytorch.action("RECORD")
    if not counts["active"] or any(value is None or value < 0 for value in counts.values()):
        raise ValueError(f"ks.profile: expected active= of at least 1 and no negative count, found {counts}")
    return pytorch.make_schedule(counts)
