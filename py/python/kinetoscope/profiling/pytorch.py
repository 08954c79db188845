"""The interface to torch and its versions. Imports torch when a `profile` is created."""

from __future__ import annotations

import contextlib
import copy
import gzip
import inspect
import json
import os
import shutil
import sys
import warnings
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any, final

from kinetoscope.profiling.quiet import quiet, without_kineto

_OLDEST = (2, 4)
_STEP = "ProfilerStep#"
_HOST = "host"
"""Oldest version of torch that can be recorded with."""

Counts = dict[str, int | None]
"""`wait`, `warmup`, `active`, `repeat`, `skip_first`, `skip_first_wait`."""


def _torch() -> Any:
    """Imports torch. Raises ImportError with advice if torch is missing."""
    try:
        import torch
    except ImportError as error:
        raise ImportError("ks.profile: expected PyTorch, found none: pip install torch") from error
    return torch


def version() -> str:
    """Returns the version of torch."""
    return str(_torch().__version__)


def has_device() -> bool:
    """Whether torch can use a GPU."""
    return bool(_torch().cuda.is_available())


def device_uuid() -> str | None:
    """Returns the UUID of the current GPU as in NVML; None without a GPU or before torch 2.6."""
    cuda = _torch().cuda
    if not cuda.is_initialized():
        return None
    uuid = getattr(cuda.get_device_properties(cuda.current_device()), "uuid", None)  # from torch 2.6 on
    return None if uuid is None else f"GPU-{uuid}"


# --- the profiler ---------------------------------------------------------------------------------


def make_profile(**options: Any) -> Any:
    """Creates a torch.profiler.profile. Options that this version of torch lacks must be off.

    Raises ImportError before torch 2.4, whose Kineto traces have no record ids.
    """
    if tuple(map(int, version().split(".")[:2])) < _OLDEST:
        oldest = ".".join(map(str, _OLDEST))
        raise ImportError(
            f"ks.profile: expected PyTorch {oldest} or newer, found {version()}: pip install --upgrade torch"
        )
    profile = _torch().profiler.profile
    return quiet(profile, has_device)(**known_options(profile.__init__, options))


def make_schedule(counts: Counts) -> Callable[[int], Any]:
    """Creates a torch.profiler.schedule, likewise."""
    schedule = _torch().profiler.schedule
    return schedule(**known_options(schedule, counts))


def known_options(function: Callable[..., Any], options: dict[str, Any]) -> dict[str, Any]:
    """Returns the options that this torch has. Raises ValueError if another one is on."""
    known = inspect.signature(function).parameters
    if unknown := [name for name, value in options.items() if value and name not in known]:
        names = ", ".join(unknown)
        raise ValueError(f"ks.profile: expected options of torch {version()}, found {names}: update torch or omit them")
    return {name: value for name, value in options.items() if name in known}


@cache
def action(name: str) -> Any:
    """Returns a `ProfilerAction`: `NONE`, `WARMUP`, `RECORD` or `RECORD_AND_SAVE`."""
    return _torch().profiler.ProfilerAction[name]


def is_action(value: object) -> bool:
    """Whether a value is a `ProfilerAction`."""
    return isinstance(value, _torch().profiler.ProfilerAction)


def records(action: Any) -> bool:
    """Whether a `ProfilerAction` records."""
    return action.name in {"RECORD", "RECORD_AND_SAVE"}


def is_recording(profiler: Any) -> bool:
    """Whether the current iteration is recorded."""
    return records(profiler.current_action)


def ends_window(profiler: Any) -> bool:
    """Whether the next step saves a window."""
    return profiler.current_action.name == "RECORD_AND_SAVE"


def end_window(profiler: Any) -> None:
    """Makes the current iteration the last of its window."""
    if profiler.current_action.name == "RECORD":
        profiler.current_action = action("RECORD_AND_SAVE")


def refuse_second_profiler() -> None:
    """Raises RuntimeError if torch has a running profiler, because a second one would cancel it."""
    if is_profiling():
        raise RuntimeError("ks.profile: expected no running profiler, found one of torch: stop it first")


def is_profiling() -> bool:
    """Whether this thread has a running torch profiler, its own or one for all threads."""
    ask: Any = getattr(_torch().autograd, "_profiler_enabled", None)  # torch has no public function for it
    return ask is not None and bool(ask())


def preset_metadata(profiler: Any, key: str, value: object) -> None:
    """Writes a value into the header of each window."""
    if hasattr(profiler, "preset_metadata_json"):
        profiler.preset_metadata_json(key, json.dumps(value))


