"""Marks windows and iterations for Nsight Systems, which records them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

from kinetoscope.profiling import pytorch

NSYS = "KINETOSCOPE_NSYS"
"""Environment variable that `kinetoscope nsys` sets; recordings then act as with `nsys=True`."""


@final
class Marks:
    """Replaces torch's profiler while Nsight Systems records: only one of them can use CUPTI.

    Windows start and end as in torch's profiler. Raises RuntimeError without CUDA.
    """

    def __init__(self, schedule: Callable[[int], Any], on_trace_ready: Callable[[Marks], object]) -> None:
        self._cuda = pytorch.cuda_marks()
        self._schedule = schedule
        self._on_trace_ready = on_trace_ready
        self.step_num = 0
        self.current_action = schedule(0)
        self._is_open = False
        self._is_iterating = False

    def __enter__(self) -> Marks:
        if pytorch.is_recording(self):
            self._open()
        self._begin_iteration()
        return self

    def step(self) -> None:
        """Ends an iteration and starts the next."""
        self._end_iteration()
        self.step_num += 1
        self._switch(self._schedule(self.step_num))
        self._begin_iteration()

    def __exit__(self, *_: object) -> None:
        self._end_iteration()
        self._switch(None)

    def halt(self) -> None:
        """Closes an open iteration and window after an error."""
        self._end_iteration()
        self._close()

    def _begin_iteration(self) -> None:
        self._cuda.push(f"ProfilerStep#{self.step_num}")
        self._is_iterating = True

    def _end_iteration(self) -> None:
        if self._is_iterating:
            self._is_iterating = False
            self._cuda.pop()

    def _open(self) -> None:
        self._cuda.start()
        self._is_open = True

    def _close(self) -> None:
        if self._is_open:
            self._is_open = False
            self._cuda.stop()

    def _switch(self, action: Any) -> None:
        """Ends the window after an action that saves, or before one that does not record."""
        before, was_recording = self.current_action, pytorch.is_recording(self)
        self.current_action = pytorch.action("NONE") if action is None else action
        goes_on = pytorch.is_recording(self)
        is_saved = before.name == "RECORD_AND_SAVE"
        if was_recording and (is_saved or not goes_on):
            self._close()
            if is_saved or action is None:
                self._on_trace_ready(self)
        if goes_on and (is_saved or not was_recording):
            self._open()
