"""Windows that begin when one is asked for: from another thread, by a signal, by a file, or by a step that was slow."""

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

from kinetoscope.profiling import pytorch

_LOOK_S = 0.5
"""How often the file is looked for: on a disk that many share, each look takes a while."""
_NUM_STEPS = 50
_FEWEST_STEPS = 10
"""The median of fewer says nothing."""


class Asking(NamedTuple):
    """What begins a window, besides `ask`."""

    at: Iterable[int] = ()
    """Iterations."""
    file: str | os.PathLike[str] | None = None
    """A file that is touched; where it holds a number, that of the iteration."""
    signal: int | None = None
    slow_step: float | None = None
    """How many times as long as the median of the latest steps one has to take."""


@final
class Trigger:
    """A schedule for torch: nothing, until a window is asked for."""

    def __init__(self, warmup: int, active: int, repeat: int, asking: Asking) -> None:
        """ValueError for counts that are none."""
        if active < 1 or warmup < 0 or repeat < 0 or (asking.slow_step is not None and asking.slow_step <= 1):
            raise ValueError(
                "ks.profile: expected active= of at least 1, slow_step= above 1 and no count below 0, "
                f"found active={active}, warmup={warmup}, repeat={repeat}, slow_step={asking.slow_step}"
            )
        self.active = active
        self._warmup = warmup
        self._left = repeat or None
        self._signal = asking.signal
        self._slow_step = asking.slow_step
        self._file = None if asking.file is None else Path(asking.file)
        self._begins = set(map(index, asking.at))
        self._is_asked = False
        self._window: int | None = None
        self._latest: deque[int] = deque(maxlen=_NUM_STEPS)
        self._changed = 0
        self._looked = 0.0
        self._before: Any = None

    def ask(self, at: int | None = None) -> None:
        """A window from iteration `at` on, or as soon as may be. From any thread, and from a signal's handler.

        TypeError for what is no number of an iteration: here, and not in the loop.
        """
        if at is None:
            self._is_asked = True
        else:
            self._begins.add(index(at))

    def __call__(self, step: int) -> Any:
        """The `ProfilerAction` for an iteration."""
        length = self._warmup + self.active
        if self._window is not None and step >= self._window + length:
            self._window = None
        if self._window is None and self._left != 0 and self._is_due(step):
            self._window = step
            self._left = None if self._left is None else self._left - 1
            self._latest.clear()  # steps that are recorded take longer
        if self._window is None:
            return pytorch.action("NONE")
        place = step - self._window
        if place < self._warmup:
            return pytorch.action("WARMUP")
        return pytorch.action("RECORD" if place < length - 1 else "RECORD_AND_SAVE")

    def _is_due(self, step: int) -> bool:
        due = {begin for begin in self._begins.copy() if begin - self._warmup <= step}
        self._begins -= due
        if not self._is_asked:  # who asks from now on is heard the next time
            return bool(due)
        self._is_asked = False
        return True

    # --- who asks -------------------------------------------------------------------------------------------------

    def listen(self) -> None:
        """From now on. ValueError for a signal that cannot be had, as on another thread than the main one."""
        self._changed = self._last_change()
        if self._signal is not None:
            self._before = signal.signal(self._signal, self._signalled)

    def unlisten(self) -> None:
        """The signal is again what it was, unless somebody has taken it meanwhile, or this is not the main thread.

        There it keeps this handler, which goes on to the one before.
        """
        if self._signal is None or self._before is None or signal.getsignal(self._signal) != self._signalled:
            return
        with suppress(ValueError):
            signal.signal(self._signal, self._before)
            self._before = None

    def _signalled(self, number: int, frame: FrameType | None) -> None:
        self.ask()
        if callable(self._before):
            self._before(number, frame)

    def iteration_ended(self, dur_ns: int) -> None:
        """Looks for the file, now and then, and at how long the iteration took."""
        if self._file is not None and monotonic() - self._looked > _LOOK_S:
            self._looked = monotonic()
            self._look(self._file)
        if self._slow_step is not None and self._window is None:
            if len(self._latest) >= _FEWEST_STEPS and dur_ns > self._slow_step * _median(self._latest):
                self.ask()
            self._latest.append(dur_ns)

    def _look(self, file: Path) -> None:
        changed = self._last_change()
        if changed in {0, self._changed}:
            return
        self._changed = changed
        try:
            said = file.read_text().strip()
        except (OSError, ValueError):
            said = ""
        self.ask(int(said) if said.isdecimal() else None)

    def _last_change(self) -> int:
        """0 where there is no file."""
        try:
            return self._file.stat().st_mtime_ns if self._file else 0
        except OSError:
            return 0


def _median(times: Iterable[int]) -> int:
    ordered = sorted(times)
    return ordered[len(ordered) // 2]