def add_metadata(profiler: Any, key: str, value: object) -> None:
    """Writes a value into the header of the open window."""
    profiler.add_metadata_json(key, json.dumps(value))


def without_iteration(events: Any, step: int | None) -> Any:
    """Returns an EventList without the events that start in an iteration.

    Returns all events if it is the only iteration. An iteration has a range on the host, and one on
    each stream that worked for it.
    """
    steps = [event for event in events if event.trace_name and event.trace_name.startswith(_STEP)]
    left_out: dict[object, list[Any]] = {}
    for event in steps:
        if event.trace_name == f"{_STEP}{step}":
            left_out.setdefault(_place(event), []).append(event.time_range)
    if not left_out or len({event.trace_name for event in steps}) == 1:
        return events

    def is_left_out(event: Any) -> bool:
        ranges = left_out.get(_place(event)) or left_out.get(_HOST, [])
        return any(each.start <= event.time_range.start < each.end for each in ranges)

    others = copy.copy(events)
    others[:] = [event for event in events if not is_left_out(event)]
    return others


def _place(event: Any) -> object:
    """The stream of a device event; the host for other events."""
    if event.device_type == _torch().autograd.DeviceType.CPU:
        return _HOST
    return event.device_type, event.device_index, getattr(event, "device_resource_id", None)


def finish(profiler: Any) -> None:
    """Exits a torch profiler, even if Ctrl-C interrupted the start of an iteration."""
    annotation = getattr(profiler, "step_rec_fn", None)
    if annotation is not None and getattr(annotation, "record", annotation) is None:
        profiler.step_rec_fn = None
    profiler.__exit__(None, None, None)


def save(profiler: Any, path: Path) -> None:
    """Writes the last window, uncompressed.

    Raises RuntimeError if it is empty, because torch would crash, or if torch writes no file.
    """
    results = getattr(getattr(profiler, "profiler", None), "kineto_results", None)
    if results is not None and not results.trace_start_ns():
        raise RuntimeError("expected a complete window of torch's profiler, found one that another profiler has ended")
    with without_kineto(has_device=has_device()):  # torch 2.4 counts devices here
        profiler.export_chrome_trace(str(path))
    # With CuspyConfig, torch may write later, and always compresses.
    getattr(profiler, "wait_for_exports", lambda: None)()
    packed = path.with_name(f"{path.name}.gz")
    if packed.exists() and not path.exists():
        with gzip.open(packed) as content, path.open("wb") as out:
            shutil.copyfileobj(content, out, 1 << 20)
        packed.unlink()
    if not path.exists():
        raise RuntimeError("expected torch to write the window, found no file")


def stop(profiler: Any) -> None:
    """Stops a torch profiler after an error. May raise if the profiler is already stopped."""
    if annotation := getattr(profiler, "step_rec_fn", None):
        profiler.step_rec_fn = None
        annotation.__exit__(None, None, None)
    inner = getattr(profiler, "profiler", None)
    if inner is not None and is_profiling():
        inner.__exit__(None, None, None)


def with_sync_events(config: Any, activities: Iterable[Any] | None) -> Any:
    """Returns `config`, or a default that enables CUDA synchronization events.

    Only CUPTI reports these events, so the default is None on other devices.
    """
    torch = _torch()
    if config is not None or not torch.cuda.is_available() or torch.version.hip:
        return config
    if activities is not None and not any(_is_cuda(activity) for activity in activities):
        return config
    from torch._C._profiler import _ExperimentalConfig

    return _ExperimentalConfig(enable_cuda_sync_events=True)


def with_cuda(activities: Iterable[Any] | None, use_cuda: bool | None) -> list[Any] | None:  # noqa: FBT001 - torch's
    """Returns `activities` with or without CUDA, as `use_cuda` of earlier torch did."""
    if use_cuda is None:
        return None if activities is None else list(activities)
    warnings.warn("ks.profile: use_cuda is deprecated: pass activities=", FutureWarning, stacklevel=3)
    profiler = _torch().profiler
    others = profiler.supported_activities() if activities is None else activities
    others = [activity for activity in others if not _is_cuda(activity)]
    return [*others, profiler.ProfilerActivity.CUDA] if use_cuda else others


def _is_cuda(activity: Any) -> bool:
    """Whether an activity is CUDA. From torch 2.12 on, it may be a dictionary of activities."""
    names = activity if isinstance(activity, dict) else [activity]
    return any(getattr(name, "name", "") == "CUDA" for name in names)


