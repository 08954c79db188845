"""Collection: `torch.profiler.profile` and the Execution Trace observer over the same window.

The one module that knows torch, which it imports when a `profile` is made, and the one place for what differs between
its versions.
"""

from __future__ import annotations

import atexit
import contextlib
import inspect
import json
import os
import shutil
import threading
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Any

from kinetoscope import hints
from kinetoscope.rank import current_rank
from kinetoscope.recording import Recording, RecordingFolder
from kinetoscope.trace import Trace


class profile:  # noqa: N801 - named like torch.profiler.profile, whose place it takes
    """Records PyTorch's two views of a loop, the Kineto trace and the Execution Trace, over the same iterations.

    ::

        with ks.profile("traces", wait=1, warmup=1, active=3) as prof:
            for batch in loader:
                train_step(batch)
                prof.step()
        prof.trace.report("report.html")

    Each window ends as `kineto_trace_<rank>.json.gz` and `torch_et_<rank>.json.gz` in `dir`; the windows after the
    first as `kineto_trace_<rank>.<cycle>.json.gz` and so on, cycles counted from 0. Files appear under these names only
    when they are complete, and a new recording of a rank replaces what an earlier one left in the folder.

    Without `active` and `schedule` the whole block is recorded. `repeat` is 1 by default (torch: 0): a loop of a
    thousand iterations leaves one window, not two hundred; `repeat=0` goes on until the end of the loop.
    A loop that ends early, by `break`, an exception or Ctrl-C, leaves what was recorded until then.

    * `wait`, `warmup`, `active`, `repeat`, `skip_first`: numbers of iterations, as in `torch.profiler.schedule`;
      or `schedule`, a function from the number of the iteration to a `torch.profiler.ProfilerAction`.
    * `activities`, `record_shapes`, `profile_memory`, `with_stack`, `with_flops`, `with_modules`,
      `experimental_config`, `acc_events`: as in `torch.profiler.profile`, but shapes are on.
    * `execution_trace=False` records the Kineto trace alone. Its events then carry no record ids.
    * `on_trace_ready`: called with this object after the files of a window are written.
    * `rank`: by default from torch.distributed, else RANK, SLURM_PROCID or OMPI_COMM_WORLD_RANK, else 0.
    * `compress=False` leaves `.json` files.

    Attributes and methods of torch's profiler that are not here (`key_averages()`, `events()`, `add_metadata_json()` …)
    are passed on to it.

    Raises, and only before the loop: OSError when `dir` cannot be written, ValueError for a schedule that is none,
    RuntimeError while another `profile` of this process is running. An error while recording or writing is a
    RuntimeWarning, and the training goes on; errors of `schedule` and `on_trace_ready` are the caller's and are raised.
    """

    def __init__(  # noqa: PLR0913 - the parameters of torch.profiler.profile and schedule, under their names
        self,
        dir: str | os.PathLike[str],  # noqa: A002 - reads well where it is called
        *,
        wait: int = 0,
        warmup: int = 0,
        active: int | None = None,
        repeat: int = 1,
        skip_first: int = 0,
        schedule: Callable[[int], Any] | None = None,
        activities: Iterable[Any] | None = None,
        record_shapes: bool = True,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config: Any = None,
        acc_events: bool = False,
        execution_trace: bool = True,
        on_trace_ready: Callable[[profile], object] | None = None,
        rank: int | None = None,
        compress: bool = True,
    ) -> None:
        self.dir = Path(dir)
        self.recordings: list[Recording] = []
        self._compress = compress
        self._rank = rank
        self._on_trace_ready = on_trace_ready
        self._observer = _Observer() if execution_trace else None
        self._folder: RecordingFolder | None = None
        self._has_failed = False
        self._callers_error: BaseException | None = None
        self._traces: dict[Path, Trace] = {}
        self._has_started = False
        counts = {"wait": wait, "warmup": warmup, "active": active, "repeat": repeat, "skip_first": skip_first}
        self._profiler: Any = _torch_profile(
            schedule=self._callers(_schedule(schedule, counts)),
            on_trace_ready=self._window_ended,
            execution_trace_observer=self._observer,
            activities=activities,
            record_shapes=record_shapes,
            profile_memory=profile_memory,
            with_stack=with_stack,
            with_flops=with_flops,
            with_modules=with_modules,
            experimental_config=experimental_config,
            acc_events=acc_events,
        )

    # --- the window -----------------------------------------------------------------------------------------------

    def __enter__(self) -> hints.Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        try:
            self.stop()
        except Exception as own:  # the error of the block is the one to see
            if error is None:
                raise
            _warn("ks.profile: on_trace_ready failed", own)

    def start(self) -> None:
        """Begins, as `with` does. The schedule's iteration 0 starts here."""
        _running.claim(self)
        try:
            _refuse_a_second_profiler()
            self._folder = RecordingFolder(self.dir, compress=self._compress, published=self.files)
            if self._observer:
                self._observer.folder = self._folder
            _preset_metadata(self._profiler, rank=self._rank)
            self._profiler.__enter__()
        except BaseException:
            self._release()
            raise
        self._has_started = True
        atexit.register(self.stop)

    def step(self) -> None:
        """Ends an iteration and begins the next. Does nothing after `stop`; RuntimeError before `start`."""
        if self._folder is None:
            if not self._has_started:
                raise RuntimeError("ks.profile: step() before start(); use it in a `with` block or call start()")
            return
        try:
            self._profiler.step()
        except Exception as error:  # noqa: BLE001 - whatever torch raises, the training goes on
            self._failed("recording", error)

    def stop(self) -> None:
        """Ends the recording, as leaving the `with` block does; writes the window that is open. Twice is harmless."""
        if self._folder is None or not _running.is_held_by(self):
            return
        try:
            self._profiler.__exit__(None, None, None)
        except Exception as error:  # noqa: BLE001 - as in step
            self._failed("stopping", error)
        finally:
            self._release()
        if not self.recordings and not self._has_failed:
            step = self._profiler.step_num
            _warn(f"ks.profile: nothing was recorded: the loop ended in iteration {step}, before the window began")

    def _failed(self, doing: str, error: Exception) -> None:
        """Ends the recording. An error of the caller's own functions is raised again; any other is a warning."""
        self._release()
        if error is self._callers_error:
            self._callers_error = None
            raise error
        self._has_failed = True
        _warn(f"ks.profile: {doing} failed, the recording has ended", error)

    def _release(self) -> None:
        """Back to where another profile can start: observer unregistered, unfinished files gone. Never raises."""
        atexit.unregister(self.stop)
        if self._folder:  # else the profiler that runs, if any, is not ours
            with contextlib.suppress(Exception):
                _stop_torch(self._profiler)
            self._folder.close()
            self._folder = None
        if self._observer:
            self._observer.cleanup()
        _running.release(self)

    def _callers(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Marks what the caller's function raises, so that it is told from what torch or we raise."""

        def call(*arguments: Any) -> Any:
            try:
                return function(*arguments)
            except BaseException as error:
                self._callers_error = error
                raise

        return call

    # --- what was recorded ----------------------------------------------------------------------------------------

    def _window_ended(self, _profiler: object) -> None:
        if self._folder is None:
            return
        try:
            self.recordings.append(self._write(self._folder))
        except Exception as error:  # noqa: BLE001 - whatever it is, the training goes on
            self._has_failed = True
            _warn(f"ks.profile: the recording could not be written to {self.dir}", error)
            return
        if self._on_trace_ready:
            self._callers(self._on_trace_ready)(self)

    def _write(self, folder: RecordingFolder) -> Recording:
        kineto = folder.temporary("kineto.json")
        self._profiler.export_chrome_trace(str(kineto))
        execution = self._observer.take() if self._observer else None
        rank = current_rank() if self._rank is None else self._rank
        return folder.publish(kineto, execution, rank=rank, cycle=len(self.recordings))

    @property
    def files(self) -> list[Path]:
        """The files written so far, in the order of their windows."""
        return [path for recording in self.recordings for path in (recording.kineto, recording.execution) if path]

    @property
    def trace(self) -> Trace:
        """The last window, both traces linked. Read at first use. RuntimeError when there is none."""
        if not self.recordings:
            raise RuntimeError("ks.profile: no window has been recorded yet, so there is no trace to read")
        return self._read(self.recordings[-1])

    @property
    def traces(self) -> list[Trace]:
        """All windows, in order. Each is read at first use."""
        return [self._read(recording) for recording in self.recordings]

    def _read(self, recording: Recording) -> Trace:
        from kinetoscope.read import read

        if recording.kineto not in self._traces:
            self._traces[recording.kineto] = read(recording.kineto, recording.execution)
        return self._traces[recording.kineto]

    def export_chrome_trace(self, path: str, **options: Any) -> None:
        """Writes the Kineto trace of the last window to `path`, compressed when that ends in `.gz`.

        Here because torch can save a window only once, and that has happened by the time anyone can ask; with options
        (`use_python_export` …) torch writes it another way, and is left to do so.
        """
        if any(options.values()):
            self._profiler.export_chrome_trace(path, **options)
            return
        if not self.recordings:
            raise RuntimeError("ks.profile: no window has been recorded yet, so there is no trace to export")
        _copy_as(self.recordings[-1].kineto, Path(path))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._profiler, name)

    def __repr__(self) -> str:
        state = "running" if self._folder else "stopped"
        return f"<kinetoscope.profile of {str(self.dir)!r}: {state}, {len(self.recordings)} recorded>"


