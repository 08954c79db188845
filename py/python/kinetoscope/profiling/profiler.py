"""`ks.profile`, on the thread of the training loop."""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from time import perf_counter_ns
from types import TracebackType
from typing import Any, Literal

from kinetoscope._base import lazy
from kinetoscope._base.warnings import warn
from kinetoscope._native import __version__
from kinetoscope.profiling import pytorch
from kinetoscope.profiling.folder import Finished, RecordingFolder
from kinetoscope.profiling.guard import RUNNING
from kinetoscope.profiling.interrupts import Interrupts
from kinetoscope.profiling.limits import Limits, Size
from kinetoscope.profiling.marks import NSYS, Marks
from kinetoscope.profiling.observer import Observer, is_wanted
from kinetoscope.profiling.on_demand import OnDemand
from kinetoscope.profiling.overhead import Meter, Overhead
from kinetoscope.profiling.plan import Plan, valid_function
from kinetoscope.profiling.rank import Ranks, current_rank, is_among, valid_rank
from kinetoscope.profiling.sampling import Sampling
from kinetoscope.profiling.steps import Loops
from kinetoscope.profiling.stub import is_stub

_UNRECORDED = "kinetoscope_unrecorded_ns"
"""In the header of a window, the median duration of iterations without a recording."""


class _Stopped(Exception):  # noqa: N818 - not an error
    """Raised if `on_trace_ready` stops the recording: torch must not start another window."""