@final
class CudaMarks:
    """Functions that mark ranges for external tools."""

    def __init__(self, cuda: Any) -> None:
        self.start: Callable[[], object] = cuda.profiler.start
        self.stop: Callable[[], object] = cuda.profiler.stop
        self.push: Callable[[str], object] = cuda.nvtx.range_push
        self.pop: Callable[[], object] = cuda.nvtx.range_pop


def cuda_marks() -> CudaMarks:
    """Returns the functions that mark ranges. Raises RuntimeError without CUDA."""
    if not has_device():
        raise RuntimeError("ks.profile: expected CUDA to mark windows for Nsight Systems (nsys=True), found none")
    return CudaMarks(_torch().cuda)


# --- the Execution Trace --------------------------------------------------------------------------


def register_observer(path: Path) -> Any | None:
    """Registers an observer that writes to `path`. Returns None if this process has another one."""
    observer = _torch().profiler.ExecutionTraceObserver()
    try:
        observer.register_callback(str(path))
    except BaseException:  # Ctrl-C: torch may have registered the observer without setting its flag
        observer._registered = path.exists()  # noqa: SLF001 - else it stays registered
        observer.unregister_callback()
        raise
    if path.exists():
        return observer
    # torch sets the flag even if it fails to register: only the file proves success
    observer._registered = False  # noqa: SLF001 - else its deletion unregisters the other observer
    return None


def observes_itself() -> bool:
    """Whether torch creates an observer for each profiler, because of its environment variable."""
    does_so = hasattr(_torch().profiler.ExecutionTraceObserver, "build_execution_trace_obs_from_env")  # from 2.7 on
    return does_so and os.environ.get("ENABLE_PYTORCH_EXECUTION_TRACE", "0") == "1"


def saves_tensor_data() -> bool:
    """Whether observers write integer tensors into the folder of resources, if it exists."""
    return bool(os.environ.get("ENABLE_PYTORCH_EXECUTION_TRACE_SAVE_INTEGRAL_TENSOR_DATA"))


def leave_observer(observer: Any) -> None:
    """Detaches an observer in a forked child. The file belongs to the parent."""
    observer.stop()
    observer._registered = False  # noqa: SLF001 - as in `register_observer`


def distributed() -> Any | None:
    """Returns torch.distributed if it is initialised in this process, else None."""
    # without an import: if nothing imported the module, there is no process group
    found = sys.modules.get("torch.distributed")
    return found if found is not None and found.is_available() and found.is_initialized() else None


def kernel_sources() -> list[Path]:
    """Returns the files that Inductor generated in this process, such as Triton kernels."""
    cache = getattr(sys.modules.get("torch._inductor.codecache"), "PyCodeCache", None)
    modules = getattr(cache, "modules", None)
    if modules is None:  # torch before 2.5
        modules = getattr(cache, "cache", {})
    loaded = modules.values() if isinstance(modules, dict) else modules
    names = {str(module.__file__) for module in loaded if getattr(module, "__file__", None)}
    return [Path(name) for name in sorted(names)]


# --- other processes ------------------------------------------------------------------------------


@final
class Peers:
    """Communication with other ranks through gloo, because all data is in host memory."""

    def __init__(self, distributed: Any) -> None:
        self._distributed = distributed
        self._is_own = distributed.get_backend() != "gloo"
        self._group = distributed.new_group(backend="gloo") if self._is_own else None
        self.rank = int(distributed.get_rank())
        self.size = int(distributed.get_world_size())

    def all(self, mine: Any) -> list[Any]:
        """Returns the values of all ranks, in rank order."""
        found: list[Any] = [None] * self.size
        self._distributed.all_gather_object(found, mine, group=self._group)
        return found

    def send(self, block: bytes) -> None:
        """Sends bytes to rank 0, which calls `receive`."""
        torch = _torch()
        self._distributed.send(torch.frombuffer(bytearray(block), dtype=torch.uint8), 0, group=self._group)

    def receive(self, rank: int, num_bytes: int) -> bytes:
        """Receives `num_bytes` bytes from `rank`, at rank 0."""
        torch = _torch()
        block = bytearray(num_bytes)
        self._distributed.recv(torch.frombuffer(block, dtype=torch.uint8), rank, group=self._group)
        return bytes(block)

    def __enter__(self) -> Peers:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_own:
            self._distributed.destroy_process_group(self._group)


def peers() -> contextlib.AbstractContextManager[Peers | None]:
    """Returns the peers, or None without torch.distributed. Collective: every rank must call it."""
    found = distributed()
    return contextlib.nullcontext() if found is None else Peers(found)
