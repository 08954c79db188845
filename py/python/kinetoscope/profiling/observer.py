"""Records Execution Traces: torch's profiler starts and stops the observer with each window."""

from __future__ import annotations

from pathlib import Path
from typing import Any, final

from kinetoscope._base.system import after_fork_in_child
from kinetoscope._base.warnings import warn
from kinetoscope.profiling import pytorch
from kinetoscope.profiling.folder import RecordingFolder, sources_name
from kinetoscope.profiling.quiet import without_warnings

_ANOTHER = "another ExecutionTraceObserver registered in this process"


@final
class Observer:
    """Writes one file per window with its own torch observer. Unregistering completes the file."""

    def __init__(self) -> None:
        self._folder: RecordingFolder | None = None
        self._torch: Any = None
        self._path: Path | None = None

    def open(self, folder: RecordingFolder) -> None:
        """Sets the folder for windows. Raises RuntimeError if this process has another observer."""
        probe = folder.temporary("probe.json")
        observer = pytorch.register_observer(probe)
        if observer is None:
            raise RuntimeError(
                f"ks.profile: expected no other observer, found {_ANOTHER}: unregister it first, "
                "or pass execution_trace=False"
            )
        observer.unregister_callback()
        probe.unlink(missing_ok=True)
        self._folder = folder

    def start(self) -> None:
        """Starts a window."""
        if self._folder is None:
            return
        self._path = self._folder.temporary("et.json")
        self._torch = pytorch.register_observer(self._path)
        if self._torch is None:
            self._path = None
            warn(f"ks.profile: expected no other observer, found {_ANOTHER}: no Execution Trace was recorded")
            return
        _STARTED.append(self)
        if pytorch.saves_tensor_data():
            _resources(self._path).mkdir()
        with without_warnings():
            self._torch.start()

    def stop(self) -> None:
        """Ends the window."""
        observer, self._torch = self._torch, None
        if observer is not None:
            _STARTED.clear()
            with without_warnings():
                observer.unregister_callback()

    def leave(self) -> None:
        """Stops writing in a forked child. The window continues in the parent."""
        observer, self._torch = self._torch, None
        if observer is not None:
            with without_warnings():
                pytorch.leave_observer(observer)

    @property
    def is_running(self) -> bool:
        """Whether the current iteration is observed."""
        return self._torch is not None

    @property
    def num_bytes(self) -> int:
        """Size of the open window's file, in bytes."""
        return self._path.stat().st_size if self._torch is not None and self._path is not None else 0

    def take(self) -> tuple[Path, list[Path]] | None:
        """Returns the file of the last window and its resources, once; None without a file."""
        path, self._path = self._path, None
        if path is None or not path.exists():
            return None
        resources = _resources(path)
        return path, sorted(resources.iterdir()) if resources.is_dir() else []

    def cleanup(self) -> None:
        """Unregisters the observer. Never raises."""
        try:
            self.stop()
        except Exception as error:  # noqa: BLE001 - the training must continue
            warn(f"ks.profile: the Execution Trace could not be finished: {type(error).__name__}: {error}")


def is_wanted(execution_trace: object) -> bool:
    """Raises ValueError for a word that is none of the options."""
    if execution_trace not in (True, False, "same"):
        raise ValueError(f'ks.profile: expected execution_trace= True, False or "same", found {execution_trace!r}')
    return bool(execution_trace)


def _resources(execution: Path) -> Path:
    """Returns the folder in which torch writes tensors, if it exists."""
    return execution.with_name(sources_name(execution.name))


_STARTED: list[Observer] = []
"""The observer with an open window, if any."""


def _leave_all() -> None:
    """Detaches a forked DataLoader worker, which would write into the file of its parent."""
    while _STARTED:
        _STARTED.pop().leave()


after_fork_in_child(_leave_all)
