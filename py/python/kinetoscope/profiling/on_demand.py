"""Recordings that record a window on request: `ks.profile.on_demand`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kinetoscope._base import lazy
from kinetoscope.profiling.results import Results
from kinetoscope.profiling.trigger import Trigger, TriggerOptions


class OnDemand(Results):
    """Requests for windows, and their results."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._trigger: Trigger | None = None

    @classmethod
    def on_demand(  # noqa: PLR0913 - the ways to request a window
        cls,
        dir: str | os.PathLike[str] = "traces",  # noqa: A002 - reads well at the call
        *,
        warmup: int = 1,
        active: int = 3,
        repeat: int = 0,
        at: int | Iterable[int] = (),
        file: str | os.PathLike[str] | None = None,
        signal: int | None = None,
        slow_step: float | None = None,
        **options: Any,
    ) -> lazy.Self:
        """Creates a recording that records a window on request.

        ::

            with ks.profile.on_demand("traces", file="PROFILE", signal=signal.SIGUSR1, slow_step=3) as prof:
                for batch in loader:
                    train_step(batch)
                    prof.step()

        `prof.trigger()` requests a window from another thread or cell.

        Args:
            dir: folder for the files.
            warmup: iterations to warm up before each window.
            active: iterations of each window.
            repeat: maximum number of windows; 0 for no limit.
            at: iterations at which a window starts.
            file: starts a window whenever this file is touched. A number in the file is the first
                iteration, so that all ranks record the same ones: `echo 1200 > PROFILE`.
            signal: starts a window whenever this signal arrives. The previous handler runs, too,
                and is restored at the end. Windows lacks most signals: use `file` there.
            slow_step: starts a window after a step of this multiple of the median duration.
            **options: other parameters of `profile`.

        Raises ValueError for invalid counts, and the errors of `profile`.
        """
        trigger_options = TriggerOptions((at,) if isinstance(at, int) else at, file, signal, slow_step)
        trigger = Trigger(warmup, active, repeat, trigger_options)
        make: Any = cls  # `profile`, whose constructor takes a schedule
        prof = make(dir, schedule=trigger, **options)
        prof._trigger = trigger  # noqa: SLF001 - its own
        return prof

    def trigger(self, at: int | None = None) -> None:
        """Requests a window at iteration `at`, or as soon as possible. Safe on any thread.

        Raises RuntimeError unless the recording was created by `on_demand`.
        """
        if self._trigger is None:
            raise RuntimeError("ks.profile: expected a recording of ks.profile.on_demand, found one with a schedule")
        self._trigger.request(at)
