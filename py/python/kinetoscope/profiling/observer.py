"""The Execution Trace of a window: what torch's profiler starts and stops together with itself."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, final

from kinetoscope._base.warnings import warn
from kinetoscope.profiling import pytorch
from kinetoscope.profiling.folder import RecordingFolder

_ANOTHER = "another ExecutionTraceObserver is registered in this process"


@final
class Observer:
    """A new file for each window, and an observer of torch's for each file: unregistering is what completes it."""

    def __init__(self) -> None:
        self._folder: RecordingFolder | None = None
        self._torch: Any = None
        self._path: Path | None = None

    def open(self, folder: RecordingFolder) -> None:
        """Windows are written here from now on. RuntimeError when this process has another observer."""
        probe = folder.temporary("probe.json")
        observer = pytorch.register_observer(probe)
        if observer is None:
            raise RuntimeError(
                f"ks.profile: expected no other observer, found that {_ANOTHER}; unregister that one first, "
                "or record without (execution_trace=False)"
            )
        observer.unregister_callback()
        probe.unlink(missing_ok=True)
        self._folder = folder

    def start(self) -> None:
        """A window begins."""
        if self._folder is None:
            return
        self._path = self._folder.temporary("et.json")
        self._torch = pytorch.register_observer(self._path)
        if self._torch is None:
            self._path = None
            warn(f"ks.profile: no Execution Trace: {_ANOTHER}")
            return
        _STARTED.append(self)
        pytorch.start_observer(self._torch)

    def stop(self) -> None:
        """The window ends."""
        observer, self._torch = self._torch, None
        if observer is not None:
            _STARTED.clear()
            observer.unregister_callback()

    def leave(self) -> None:
        """The window goes on in the process that has forked this one."""
        observer, self._torch = self._torch, None
        if observer is not None:
            pytorch.leave_observer(observer)

    @property
    def num_bytes(self) -> int:
        """How much of the open window's file is written."""
        return self._path.stat().st_size if self._torch is not None and self._path is not None else 0

    def take(self) -> Path | None:
        """The finished file of the window that ended, handed over."""
        path, self._path = self._path, None
        return path if path is not None and path.exists() else None

    def cleanup(self) -> None:
        """Whatever happened, no observer is left. Never raises."""
        try:
            self.stop()
        except Exception as error:  # noqa: BLE001 - whatever it is, the training goes on
            warn(f"ks.profile: the Execution Trace could not be finished: {type(error).__name__}: {error}")

    unregister_callback = cleanup  # what torch 2.1 calls where later versions call cleanup


_STARTED: list[Observer] = []
"""The one whose window is open, if any."""


def _leave_all() -> None:
    """A worker of a DataLoader would write what it does into the file of the process that it was forked from."""
    while _STARTED:
        _STARTED.pop().leave()


if hasattr(os, "register_at_fork"):  # Windows forks nothing
    os.register_at_fork(after_in_child=_leave_all)
