"""`ks.profile`: the loop's side of a recording."""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
from collections.abc import Callable, Generator, Iterable
from functools import partial
from pathlib import Path
from time import perf_counter_ns
from types import TracebackType
from typing import Any, TypeVar

from kinetoscope._base import lazy
from kinetoscope._base.warnings import warn
from kinetoscope._native import __version__
from kinetoscope.profiling import pytorch
from kinetoscope.profiling.check import flaws
from kinetoscope.profiling.folder import Finished, RecordingFolder
from kinetoscope.profiling.guard import RUNNING
from kinetoscope.profiling.limits import Limits, Size
from kinetoscope.profiling.marks import NSYS, Marks
from kinetoscope.profiling.observer import Observer
from kinetoscope.profiling.overhead import Meter, Overhead
from kinetoscope.profiling.plan import Plan
from kinetoscope.profiling.rank import Ranks, current_rank, is_among
from kinetoscope.profiling.results import Results
from kinetoscope.profiling.sampling import Sampling
from kinetoscope.profiling.trigger import Asking, Trigger
from kinetoscope.profiling.writer import Trouble

_Batch = TypeVar("_Batch")


class _Ended(Exception):  # noqa: N818 - nothing went wrong
    """`on_trace_ready` has stopped the recording: torch is not to begin the next window."""


