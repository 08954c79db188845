"""What is known of torch, which is imported when a `profile` is made, and of what differs between its versions."""

from __future__ import annotations

import contextlib
import inspect
import json
import sys
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any, final

Counts = dict[str, int | None]
"""`wait`, `warmup`, `active`, `repeat`, `skip_first`, `skip_first_wait`."""


def _torch() -> Any:
    """The package. ImportError, with what to do, where there is none."""
    try:
        import torch
    except ImportError as error:
        raise ImportError("ks.profile: expected PyTorch, found none: pip install torch") from error
    return torch


def version() -> str:
    """That of torch."""
    return str(_torch().__version__)


def has_device() -> bool:
    """Whether there is a GPU that torch can use."""
    return bool(_torch().cuda.is_available())


def device_uuid() -> str | None:
    """That of the GPU in use, as NVML has it; None where none is, or torch does not tell."""
    cuda = _torch().cuda
    if not cuda.is_initialized():
        return None
    uuid = getattr(cuda.get_device_properties(cuda.current_device()), "uuid", None)  # from torch 2.6 on
    return None if uuid is None else f"GPU-{uuid}"


# --- the profiler -------------------------------------------------------------------------------------------------


def make_profile(**options: Any) -> Any:
    """torch.profiler.profile, without the options that this version does not know, as long as they are off."""
    profiler = _torch().profiler
    return profiler.profile(**_known(profiler.profile.__init__, options))


def make_schedule(counts: Counts) -> Callable[[int], Any]:
    """torch.profiler.schedule, likewise."""
    schedule = _torch().profiler.schedule
    return schedule(**_known(schedule, counts))


def _known(function: Callable[..., Any], options: dict[str, Any]) -> dict[str, Any]:
    known = inspect.signature(function).parameters
    if wanted := [name for name, value in options.items() if value and name not in known]:
        raise ValueError(f"ks.profile: this version of torch has no {', '.join(wanted)}")
    return {name: value for name, value in options.items() if name in known}


@cache
def action(name: str) -> Any:
    """`NONE`, `WARMUP`, `RECORD` or `RECORD_AND_SAVE`."""
    return _torch().profiler.ProfilerAction[name]


def is_recording(profiler: Any) -> bool:
    """Whether the iteration that has begun is recorded."""
    return profiler.current_action.name in {"RECORD", "RECORD_AND_SAVE"}


def end_window(profiler: Any) -> None:
    """Lets the iteration that has begun be the last one of its window, whatever the schedule wanted."""
    if profiler.current_action.name == "RECORD":
        profiler.current_action = action("RECORD_AND_SAVE")


def refuse_a_second_profiler() -> None:
    """Torch would cancel the one that is running, and say so only on the standard error."""
    if is_profiling():
        raise RuntimeError("ks.profile: expected no running profiler, found one of torch; stop that one first")


def is_profiling() -> bool:
    """Whether a profiler of torch runs that this thread knows of: one that it began, or one of all threads."""
    ask: Any = getattr(_torch().autograd, "_profiler_enabled", None)  # torch has no public way to ask
    return ask is not None and bool(ask())


def preset_metadata(profiler: Any, key: str, value: object) -> None:
    """Writes something into the header of each window."""
    if hasattr(profiler, "preset_metadata_json"):
        profiler.preset_metadata_json(key, json.dumps(value))


def finish(profiler: Any) -> None:
    """Leaves a torch profiler, also where Ctrl-C has cut off the beginning of an iteration, which then cannot end."""
    annotation = getattr(profiler, "step_rec_fn", None)
    if annotation is not None and getattr(annotation, "record", annotation) is None:
        profiler.step_rec_fn = None
    profiler.__exit__(None, None, None)


def save(profiler: Any, path: Path) -> None:
    """Writes the window that has ended. RuntimeError where torch has nothing of it, which it would crash on."""
    results = getattr(getattr(profiler, "profiler", None), "kineto_results", None)
    if results is not None and not results.trace_start_ns():
        raise RuntimeError("expected a window of torch's profiler, found that another profiler has ended it")
    profiler.export_chrome_trace(str(path))


def stop(profiler: Any) -> None:
    """Stops a torch profiler that an error left running; one that is stopped already raises, or does nothing."""
    if annotation := getattr(profiler, "step_rec_fn", None):
        profiler.step_rec_fn = None
        annotation.__exit__(None, None, None)
    inner = getattr(profiler, "profiler", None)
    if inner is not None and is_profiling():
        inner.__exit__(None, None, None)


def with_sync_events(config: Any, activities: Iterable[Any] | None) -> Any:
    """The experimental config that was given; else one that has CUDA report what was waited for, where it can.

    CUPTI alone reports it, hence not on other devices.
    """
    torch = _torch()
    if config is not None or not torch.cuda.is_available() or torch.version.hip:
        return config
    if activities is not None and not any(_is_cuda(activity) for activity in activities):
        return config
    with contextlib.suppress(ImportError, TypeError):  # torch 2.1 may have no such event
        from torch._C._profiler import _ExperimentalConfig

        return _ExperimentalConfig(enable_cuda_sync_events=True)
    return config