class profile(Loops, OnDemand):  # noqa: N801 - a drop-in replacement for torch.profiler.profile
    """Records the Kineto trace and the Execution Trace of the same iterations.

    ::

        with ks.profile("traces", wait=1, warmup=1, active=3) as prof:
            for batch in loader:
                train_step(batch)
                prof.step()
        prof.trace.report("report.html")

    `async with` works in coroutines.

    **Files.** Each window becomes `kineto_trace_<rank>.json.gz` and `torch_et_<rank>.json.gz` in
    `dir`. Later windows have a number, as in `kineto_trace_<rank>.<cycle>.json.gz`; the second
    window is cycle 1. `torch_et_<rank>.json_resources` has the sources of Triton and Inductor
    kernels. Files get these names only when they are complete. A new recording of a rank replaces
    its earlier files. Another thread compresses and checks the files. `stop`, `files` and `trace`
    wait for this thread.

    **Observed iteration.** The observer of the Execution Trace makes operators up to 15 times
    slower. So it runs in one iteration, before the `active` ones. Results leave out its times. Its
    nodes also stand for the operators of the others. A window of one iteration is observed whole.

    **Windows.** Without `active` and `schedule`, one window covers the whole block. `repeat` is 1
    by default (torch: 0), so a loop of a thousand iterations leaves one window. `repeat=0` records
    windows until the end of the loop. A loop that ends early, by `break`, an exception or Ctrl-C,
    keeps the data recorded so far.

    Args:
        dir: folder for the files.
        wait: see `torch.profiler.schedule`, in iterations; as `warmup`, `active`, `repeat`,
            `skip_first` and `skip_first_wait`.
        schedule: a function from iteration number to `torch.profiler.ProfilerAction`, instead of
            these counts.
        activities: see `torch.profiler.profile`; as `record_shapes`, `profile_memory`,
            `with_stack`, `with_flops`, `with_modules`, `experimental_config`, `acc_events`,
            `custom_trace_id_callback` and `post_processing_timeout_s`. Unlike in torch, shapes and
            CUDA synchronization events (`enable_cuda_sync_events`) are recorded by default.
        execution_trace: True records the Execution Trace of one iteration per window: the last one
            of the warm-up, or without warm-up a further first one. `"same"` records it in all
            iterations of the window, whose host times are then too long. False records only the
            Kineto trace, and its events have no record ids.
        execution_trace_observer: an observer that torch starts and stops with each window. It
            writes its own file, and no `torch_et_<rank>` is written. Also torch's observer for
            `ENABLE_PYTORCH_EXECUTION_TRACE=1`.
        use_cuda: deprecated, as in earlier versions of torch.
        on_trace_ready: called with this object at the end of each window.
        ranks: ranks to record, such as `[0, 8]`, or a predicate. On other ranks, this object does
            nothing.
        rank: rank of this process. Defaults to that of torch.distributed, else of torchrun, SLURM
            or MPI, else 0.
        max_bytes: maximum size of all Kineto traces, uncompressed. The recording ends after the
            iteration that reaches a limit.
        max_events: maximum number of events, estimated from the Execution Trace.
        max_iterations: maximum number of recorded iterations, without those for the observer.
        metrics: True samples GPUs (nvidia-ml-py or amdsmi) and the host (psutil) every 0.1 seconds
            into `metrics_<rank>.jsonl`; a number is the interval in seconds. The samples become
            counters of the traces and `energy`.
        nsys: True records nothing, but marks windows (`cudaProfilerStart`) and iterations (NVTX)
            for `nsys profile --capture-range=cudaProfilerApi`. `kinetoscope nsys` enables it.
        check: False skips the check of each written window, which warns about missing data.
        compress: False writes `.json` files.

    Other attributes and methods, such as `step_num`, are those of torch's profiler.

    **Threads.** A window belongs to the thread that started it. On another thread, `step` does
    nothing, and `stop` takes effect at the next `step` of the owner.

    **Errors.** Only the constructor and `start` raise the errors below. Later failures to record or
    write are RuntimeWarnings, so that the training continues. Errors of `schedule` and
    `on_trace_ready` are raised unchanged.

    Raises:
        OSError: `dir` cannot be written.
        ValueError: the schedule or a limit is invalid.
        RuntimeError: this process has another running `profile`, torch profiler or observer.
        ImportError: torch is missing.
    """

    def __init__(  # noqa: PLR0913 - the parameters of torch.profiler.profile and schedule, under their names
        self,
        dir: str | os.PathLike[str] = "traces",  # noqa: A002 - reads well at the call
        *,
        wait: int = 0,
        warmup: int = 0,
        active: int | None = None,
        repeat: int = 1,
        skip_first: int = 0,
        skip_first_wait: int = 0,
        schedule: Callable[[int], Any] | None = None,
        activities: Iterable[Any] | None = None,
        record_shapes: bool = True,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config: Any = None,
        acc_events: bool = False,
        custom_trace_id_callback: Callable[[], str] | None = None,
        post_processing_timeout_s: float | None = None,
        execution_trace: bool | Literal["same"] = True,
        execution_trace_observer: Any = None,
        use_cuda: bool | None = None,
        on_trace_ready: Callable[[profile], object] | None = None,
        ranks: Ranks = None,
        rank: int | None = None,
        max_bytes: int | None = None,
        max_events: int | None = None,
        max_iterations: int | None = None,
        metrics: bool | float = False,
        nsys: bool = False,
        check: bool = True,
        compress: bool = True,
    ) -> None:
        super().__init__(Path(dir).absolute())  # the loop may change the working folder
        self._interrupts = Interrupts()
        self._compress = compress
        self._sampling = Sampling(metrics)
        self._check = check
        self._ranks = ranks
        self._rank = valid_rank(rank)
        self._on_trace_ready = valid_function(on_trace_ready, "on_trace_ready")
        self._is_marking = nsys or bool(os.environ.get(NSYS))
        has_other = execution_trace_observer is not None or pytorch.observes_itself() or self._is_marking
        self._observer = Observer() if is_wanted(execution_trace) and not has_other else None
        self._folder: RecordingFolder | None = None
        self._num_windows = self._num_before = self._since_ns = 0
        self._handler_error: BaseException | None = None
        self._thread = threading.current_thread()
        self._has_started = self._is_in_callback = self._is_over = False
        self._warned: set[str] = set()
        self._meter = Meter()
        counts = {"wait": wait, "warmup": warmup, "active": active, "repeat": repeat, "skip_first": skip_first}
        counts["skip_first_wait"] = skip_first_wait
        self._plan = Plan(schedule, counts, None if execution_trace == "same" else self._observer, self._meter)
        activities = pytorch.with_cuda(activities, use_cuda)
        if self._is_marking:
            self._profiler: Any = Marks(self._plan, self._window_ended)
            self._halt: Callable[[], None] = self._profiler.halt
        else:
            self._profiler = pytorch.make_profile(
                schedule=self._plan,
                on_trace_ready=self._window_ended,
                execution_trace_observer=self._observer or execution_trace_observer,
                activities=activities,
                record_shapes=record_shapes,
                profile_memory=profile_memory,
                with_stack=with_stack,
                with_flops=with_flops,
                with_modules=with_modules,
                experimental_config=pytorch.with_sync_events(experimental_config, activities),
                acc_events=acc_events,
                custom_trace_id_callback=custom_trace_id_callback,
                post_processing_timeout_s=post_processing_timeout_s,
            )
            self._halt = partial(pytorch.stop, self._profiler)
        recorded = {"with_stack": with_stack, "profile_memory": profile_memory, "record_shapes": record_shapes}
        limits = Limits(max_bytes, max_events, max_iterations)
        self._size = Size(limits, recorded | {"device": pytorch.has_device()}, self._plan.active)

    # --- the window -------------------------------------------------------------------------------

    def __enter__(self) -> lazy.Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        try:
            self.stop()
        except Exception as own:  # the error of the block takes precedence
            if error is None:
                raise
            warn(f"ks.profile: on_trace_ready failed: {type(own).__name__}: {own}")

    def start(self) -> None:
        """Starts the recording, as `with` does. Raises the errors of `profile`.

        After `stop`, goes on with the iterations of the schedule, as torch does.
        """
        RUNNING.claim(self)
        try:
            self._has_started, self._num_before = True, self._num_windows
            if self._is_recorded:
                self._start()
            else:
                RUNNING.release(self)
        except BaseException:
            self._release()
            self._writer.wait()
            self._has_started = False
            raise

    @property
    def _is_recorded(self) -> bool:
        return is_among(self._own_rank, self._ranks)

    @property
    def _own_rank(self) -> int:
        return current_rank() if self._rank is None else self._rank

    def _start(self) -> None:
        pytorch.refuse_second_profiler()
        self._folder = RecordingFolder(self.dir, compress=self._compress, published=self._published)
        if self._observer:
            self._observer.open(self._folder)
        # outside torch.distributed, the file has no other record of its rank
        origin = {"version": __version__, "torch": pytorch.version(), "rank": self._own_rank}
        pytorch.preset_metadata(self._profiler, "kinetoscope", origin)
        if self._trigger:
            self._trigger.listen()
        self._is_over = False
        with self._meter("torch"):
            self._profiler.__enter__()
        self._thread = threading.current_thread()
        atexit.register(self._stop)  # in case no thread calls stop()
        self._sampling.start(self._folder, self._own_rank, self._profiler.step_num)
        self._since_ns = perf_counter_ns()

    def _stop_sampling(self, folder: RecordingFolder) -> None:
        if (sampled := self._sampling.stop(self._profiler.step_num + 1)) is None:
            return
        (path, energy), rank = sampled, self._own_rank
        self._energy += energy

        def publish() -> None:
            if self._written or self._is_marking:  # else an earlier recording would get them
                self._metrics = folder.publish_metrics(path, rank)
                self._traces.clear()  # traces read before have no metrics

        self._writer.begin(publish, f"metrics could not be written to {self.dir}")

    def step(self) -> None:
        """Ends an iteration and starts the next.

        Does nothing after `stop` or in a forked child. Raises RuntimeError before `start`.
        """
        if not self._is_running:
            if not self._has_started:
                raise RuntimeError(
                    "ks.profile: expected start() before step(), found none: use a `with` block or call start()"
                )
            return
        if self._is_elsewhere:
            self._warn_other_thread("step() has no effect here")
            return
        if self._is_over:
            self.stop()
            return
        may_save = self._size.is_limited or pytorch.ends_window(self._profiler)
        with self._interrupts.delayed() if may_save else contextlib.nullcontext(), self._meter("own"):
            try:
                self._iteration_ended(perf_counter_ns() - self._since_ns)
                with self._meter("torch"):
                    self._profiler.step()
                self._thread = threading.current_thread()
                self._sampling.iteration_began(self._profiler.step_num)
            except _Stopped:
                self._release()
            except Exception as error:  # noqa: BLE001 - the training must continue
                self._failed("recording", error)
            self._warn_problems()
            self._raise_handler_error()
        self._since_ns = perf_counter_ns()

    def _iteration_ended(self, dur_ns: int) -> None:
        if self._trigger:
            self._trigger.iteration_ended(dur_ns)
        if not pytorch.is_recording(self._profiler):
            self._meter.iteration("waiting", dur_ns)
            return
        is_observed = self._observer is not None and self._observer.is_running
        self._meter.iteration("observed" if is_observed else "recording", dur_ns)
        if is_observed and self._plan.is_observing:
            self._observed_step = self._profiler.step_num
        if is_observed and (waiting_ns := self._meter.overhead.waiting_ns):
            pytorch.add_metadata(self._profiler, _UNRECORDED, waiting_ns)
        self._limit(self._observer.num_bytes if self._observer and is_observed else None)

    def _limit(self, execution_bytes: int | None) -> None:
        """Ends the recording if the last iteration reached a limit."""
        is_counted = execution_bytes is None or not self._plan.is_observing
        if reached := self._size.iteration_recorded(execution_bytes, is_counted=is_counted):
            self._plan.end()
            pytorch.end_window(self._profiler)
            warn(f"ks.profile: the recording ended: {reached}")
        elif advice := self._size.advice():
            warn(f"ks.profile: {advice}")

    def stop(self) -> None:
        """Ends the recording and writes the open window.

        Does nothing if the recording has ended.
        """
        if self._is_in_callback:
            self._is_over = True
        elif self._is_running and self._is_elsewhere and self._thread.is_alive():
            self._is_over = True
            self._warn_other_thread("the recording ends at its next step()")
        else:
            self._stop()

    @property
    def _is_running(self) -> bool:
        return self._folder is not None and RUNNING.is_held_by(self)

    @property
    def _is_elsewhere(self) -> bool:
        """Whether another thread owns the open window. Torch cannot end it on this thread."""
        is_others = self._thread is not threading.current_thread() and not self._is_marking
        return is_others and pytorch.is_recording(self._profiler) and not pytorch.is_profiling()

    def _warn_other_thread(self, consequence: str) -> None:
        if consequence not in self._warned:
            self._warned.add(consequence)
            warn(f"ks.profile: the open window belongs to the thread {self._thread.name}: {consequence}")

    def _stop(self) -> None:
        is_running = self._is_running
        lacks_step = is_running and self._lacks_step
        with self._interrupts.delayed():
            try:
                if is_running:
                    self._end()
            finally:
                self._writer.wait()
                self._warn_problems()
        if not is_running:
            return
        if lacks_step:
            warn("ks.profile: the loop ended without prof.step(): call it at the end of each iteration")
        elif self._num_windows == self._num_before and not self._has_failed and not self._trigger:
            step = self._profiler.step_num
            when = (
                "after the last window: create a profile for each loop"
                if self._num_windows
                else "before the window started"
            )
            warn(f"ks.profile: nothing was recorded: the loop ended in iteration {step}, {when}")

    def _end(self) -> None:
        with self._meter("own"):
            try:
                if self._is_elsewhere:
                    self._refuse_other_thread()
                with self._meter("torch"):
                    pytorch.finish(self._profiler)
            except _Stopped:
                pass
            except Exception as error:  # noqa: BLE001 - as in step()
                self._failed("stopping", error)
            finally:
                self._release()
            self._raise_handler_error()

    def _refuse_other_thread(self) -> None:
        """Raises RuntimeError, because torch would crash."""
        raise RuntimeError(f"the open window belongs to the thread {self._thread.name}")

    def _failed(self, activity: str, error: Exception) -> None:
        """Raises errors of the caller's schedule. For others, ends the recording and warns."""
        if error is self._plan.error:
            raise error
        self._release()
        self._has_failed = True
        warn(f"ks.profile: {activity} failed, the recording ended: {type(error).__name__}: {error}")

    def _release(self) -> None:
        """Unregisters the observer, removes temporary files and releases the lock. Never raises."""
        atexit.unregister(self._stop)
        if self._trigger:
            self._trigger.unlisten()
        folder, self._folder = self._folder, None
        if folder:  # else the running profiler belongs to others
            with contextlib.suppress(Exception):
                self._halt()
            self._stop_sampling(folder)
            self._writer.begin(folder.close, "temporary files could not be removed")
        if self._observer:
            self._observer.cleanup()
        RUNNING.release(self)

    # --- files ------------------------------------------------------------------------------------

    def _window_ended(self, _profiler: object) -> None:
        if self._folder is None:
            return
        with self._meter("own"):
            if not self._is_marking and not self._finish(self._folder):
                return
            self._num_windows += 1
            if self._on_trace_ready:
                self._call_back(self._on_trace_ready)

    def _call_back(self, on_trace_ready: Callable[[profile], object]) -> None:
        self._is_in_callback = True
        try:
            with self._meter("caller"), self._interrupts.allowed():
                on_trace_ready(self)
        except BaseException as error:  # noqa: BLE001 - raised once torch has started the next window
            self._handler_error = error
        finally:
            self._is_in_callback = False
        if self._is_over:
            raise _Stopped

    def _raise_handler_error(self) -> None:
        error, self._handler_error = self._handler_error, None
        if error is not None:
            raise error

    def _finish(self, folder: RecordingFolder) -> bool:
        """Queues the last window for the writer.

        Warns and returns False if torch cannot save it.
        """
        failed = f"the recording could not be written to {self.dir}"
        try:
            window = self._saved(folder)
        except Exception as error:  # noqa: BLE001 - the training must continue
            self._has_failed = True
            warn(f"ks.profile: {failed}: {type(error).__name__}: {error}")
            return False
        if window:
            self._writer.begin(partial(self._publish, folder, window, self._own_rank, self._num_windows), failed)
        return window is not None

    def _saved(self, folder: RecordingFolder) -> Finished | None:
        """Saves the last window of torch as temporary files. Returns None if nothing ran in it."""
        kineto = folder.temporary("kineto.json")
        with self._meter("torch"):
            pytorch.save(self._profiler, kineto)
        began_at_end = self._size.is_first_iteration and self._profiler.step_num
        if began_at_end and is_stub(kineto):
            return None
        if self._observer is None or (taken := self._observer.take()) is None:
            execution, resources = None, []
        else:
            execution, resources = taken[0], [*pytorch.kernel_sources(), *taken[1]]
        self._size.window_written(kineto.stat().st_size, execution.stat().st_size if execution else 0)
        return Finished(kineto, execution, resources)

    @property
    def has_missed(self) -> bool:
        """Whether this rank was to be recorded, not only on request, and no window was."""
        return self._is_recorded and not (self._is_marking or self._trigger or self.recordings)

    @property
    def overhead(self) -> Overhead:
        """Cost of the recording so far."""
        return self._meter.overhead

    def __repr__(self) -> str:
        state = f"running, iteration {self._profiler.step_num}" if self._folder else "stopped"
        return f"<kinetoscope.profile of {str(self.dir)!r}: {state}, {self._num_windows} recorded>"
