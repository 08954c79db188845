"""Starts windows on demand: from another thread, by a signal, a file, or a slow step."""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from operator import index
from pathlib import Path
from time import monotonic
from types import FrameType
from typing import Any, NamedTuple, final

from kinetoscope._base.warnings import warn
from kinetoscope.profiling import pytorch
from kinetoscope.profiling.trigger_file import last_change, requested_iteration

_CHECK_S = 0.5
"""Interval of checks for the file, because a check is slow on a shared disk."""
_NUM_STEPS = 50
_MIN_STEPS = 10
"""Minimum number of steps for a median."""


class TriggerOptions(NamedTuple):
    """Events that start a window, besides `Trigger.request`."""

    at: Iterable[int] = ()
    """Iterations at which a window starts."""
    file: str | os.PathLike[str] | None = None
    """A file that triggers when it is touched; a number in the file selects the iteration."""
    signal: int | None = None
    slow_step: float | None = None
    """Duration of a slow step, as a multiple of the median of the last 50 steps."""


@final
class Trigger:
    """A schedule for torch that records nothing until a window is requested."""

    def __init__(self, warmup: int, active: int, repeat: int, options: TriggerOptions) -> None:
        """Raises ValueError for invalid counts or `slow_step`."""
        if active < 1 or warmup < 0 or repeat < 0 or (options.slow_step is not None and options.slow_step <= 1):
            raise ValueError(
                "ks.profile: expected active= of at least 1, slow_step= above 1 and no negative count, "
                f"found active={active}, warmup={warmup}, repeat={repeat}, slow_step={options.slow_step}"
            )
        self.active = active
        self._warmup = warmup
        self._left = repeat or None
        self._signal = options.signal
        self._slow_step = options.slow_step
        self._file = None if options.file is None else Path(options.file)
        self._starts = set(map(index, options.at))
        self._is_requested = False
        self._window: int | None = None
        self._durations: deque[int] = deque(maxlen=_NUM_STEPS)
        self._changed = 0
        self._checked_s = 0.0
        self._previous_handler: Any = None

    def request(self, at: int | None = None) -> None:
        """Requests a window at iteration `at`, or as soon as possible.

        Safe to call from any thread or signal handler. Raises TypeError unless `at` is an integer.
        """
        if at is None:
            self._is_requested = True
        else:
            self._starts.add(index(at))

    def observe_first(self) -> None:
        """Adds an iteration for the observer before windows without warm-up."""
        self._warmup = self._warmup or 1

    def __call__(self, step: int) -> Any:
        """Returns the `ProfilerAction` for an iteration."""
        length = self._warmup + self.active
        if self._window is not None and step >= self._window + length:
            self._window = None
        if self._window is None and self._left != 0 and self._is_due(step):
            self._window = step
            self._left = None if self._left is None else self._left - 1
            self._durations.clear()  # recorded steps take longer
        if self._window is None:
            return pytorch.action("NONE")
        place = step - self._window
        if place < self._warmup:
            return pytorch.action("WARMUP")
        return pytorch.action("RECORD" if place < length - 1 else "RECORD_AND_SAVE")

    def _is_due(self, step: int) -> bool:
        due = {start for start in self._starts.copy() if start - self._warmup <= step}
        self._starts -= due
        if not self._is_requested:  # a later request counts for the next iteration
            return bool(due)
        self._is_requested = False
        return True

    # --- sources of requests ----------------------------------------------------------------------

    def listen(self) -> None:
        """Starts to watch the file and the signal.

        Raises ValueError if the signal is not available, as on a thread other than the main one.
        """
        self._changed = 0 if self._file is None else last_change(self._file)
        if self._signal is not None:
            self._previous_handler = signal.signal(self._signal, self._signalled)

    def unlisten(self) -> None:
        """Restores the previous signal handler, unless another one was installed later.

        Outside the main thread, the handler stays and forwards to the previous one.
        """
        if self._signal is None or self._previous_handler is None or signal.getsignal(self._signal) != self._signalled:
            return
        with suppress(ValueError):
            signal.signal(self._signal, self._previous_handler)
            self._previous_handler = None

    def _signalled(self, number: int, frame: FrameType | None) -> None:
        self.request()
        if callable(self._previous_handler):
            self._previous_handler(number, frame)

    def iteration_ended(self, dur_ns: int) -> None:
        """Checks the duration of the iteration, and the file every 0.5 seconds."""
        if self._file is not None and monotonic() - self._checked_s > _CHECK_S:
            self._checked_s = monotonic()
            self._check(self._file)
        if self._slow_step is not None and self._window is None:
            if len(self._durations) >= _MIN_STEPS and dur_ns > self._slow_step * _median(self._durations):
                self.request()
            self._durations.append(dur_ns)

    def _check(self, file: Path) -> None:
        changed = last_change(file)
        if changed in {0, self._changed}:
            return
        self._changed = changed
        try:
            self.request(requested_iteration(file))
        except OSError as error:
            warn(f"ks.profile: the request was ignored: {error}")


def _median(times: Iterable[int]) -> int:
    ordered = sorted(times)
    return ordered[len(ordered) // 2]