def _is_cuda(activity: Any) -> bool:
    """An activity, or from torch 2.12 on a dictionary of them."""
    names = activity if isinstance(activity, dict) else [activity]
    return any(getattr(name, "name", "") == "CUDA" for name in names)


@final
class CudaMarks:
    """What tools outside of the process look for."""

    def __init__(self, cuda: Any) -> None:
        self.start: Callable[[], object] = cuda.profiler.start
        self.stop: Callable[[], object] = cuda.profiler.stop
        self.push: Callable[[str], object] = cuda.nvtx.range_push
        self.pop: Callable[[], object] = cuda.nvtx.range_pop


def cuda_marks() -> CudaMarks:
    """RuntimeError where there is no CUDA."""
    if not has_device():
        raise RuntimeError("ks.profile: expected CUDA to mark windows for Nsight Systems (nsys=True), found none")
    return CudaMarks(_torch().cuda)


# --- the Execution Trace ------------------------------------------------------------------------------------------


def register_observer(path: Path) -> Any | None:
    """An observer that writes to `path` once it is started; None while another one is registered in this process."""
    observer = _torch().profiler.ExecutionTraceObserver()
    try:
        observer.register_callback(str(path))
    except BaseException:  # Ctrl-C: torch may have registered it without having said so
        observer._registered = path.exists()  # noqa: SLF001 - or it would stay
        observer.unregister_callback()
        raise
    if path.exists():
        return observer
    # torch says that it has registered; the file tells whether it has
    observer._registered = False  # noqa: SLF001 - or it takes the other one away when it is deleted
    return None


def start_observer(observer: Any) -> None:
    """Starts to write, and with the groups of processes, which versions before 2.3 leave out."""
    observer.start()
    if not hasattr(observer, "_record_pg_config"):
        with contextlib.suppress(AttributeError, TypeError, ValueError):
            _record_groups()


def leave_observer(observer: Any) -> None:
    """In a forked child: it writes no more, and does not complete the file, which is the parent's."""
    observer.stop()
    observer._registered = False  # noqa: SLF001 - as in `register_observer`


def _record_groups() -> None:
    its = distributed()
    if its is None:
        return
    autograd = _torch().autograd
    groups = its.distributed_c10d._world.pg_config_info  # noqa: SLF001 - as later versions' observer does
    enter = autograd._record_function_with_args_enter  # noqa: SLF001 - as above
    leave = autograd._record_function_with_args_exit  # noqa: SLF001 - as above
    leave(enter("## process_group:init ##", json.dumps(groups, default=str)))


def distributed() -> Any | None:
    """torch.distributed, where this process is one of a group."""
    # looked up, not imported: a process that never imported it is in no group
    found = sys.modules.get("torch.distributed")
    return found if found is not None and found.is_available() and found.is_initialized() else None


def kernel_sources() -> list[Path]:
    """The files that Inductor generated in this process: Triton's kernels, and the code that calls them."""
    cache = getattr(sys.modules.get("torch._inductor.codecache"), "PyCodeCache", None)
    modules = getattr(cache, "modules", None)
    if modules is None:  # torch before 2.5
        modules = getattr(cache, "cache", {})
    loaded = modules.values() if isinstance(modules, dict) else modules
    names = {str(module.__file__) for module in loaded if getattr(module, "__file__", None)}
    return [Path(name) for name in sorted(names)]


# --- other processes ----------------------------------------------------------------------------------------------


@final
class Peers:
    """The processes of torch.distributed, over gloo: what is exchanged is in the host's memory."""

    def __init__(self, distributed: Any) -> None:
        self._distributed = distributed
        self._is_own = distributed.get_backend() != "gloo"
        self._group = distributed.new_group(backend="gloo") if self._is_own else None
        self.rank = int(distributed.get_rank())
        self.size = int(distributed.get_world_size())

    def all(self, mine: Any) -> list[Any]:
        """What each rank has, in their order."""
        found: list[Any] = [None] * self.size
        self._distributed.all_gather_object(found, mine, group=self._group)
        return found

    def send(self, block: bytes) -> None:
        """Sends bytes to rank 0, which receives."""
        torch = _torch()
        self._distributed.send(torch.frombuffer(bytearray(block), dtype=torch.uint8), 0, group=self._group)

    def receive(self, rank: int, num_bytes: int) -> bytes:
        """Receives bytes at rank 0, as many as `rank` sends."""
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
    """The other processes, where torch.distributed knows of any. All of them ask at once."""
    found = distributed()
    return contextlib.nullcontext() if found is None else Peers(found)
