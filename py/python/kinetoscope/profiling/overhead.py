"""Measures the cost of a recording: time in the profiler, and slowdown of iterations."""

from __future__ import annotations

import statistics
from collections import deque
from time import perf_counter_ns
from typing import Literal, NamedTuple, final

from kinetoscope._base import text

_MAX_STEPS = 1000
"""Maximum number of iterations kept for the median, because a job may run for weeks."""

CodeOwner = Literal["own", "torch", "caller"]
State = Literal["waiting", "recording", "observed"]


class Overhead(NamedTuple):
    """Cost of a recording so far. Times are in nanoseconds."""

    own_ns: int
    """Time of Kinetoscope on the thread of the loop. Compression has its own thread."""
    torch_ns: int
    """Time of torch's profiler on the thread of the loop, to start, stop and write windows."""
    waiting_ns: int | None
    """Median duration of iterations without recording; None if there were none."""
    recording_ns: int | None
    """Median duration of recorded iterations without the observer; None if there were none."""
    observed_ns: int | None
    """Median duration of iterations with the Execution Trace observer; None if there were none."""

    @property
    def slowdown(self) -> float | None:
        """`recording_ns / waiting_ns`; None if either is missing."""
        return self.recording_ns / self.waiting_ns if self.recording_ns and self.waiting_ns else None

    @property
    def inflation(self) -> float | None:
        """Slowdown by the observer: `observed_ns / recording_ns`; None if either is missing.

        If all recorded iterations were observed, `observed_ns / waiting_ns`.
        """
        usual_ns = self.recording_ns or self.waiting_ns
        return self.observed_ns / usual_ns if self.observed_ns and usual_ns else None

    def __str__(self) -> str:
        calls = f"{text.duration(self.own_ns)} in ks.profile, {text.duration(self.torch_ns)} in torch's profiler"
        named = [
            ("while recording", self.recording_ns),
            ("with the Execution Trace observer", self.observed_ns),
            ("otherwise", self.waiting_ns),
        ]
        times = [f"{text.duration(ns)} {name}" for name, ns in named if ns is not None]
        ratios = [f"recording {self.slowdown:.2f} ×"] if self.slowdown else []
        ratios += [f"observer {self.inflation:.2f} ×"] if self.inflation else []
        return f"{calls}; iterations take {', '.join(times)} ({', '.join(ratios)})" if ratios else calls

    def _repr_html_(self) -> str:
        return f"<p>{text.escaped(str(self))}</p>"


@final
class Meter:
    """Measures time by owner of the code. An inner context pauses the outer one.

    ::

        with meter("own"):
            …
            with meter("torch"):
                …
    """

    def __init__(self) -> None:
        self._total_ns: dict[CodeOwner, int] = {"own": 0, "torch": 0, "caller": 0}
        self._open: list[CodeOwner] = []
        self._next: CodeOwner = "own"
        self._since = 0
        self._steps: dict[State, deque[int]] = {
            "waiting": deque(maxlen=_MAX_STEPS),
            "recording": deque(maxlen=_MAX_STEPS),
            "observed": deque(maxlen=_MAX_STEPS),
        }

    def __call__(self, owner: CodeOwner) -> Meter:
        """Sets the owner for the next `with`."""
        self._next = owner
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
        """Records the duration of an iteration, without the profiler's time between iterations."""
        self._steps[state].append(dur_ns)

    @property
    def has_iterations(self) -> bool:
        """Whether an iteration has ended."""
        return any(self._steps.values())

    @property
    def overhead(self) -> Overhead:
        """Current totals and medians."""
        medians = (round(statistics.median(times)) if times else None for times in self._steps.values())
        return Overhead(self._total_ns["own"], self._total_ns["torch"], *medians)
