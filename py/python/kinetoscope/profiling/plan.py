"""Selects the iterations to record, and the one to observe."""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import Any, SupportsIndex, final

from kinetoscope.profiling import pytorch
from kinetoscope.profiling.observer import Observer
from kinetoscope.profiling.overhead import Meter
from kinetoscope.profiling.trigger import Trigger

Schedule = Callable[[int], Any]


@final
class Plan:
    """A schedule for torch that can end early.

    Follows the given schedule, or the counts, or records the whole block. An observer slows
    operators down, so the first iteration of each window is for it alone. This is the last
    iteration of the warm-up, or else a further one.
    """

    def __init__(self, given: Schedule | None, counts: pytorch.Counts, observer: Observer | None, meter: Meter) -> None:
        """Raises ValueError for invalid counts, or for counts and a schedule."""
        if observer and isinstance(given, Trigger):
            given.observe_first()
        self.schedule = _schedule(given, counts, is_observed=observer is not None)
        self._observer = observer
        self._meter = meter
        self.error: Exception | None = None
        """The last error of the schedule, which is the caller's."""
        self._ahead: dict[int, Any] = {}
        self._has_ended = False
        self.is_scheduled = given is not None or counts["active"] is not None
        """Whether iterations select what is recorded."""
        self.active = counts["active"] if given is None else getattr(given, "active", None)
        """Number of iterations of a window; None if unknown."""
        self.num_before = None if given is not None else _num_before(counts, is_observed=observer is not None)
        """Number of iterations before the first one with true times; None if unknown."""

    def __call__(self, step: int) -> Any:
        """Returns the `ProfilerAction` for an iteration, after the previous one has ended."""
        if self._observer:
            self._observer.cleanup()
        if self._has_ended:
            return pytorch.action("NONE")
        action = self._asked(step)
        is_last_of_warmup = self._observer and action.name == "WARMUP" and pytorch.records(self._ahead_of(step))
        return pytorch.action("RECORD") if is_last_of_warmup else action

    @property
    def is_observing(self) -> bool:
        """Whether the first iteration of each window is for the observer alone."""
        return self._observer is not None

    def replace(self, schedule: Schedule) -> None:
        """Follows another schedule from the next iteration on."""
        given = schedule.schedule if isinstance(schedule, Plan) else schedule
        self.schedule, self._ahead, self.active, self.num_before = given, {}, None, None

    def leave_observer(self) -> None:
        """Adds no more iterations for the observer."""
        self._observer = None

    def end(self) -> None:
        """Ends the schedule: no later iteration is recorded."""
        self._has_ended = True

    def _ahead_of(self, step: int) -> Any:
        self._ahead[step + 1] = self._asked(step + 1)
        return self._ahead[step + 1]

    def _asked(self, step: int) -> Any:
        """Asks the schedule once per iteration, because it may keep a state."""
        if step in self._ahead:
            return self._ahead.pop(step)
        try:
            with self._meter("caller"):
                return _valid(self.schedule(step))
        except Exception as error:
            self.error = error
            raise


def valid_function(given: Any, name: str) -> Any:
    """Returns a function. Raises ValueError for an argument that cannot be called."""
    if given is not None and not callable(given):
        raise ValueError(f"ks.profile: expected a function as {name}=, found {given!r}")
    return given


def _valid(action: Any) -> Any:
    """Raises ValueError for what is no action, and for the one that only torch may set."""
    if not pytorch.is_action(action):
        raise ValueError(f"ks.profile: expected a schedule that returns ProfilerAction, found {action!r}")
    if action.name == "DEVICE_STOPPED":
        raise ValueError("ks.profile: expected a schedule without DEVICE_STOPPED, found one: only torch may set it")
    return action


def _num_before(counts: pytorch.Counts, *, is_observed: bool) -> int:
    if counts["active"] is None:
        return 0
    wait, warmup, skip_first, skip_first_wait = (
        index(counts[name] or 0) for name in ("wait", "warmup", "skip_first", "skip_first_wait")
    )
    return skip_first + (0 if skip_first_wait else wait) + max(warmup, int(is_observed))


def _schedule(given: Schedule | None, counts: pytorch.Counts, *, is_observed: bool) -> Schedule:
    valid_function(given, "schedule")
    positive = {name: value for name, value in counts.items() if value and name != "repeat"}
    if given is not None:
        if positive:
            raise ValueError(f"ks.profile: expected schedule= or {next(iter(positive))}=, found both")
        return given
    given_counts: dict[str, Any] = dict(counts)
    for name, value in given_counts.items():
        minimum = int(name == "active")
        if value is not None and (not isinstance(value, SupportsIndex) or index(value) < minimum):
            raise ValueError(f"ks.profile: expected {name}= of at least {minimum}, found {value!r}")
    if counts["active"] is None:
        several = ["repeat"] if (counts["repeat"] or 0) > 1 else []
        for name in [*positive, *several]:
            raise ValueError(f"ks.profile: {name}= needs active=, the number of iterations to record")
        # with schedule=None, torch would not annotate iterations
        return lambda _: pytorch.action("RECORD")
    return pytorch.make_schedule(counts | {"warmup": counts["warmup"] or int(is_observed)})
