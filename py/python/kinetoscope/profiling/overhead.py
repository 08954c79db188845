"""What recording costs the loop: the time in calls of the profiler, and how much longer iterations take."""

from __future__ import annotations

import statistics
from collections import deque
from time import perf_counter_ns
from typing import Literal, NamedTuple, final

from kinetoscope._base import text

_MAX_STEPS = 1000
"""The latest iterations are remembered: a job may run for weeks."""

Whose = Literal["own", "torch", "caller"]
State = Literal["waiting", "recording"]


class Overhead(NamedTuple):
    """What a recording has cost the loop so far. Times in nanoseconds."""

    own_ns: int
    """On the loop's thread, in Kinetoscope's code. Compressing is on another thread and not in it."""
    torch_ns: int
    """On the loop's thread, in torch's profiler as it starts, stops and writes out windows."""
    waiting_ns: int | None
    """The median iteration that was not recorded; None where there was none."""
    recording_ns: int | None
    """The median iteration that was recorded; None where there was none."""

    @property
    def slowdown(self) -> float | None:
        """How many times as long a recorded iteration takes; None without both sorts of iterations."""
        return self.recording_ns / self.waiting_ns if self.recording_ns and self.waiting_ns else None

    def __str__(self) -> str:
        calls = f"{text.duration(self.own_ns)} in ks.profile, {text.duration(self.torch_ns)} in torch's profiler"
        if self.slowdown is None:
            return calls
        waiting, recording = map(text.duration, (self.waiting_ns or 0, self.recording_ns or 0))
        return f"{calls}; iterations take {recording} while recording, {waiting} otherwise ({self.slowdown:.2f} ×)"


@final
class Meter:
    """Whose code the loop's thread is in. A context in a context interrupts the outer one's time.

    ::

        with meter("own"):
            …
            with meter("torch"):
                …
    """

    def __init__(self) -> None:
        self._total_ns: dict[Whose, int] = {"own": 0, "torch": 0, "caller": 0}
        self._open: list[Whose] = []
        self._next: Whose = "own"
        self._since = 0
        self._steps: dict[State, deque[int]] = {
            "waiting": deque(maxlen=_MAX_STEPS),
            "recording": deque(maxlen=_MAX_STEPS),
        }

    def __call__(self, whose: Whose) -> Meter:
        """What the next `with` is to count for."""
        self._next = whose
        return self

    def __enter__(self) -> None:
        self._switch()
        self._open.append(self._next)

    def __exit__(self, *_: object) -> None:
        self._switch()
        self._open.pop()

    def _switch(self) -> None:
        now = perf_counter_ns()
        if self._open:
            self._total_ns[self._open[-1]] += now - self._since
        self._since = now

    def iteration(self, state: State, dur_ns: int) -> None:
        """Counts an iteration of the loop, without what the profiler did between it and its neighbours."""
        self._steps[state].append(dur_ns)

    @property
    def overhead(self) -> Overhead:
        """All so far."""
        waiting, recording = (round(statistics.median(times)) if times else None for times in self._steps.values())
        return Overhead(self._total_ns["own"], self._total_ns["torch"], waiting, recording)