class profile(Results):  # noqa: N801 - named like torch.profiler.profile, whose place it takes
    """Records PyTorch's two views of a loop, the Kineto trace and the Execution Trace, over the same iterations.

    ::

        with ks.profile("traces", wait=1, warmup=1, active=3) as prof:
            for batch in loader:
                train_step(batch)
                prof.step()
        prof.trace.report("report.html")

    Each window ends as `kineto_trace_<rank>.json.gz` and `torch_et_<rank>.json.gz` in `dir`; the windows after the
    first as `kineto_trace_<rank>.<cycle>.json.gz` and so on, cycles counted from 0. Sources of kernels that Triton and
    Inductor generated lie beside them in `torch_et_<rank>.json_resources`. Files appear under these names only when
    they are complete, and a new recording of a rank replaces what an earlier one left in the folder. A thread
    compresses and checks them while the loop goes on; `stop`, and whoever asks for `files` or `trace`, waits for it.

    Without `active` and `schedule` the whole block is recorded. `repeat` is 1 by default (torch: 0): a loop of a
    thousand iterations leaves one window, not two hundred; `repeat=0` goes on until the end of the loop.
    A loop that ends early, by `break`, an exception or Ctrl-C, leaves what was recorded until then.

    * `wait`, `warmup`, `active`, `repeat`, `skip_first`, `skip_first_wait`: numbers of iterations, as in
      `torch.profiler.schedule`; or `schedule`, a function from the number of the iteration to a
      `torch.profiler.ProfilerAction`.
    * `activities`, `record_shapes`, `profile_memory`, `with_stack`, `with_flops`, `with_modules`,
      `experimental_config`, `acc_events`, `custom_trace_id_callback`, `post_processing_timeout_s`: as in
      `torch.profiler.profile`, but shapes are on, and so is what CUDA reports of waiting (`enable_cuda_sync_events`).
    * `execution_trace=False` records the Kineto trace alone. Its events then carry no record ids.
    * `execution_trace_observer`: an observer of the caller, which torch starts and stops with each window, as in
      `torch.profiler.profile`. It writes its own file, and no `torch_et_<rank>` is written.
    * `on_trace_ready`: called with this object when a window has ended.
    * `ranks`: those that are recorded, as `[0, 8]` or a function from a rank to whether it is; on others all of this
      does nothing. `rank`: by default from torch.distributed, else from what torchrun, SLURM or MPI set, else 0.
    * `max_bytes`, `max_events` (estimated from the Execution Trace while a window is open), `max_iterations`: when all
      windows together come to that, the recording ends after the iteration.
    * `metrics=True` samples GPUs (through nvidia-ml-py or amdsmi) and the host (psutil) ten times a second into
      `metrics_<rank>.jsonl`, or each so many seconds; they become counters of the traces beside them, and `energy`.
    * `nsys=True` records nothing here: it marks the window (`cudaProfilerStart`) and its iterations (NVTX) for `nsys
      profile --capture-range=cudaProfilerApi`, as does all that `kinetoscope nsys -- python train.py` runs.
    * `check=False` leaves out reading each window once it is written, which warns of what is missing in it.
    * `compress=False` leaves `.json` files.

    Attributes and methods of torch's profiler that are not here (`step_num` …) are passed on to it.

    Raises, and only before the loop: OSError when `dir` cannot be written, ValueError for a schedule that is none,
    RuntimeError while another `profile` of this process is running, or another profiler or observer of torch's. An
    error while recording or writing is a RuntimeWarning, and the training goes on; errors of `schedule` and
    `on_trace_ready` are the caller's and are raised. A window belongs to the thread that it began on: torch records
    that one, and on another one `step` does nothing, and `stop` has it end with the next `step` there.
    """

    def __init__(  # noqa: PLR0913 - the parameters of torch.profiler.profile and schedule, under their names
        self,
        dir: str | os.PathLike[str] = "traces",  # noqa: A002 - reads well where it is called
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
        execution_trace: bool = True,
        execution_trace_observer: Any = None,
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
        super().__init__(Path(dir))
        self._compress = compress
        self._sampling = Sampling(metrics)
        self._check = check
        self._ranks = ranks
        self._rank = rank
        self._on_trace_ready = on_trace_ready
        self._is_marking = nsys or bool(os.environ.get(NSYS))
        has_other = execution_trace_observer is not None or self._is_marking
        self._observer = Observer() if execution_trace and not has_other else None
        self._trigger: Trigger | None = None
        self._folder: RecordingFolder | None = None
        self._num_windows, self._since_ns = 0, 0
        self._callers_error: BaseException | None = None
        self._has_started = False
        self._thread = threading.current_thread()
        self._is_telling = self._is_over = False
        self._has_told: set[str] = set()
        self._meter = Meter()
        counts = {"wait": wait, "warmup": warmup, "active": active, "repeat": repeat, "skip_first": skip_first}
        self._plan = Plan(schedule, {**counts, "skip_first_wait": skip_first_wait})
        activities = None if activities is None else list(activities)
        planned = self._callers(self._plan)
        if self._is_marking:
            self._profiler: Any = Marks(planned, self._window_ended)
            self._halt: Callable[[], None] = self._profiler.halt
        else:
            self._profiler = pytorch.make_profile(
                schedule=planned,
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

    @classmethod
    def on_demand(  # noqa: PLR0913 - the ways to ask for a window
        cls,
        dir: str | os.PathLike[str] = "traces",  # noqa: A002 - as above
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
        """A recording that waits until a window is asked for, and then waits again; at most `repeat` times, unless 0.

        ::

            with ks.profile.on_demand("traces", file="PROFILE", signal=signal.SIGUSR1, slow_step=3) as prof:
                for batch in loader:
                    train_step(batch)
                    prof.step()

        * `prof.trigger()` asks, from another thread or cell; `prof.trigger(at=1000)` for one from iteration 1000 on.
        * `at`: the iteration, or some.
        * `file`: whenever it is touched. A number in it is the iteration to begin with, so that all ranks of a running
          job record the same: `echo 1200 > PROFILE`.
        * `signal`: whenever it arrives; a handler that it had is called, too, and stays behind.
        * `slow_step`: when a step takes so many times as long as the median of the steps before.

        `options` are those of `profile`.
        """
        asking = Asking((at,) if isinstance(at, int) else at, file, signal, slow_step)
        trigger = Trigger(warmup, active, repeat, asking)
        prof = cls(dir, schedule=trigger, **options)
        prof._trigger = trigger
        return prof

    def trigger(self, at: int | None = None) -> None:
        """Asks for a window, from iteration `at` on or as soon as may be. From any thread.

        RuntimeError unless made by `on_demand`.
        """
        if self._trigger is None:
            raise RuntimeError(
                "ks.profile: expected a recording made by ks.profile.on_demand, found one with a schedule"
            )
        self._trigger.ask(at)

    # --- the window -----------------------------------------------------------------------------------------------

    def __enter__(self) -> lazy.Self:
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
            warn(f"ks.profile: on_trace_ready failed: {type(own).__name__}: {own}")

    def start(self) -> None:
        """Begins, as `with` does. The schedule's iteration 0 starts here."""
        RUNNING.claim(self)
        try:
            self._has_started = True
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
        pytorch.refuse_a_second_profiler()
        self._folder = RecordingFolder(self.dir, compress=self._compress, published=self._published)
        if self._observer:
            self._observer.open(self._folder)
        # where the file came from: a rank outside torch.distributed is nowhere else but in the name
        origin = {"version": __version__, "torch": pytorch.version(), "rank": self._own_rank}
        pytorch.preset_metadata(self._profiler, "kinetoscope", origin)
        if self._trigger:
            self._trigger.listen()
        self._is_over = False
        with self._meter("torch"):
            self._profiler.__enter__()
        self._thread = threading.current_thread()
        atexit.register(self._stop)  # then no other thread will
        self._sampling.start(self._folder, self._own_rank, self._profiler.step_num)
        self._since_ns = perf_counter_ns()

    def _stop_sampling(self, folder: RecordingFolder) -> None:
        if (found := self._sampling.stop(self._profiler.step_num + 1)) is None:
            return
        (path, energy), rank = found, self._own_rank
        self._energy += energy

        def publish() -> None:
            if self._written or self._is_marking:  # else they would lie beside the windows of an earlier recording
                self._metrics = folder.publish_metrics(path, rank)
                self._traces.clear()  # those that were read before are without

        self._writer.begin(publish, f"metrics could not be written to {self.dir}")

    def step(self) -> None:
        """Ends an iteration and begins the next. Nothing after `stop` and in a fork; RuntimeError before `start`."""
        if not self._is_running:
            if not self._has_started:
                raise RuntimeError("ks.profile: step() before start(); use it in a `with` block or call start()")
            return
        if self._is_elsewhere:
            self._tell_elsewhere("step() does nothing here")
            return
        if self._is_over:
            self.stop()
            return
        with self._meter("own"):
            try:
                self._iteration_ended(perf_counter_ns() - self._since_ns)
                with self._meter("torch"):
                    self._profiler.step()
                self._thread = threading.current_thread()
                self._sampling.iteration_began(self._profiler.step_num)
            except _Ended:
                self._release()
            except Exception as error:  # noqa: BLE001 - whatever torch raises, the training goes on
                self._failed("recording", error)
            self._tell()
        self._since_ns = perf_counter_ns()

    def _iteration_ended(self, dur_ns: int) -> None:
        if self._trigger:
            self._trigger.iteration_ended(dur_ns)
        is_recording = pytorch.is_recording(self._profiler)
        self._meter.iteration("recording" if is_recording else "waiting", dur_ns)
        if is_recording:
            execution_bytes = self._observer.num_bytes if self._observer else 0
            if reached := self._size.iteration_recorded(execution_bytes):
                self._plan.end()
                pytorch.end_window(self._profiler)
                warn(f"ks.profile: the recording has ended: {reached}")
            elif advice := self._size.advice(execution_bytes):
                warn(f"ks.profile: {advice}")

    def steps(self, loader: Iterable[_Batch]) -> Generator[_Batch]:
        """The batches of a loader, each an iteration: `for batch in ks.profile("traces", active=3).steps(loader)`.

        Starts the recording unless it is running, and then stops it when the loop ends, however it does.
        """
        with contextlib.nullcontext() if self._folder else self:
            for batch in loader:
                yield batch
                self.step()

    def stop(self) -> None:
        """Ends the recording, as leaving the `with` block does; writes the window that is open. Twice is harmless."""
        if self._is_telling:
            self._is_over = True
        elif self._is_running and self._is_elsewhere and self._thread.is_alive():
            self._is_over = True
            self._tell_elsewhere("the recording ends with the next step() there")
        else:
            self._stop()

    @property
    def _is_running(self) -> bool:
        return self._folder is not None and RUNNING.is_held_by(self)

    @property
    def _is_elsewhere(self) -> bool:
        """Whether a window is open that another thread has begun: torch would find none to end on this one."""
        is_others = self._thread is not threading.current_thread() and not self._is_marking
        return is_others and pytorch.is_recording(self._profiler) and not pytorch.is_profiling()

    def _tell_elsewhere(self, so: str) -> None:
        if so not in self._has_told:
            self._has_told.add(so)
            warn(f"ks.profile: the open window belongs to the thread {self._thread.name}, which began it: {so}")

    def _stop(self) -> None:
        is_running = self._is_running
        try:
            if is_running:
                self._end()
        finally:
            self._writer.wait()
            self._tell()
        if not is_running:
            return
        if not self._num_windows and not self._has_failed and not self._trigger:
            step = self._profiler.step_num
            warn(f"ks.profile: nothing was recorded: the loop ended in iteration {step}, before the window began")

    def _end(self) -> None:
        with self._meter("own"):
            try:
                if self._is_elsewhere:
                    self._refuse_to_finish()
                with self._meter("torch"):
                    pytorch.finish(self._profiler)
            except _Ended:
                pass
            except Exception as error:  # noqa: BLE001 - as in step
                self._failed("stopping", error)
            finally:
                self._release()

    def _refuse_to_finish(self) -> None:
        """Torch would find no window, and crash."""
        raise RuntimeError(f"the open window belongs to the thread {self._thread.name}, which began it")

    def _failed(self, doing: str, error: Exception) -> None:
        """Ends the recording. An error of the caller's own functions is raised again; any other is a warning."""
        self._release()
        if error is self._callers_error:
            self._callers_error = None
            raise error
        self._has_failed = True
        warn(f"ks.profile: {doing} failed, the recording has ended: {type(error).__name__}: {error}")

    def _release(self) -> None:
        """Back to where another profile can start: observer unregistered, unfinished files gone. Never raises."""
        atexit.unregister(self._stop)
        if self._trigger:
            self._trigger.unlisten()
        folder, self._folder = self._folder, None
        if folder:  # else the profiler that runs, if any, is not ours
            with contextlib.suppress(Exception):
                self._halt()
            self._stop_sampling(folder)
            self._writer.begin(folder.close, "unfinished files were left behind")
        if self._observer:
            self._observer.cleanup()
        RUNNING.release(self)

    def _callers(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Marks what the caller's function raises, so that it is told from what torch or we raise."""

        def call(*arguments: Any) -> Any:
            try:
                with self._meter("caller"):
                    return function(*arguments)
            except BaseException as error:
                self._callers_error = error
                raise

        return call

    # --- its files ------------------------------------------------------------------------------------------------

    def _window_ended(self, _profiler: object) -> None:
        if self._folder is None:
            return
        with self._meter("own"):
            if not self._is_marking and not self._take(self._folder):
                return
            self._num_windows += 1
            if self._on_trace_ready:
                self._told(self._on_trace_ready)

    def _told(self, on_trace_ready: Callable[[profile], object]) -> None:
        self._is_telling = True
        try:
            self._callers(on_trace_ready)(self)
        finally:
            self._is_telling = False
        if self._is_over:
            raise _Ended

    def _take(self, folder: RecordingFolder) -> bool:
        """Has the writer finish the window that ended, unless torch does not give it."""
        failed = f"the recording could not be written to {self.dir}"
        try:
            window = self._taken(folder)
        except Exception as error:  # noqa: BLE001 - whatever it is, the training goes on
            self._has_failed = True
            warn(f"ks.profile: {failed}: {type(error).__name__}: {error}")
            return False
        self._writer.begin(partial(self._publish, folder, window, self._own_rank, self._num_windows), failed)
        return True

    def _taken(self, folder: RecordingFolder) -> Finished:
        """What torch has of the window that ended, as files."""
        kineto = folder.temporary("kineto.json")
        with self._meter("torch"):
            pytorch.save(self._profiler, kineto)
        execution = self._observer.take() if self._observer else None
        self._size.window_written(kineto.stat().st_size, execution.stat().st_size if execution else 0)
        return Finished(kineto, execution, pytorch.kernel_sources() if execution else ())

    def _publish(self, folder: RecordingFolder, window: Finished, rank: int, cycle: int) -> list[Trouble]:
        """On the writer's thread."""
        num_bytes = window.kineto.stat().st_size
        rival = folder.rival(rank, cycle)
        recording = folder.publish(window, rank=rank, cycle=cycle)
        self._written.append(recording)
        found = flaws(recording, num_bytes) if self._check else []
        if rival:
            found.append(f"{rival}, which another process wrote meanwhile, was replaced: give each a rank= or a folder")
        return [Trouble(flaw) for flaw in found]

    @property
    def overhead(self) -> Overhead:
        """What recording has cost the loop so far."""
        return self._meter.overhead

    def __repr__(self) -> str:
        state = "running" if self._folder else "stopped"
        return f"<kinetoscope.profile of {str(self.dir)!r}: {state}, {self._num_windows} recorded>"