# --- one at a time ------------------------------------------------------------------------------------------------


class _Guard:
    """Torch has one profiler and one observer in a process. A forked child is a process of its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holder: tuple[int, profile] | None = None

    def claim(self, asking: profile) -> None:
        with self._lock:
            if self._holder and self._holder[0] == os.getpid():
                running = self._holder[1]
                raise RuntimeError(
                    f"ks.profile: expected no other recording in this process, found {running!r}; stop that one first"
                )
            self._holder = (os.getpid(), asking)

    def is_held_by(self, asking: profile) -> bool:
        return self._holder == (os.getpid(), asking)

    def release(self, asking: profile) -> None:
        with self._lock:
            if self.is_held_by(asking):
                self._holder = None


_running = _Guard()


def _warn(message: str, error: BaseException | None = None) -> None:
    text = f"{message}: {type(error).__name__}: {error}" if error else message
    warnings.warn(text, RuntimeWarning, stacklevel=3)


def _copy_as(source: Path, target: Path) -> None:
    import gzip

    def opened(path: Path, mode: str) -> Any:
        return gzip.open(path, mode) if path.suffix == ".gz" else path.open(mode)

    with opened(source, "rb") as content, opened(target, "wb") as out:
        shutil.copyfileobj(content, out)


# --- torch --------------------------------------------------------------------------------------------------------


class _Observer:
    """What torch's profiler starts and stops together with itself: a new Execution Trace file for each window."""

    def __init__(self) -> None:
        self.folder: RecordingFolder | None = None
        self._torch: Any = None
        self._path: Path | None = None

    def start(self) -> None:
        from torch.profiler import ExecutionTraceObserver

        if self.folder is None:
            return
        self._path = self.folder.temporary("et.json")
        self._torch = ExecutionTraceObserver()
        self._torch.register_callback(str(self._path))
        if not self._path.exists():  # torch says that it has registered; the file tells whether it has
            _warn("ks.profile: no Execution Trace: another ExecutionTraceObserver is registered in this process")
            self._torch._registered = False  # noqa: SLF001 - or it takes the other one away when it is deleted
            self._torch = self._path = None
            return
        self._torch.start()

    def stop(self) -> None:
        """Unregistered with every window: that is what completes the file."""
        observer, self._torch = self._torch, None
        if observer is not None:
            observer.unregister_callback()

    def take(self) -> Path | None:
        """The finished file of the window that ended, handed over."""
        path, self._path = self._path, None
        return path if path is not None and path.exists() else None

    def cleanup(self) -> None:
        try:
            self.stop()
        except Exception as error:  # noqa: BLE001 - whatever it is, the training goes on
            _warn("ks.profile: the Execution Trace could not be finished", error)

    unregister_callback = cleanup  # what torch 2.1 calls where later versions call cleanup


