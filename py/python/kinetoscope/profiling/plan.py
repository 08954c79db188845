"""Which iterations are recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

from kinetoscope.profiling import pytorch


@final
class Plan:
    """A schedule for torch: the one given, the one that the counts make, or the whole block. It can be ended early."""

    def __init__(self, given: Callable[[int], Any] | None, counts: pytorch.Counts) -> None:
        """ValueError for what is no schedule."""
        self._schedule = _schedule(given, counts)
        self._has_ended = False
        self.active = counts["active"] if given is None else getattr(given, "active", None)
        """How many iterations a window has; None where nobody said."""

    def __call__(self, step: int) -> Any:
        """The `ProfilerAction` for an iteration."""
        return pytorch.action("NONE") if self._has_ended else self._schedule(step)

    def end(self) -> None:
        """No further iteration is recorded."""
        self._has_ended = True


def _schedule(given: Callable[[int], Any] | None, counts: pytorch.Counts) -> Callable[[int], Any]:
    wanted = {name: value for name, value in counts.items() if value and name != "repeat"}
    if given is not None:
        if wanted:
            raise ValueError(f"ks.profile: expected schedule= or counts of iterations, found both: {wanted}")
        return given
    if counts["active"] is None and not wanted:
        # not None, which would leave the iterations without their annotations
        return lambda _: pytorch.action("RECORD")
    if not counts["active"] or any(value is None or value < 0 for value in counts.values()):
        raise ValueError(f"ks.profile: expected active= of at least 1 and no count below 0, found {counts}")
    return pytorch.make_schedule(counts)