def _torch_profiler() -> Any:
    """The module torch.profiler. ImportError, with what to do, where there is none."""
    try:
        from torch import profiler
    except ImportError as error:
        raise ImportError("ks.profile: expected PyTorch, found none: pip install torch") from error
    return profiler


def _schedule(given: Callable[[int], Any] | None, counts: dict[str, int | None]) -> Callable[[int], Any]:
    """A schedule for torch: the one given, the one that the counts make, or the whole block."""
    profiler = _torch_profiler()
    wanted = {name: value for name, value in counts.items() if value and name != "repeat"}
    if given is not None:
        if wanted:
            raise ValueError(f"ks.profile: expected schedule= or counts of iterations, found both: {wanted}")
        return given
    if counts["active"] is None and not wanted:
        # not None, which would leave the iterations without their annotations
        return lambda _: profiler.ProfilerAction.RECORD
    if not counts["active"] or any(value is None or value < 0 for value in counts.values()):
        raise ValueError(f"ks.profile: expected active= of at least 1 and no count below 0, found {counts}")
    return profiler.schedule(**counts)


def _torch_profile(**options: Any) -> Any:
    """torch.profiler.profile, without the options that this version does not know, as long as they are off."""
    profiler = _torch_profiler()
    known = inspect.signature(profiler.profile.__init__).parameters
    unknown = {name: value for name, value in options.items() if name not in known}
    if wanted := [name for name, value in unknown.items() if value]:
        raise ValueError(f"ks.profile: this version of torch has no {', '.join(wanted)}")
    return profiler.profile(**{name: value for name, value in options.items() if name in known})


def _refuse_a_second_profiler() -> None:
    """Torch would cancel the one that is running, and say so only on the standard error."""
    if _is_profiling():
        raise RuntimeError("ks.profile: expected no running profiler, found one of torch; stop that one first")


def _is_profiling() -> bool:
    from torch import autograd

    ask: Any = getattr(autograd, "_profiler_enabled", None)  # torch has no public way to ask
    return ask is not None and bool(ask())


def _preset_metadata(profiler: Any, *, rank: int | None) -> None:
    """Where the file came from, in its own header: a rank outside torch.distributed is nowhere else but in the name."""
    import torch

    from kinetoscope._native import __version__

    origin = {"version": __version__, "torch": torch.__version__, "rank": current_rank() if rank is None else rank}
    if hasattr(profiler, "preset_metadata_json"):
        profiler.preset_metadata_json("kinetoscope", json.dumps(origin))


def _stop_torch(profiler: Any) -> None:
    """Stops a torch profiler that an error left running; one that is stopped already raises, or does nothing."""
    if annotation := getattr(profiler, "step_rec_fn", None):
        profiler.step_rec_fn = None
        annotation.__exit__(None, None, None)
    inner = getattr(profiler, "profiler", None)
    if inner is not None and _is_profiling():
        inner.__exit__(None, None, None)
