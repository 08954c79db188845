"""Runs recorded operators with torch: the only module of operators that imports it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, final

from kinetoscope._base.system import free_memory
from kinetoscope._io.atomic import write_bytes
from kinetoscope.replaying.operators.agreement import Agreement
from kinetoscope.replaying.operators.copying import Copying, Fill
from kinetoscope.replaying.operators.device_choice import moves_host
from kinetoscope.replaying.operators.filling import Filling
from kinetoscope.replaying.operators.index_range import IndexRange
from kinetoscope.replaying.operators.literal import torch_name
from kinetoscope.replaying.operators.meta import MetaResults
from kinetoscope.replaying.operators.schema import Parameter, Signature
from kinetoscope.replaying.operators.value import DeviceValue, OpaqueValue, RefusedValueError, TensorValue, Value

_NS = 1e6
"""Nanoseconds of a millisecond, in which torch measures events."""


@final
class Machine:
    """Devices of this process, and the operators that are registered in it."""

    def __init__(self, device: str | None, recorded: Sequence[str], local_rank: int = 0) -> None:
        import torch

        self.torch = torch
        self._tensor_type = torch.Tensor
        self.notes: list[str] = []
        kinds = {name.partition(":")[0] for name in recorded}
        self._moves_all = moves_host(device, recorded)
        self.filling = Filling(torch)
        self.agreement = Agreement(torch)
        self._copying = Copying(torch)
        self._meta = MetaResults(torch)
        self._unrecorded = _Unrecorded(torch)
        self._device = self._found(device or self._default(kinds - {"cpu"}, local_rank))
        self.is_on_gpu = self._device.type == "cuda"
        self.mark: Callable[[], Any] = self._event if self.is_on_gpu else time.perf_counter_ns
        """Marks a moment: an event on the device's current stream, or the host's time in ns."""
        if self.is_on_gpu:
            torch.cuda.set_device(self._device)

    def _default(self, kinds: set[str], local_rank: int) -> str:
        if not kinds:
            return "cpu"
        if len(kinds) == 1 and "cuda" in kinds and self.torch.cuda.is_available():
            return f"cuda:{local_rank % self.torch.cuda.device_count()}"
        self.notes.append(f"recorded on {', '.join(sorted(kinds))}, which this machine lacks: replayed on cpu")
        return "cpu"

    def _found(self, name: str) -> Any:
        """Returns a device of this machine. Raises ValueError if it has none of the name."""
        try:
            found = self.torch.device(name)
            self.torch.empty(1, device=found).cpu()  # the device "meta" has no values to copy
        except (RuntimeError, AssertionError, NotImplementedError):
            count = self.torch.cuda.device_count()
            known = ", ".join(["cpu", *(f"cuda:{at}" for at in range(count))])
            raise ValueError(f"expected a device of this machine ({known}), found {name}") from None
        return found

    def device(self, recorded: str) -> Any:
        """Returns the device that stands for a recorded one."""
        if recorded.startswith("cpu") and not self._moves_all:
            return self.torch.device("cpu")
        return self._device

    def free_bytes(self) -> int | None:
        """Returns the free memory of the device; None if unknown."""
        if self.is_on_gpu:
            return int(self.torch.cuda.mem_get_info(self._device)[0])
        return free_memory()

    # --- operators --------------------------------------------------------------------------------

    def operator(self, signature: Signature) -> Callable[..., Any]:
        """Returns a registered operator. Raises RefusedValueError if this torch has none."""
        found: Any = self.torch.ops
        try:
            for name in (*signature.namespace.split("."), signature.name, signature.overload or "default"):
                found = getattr(found, name)
        except (AttributeError, RuntimeError):
            raise RefusedValueError("this torch has no such operator") from None
        if not isinstance(found, self.torch._ops.OpOverload):  # noqa: SLF001 - the class of operators
            raise RefusedValueError("this torch has no such operator")
        known = {each.name for each in found._schema.arguments}  # noqa: SLF001 - torch has no public signature
        if any(each.is_keyword and each.name not in known for each in signature.parameters):
            raise RefusedValueError("the operator of this torch has other parameters")
        return found

    def direct(self, operator: Callable[..., Any]) -> Callable[..., Any]:
        """Returns the function that an operator calls when it is called from Python."""
        return getattr(operator, "_op", operator)

    def constant(self, value: Value, parameter: Parameter | None) -> Any:
        """Returns a value without tensors as torch expects it."""
        name = torch_name(value, parameter)
        if name is not None:
            return getattr(self.torch, name)
        if isinstance(value, DeviceValue):
            return self.device(value.name)
        if isinstance(value, OpaqueValue):
            return self.torch.cuda.current_stream()
        if parameter is not None and parameter.name == "pin_memory" and not self.is_on_gpu:
            return None if value is None else False
        if isinstance(value, list):
            return [self.constant(item, None) for item in value]
        return value

    # --- tensors ----------------------------------------------------------------------------------

    def storage(self, num_bytes: int, first: TensorValue, known: IndexRange | None) -> Any:
        """Returns all of a storage as a tensor, with values for the type of its first tensor."""
        dtype, device = getattr(self.torch, first.dtype), self.device(first.device)
        found = self.torch.empty(-(-num_bytes // first.elem_bytes), dtype=dtype, device=device)
        self.fill(found.untyped_storage(), first, known)
        return found

    def fill(self, storage: Any, first: TensorValue, known: IndexRange | None) -> None:
        """Gives all of a storage new values."""
        with self.unrecorded():
            flat = self.torch.empty(0, dtype=getattr(self.torch, first.dtype), device=storage.device)
            self.filling.fill(flat.set_(storage, 0, (storage.nbytes() // first.elem_bytes,), (1,)), first, known)

    def saved(self, value: TensorValue, content: bytes) -> Any:
        """Returns a tensor with saved contents."""
        found = self.torch.frombuffer(bytearray(content), dtype=getattr(self.torch, value.dtype))
        return found.reshape(value.shape).to(self.device(value.device))

    def tensor(self, storage: Any, value: TensorValue) -> Any:
        """Returns a part of a storage."""
        with self.unrecorded():
            empty = self.torch.empty(0, dtype=getattr(self.torch, value.dtype), device=storage.device)
            return empty.set_(storage, value.offset, value.shape, value.stride)

    def has_layout(self, found: Any, value: TensorValue) -> bool:
        """Whether a tensor has the recorded type, shape, offset and, if recorded, strides."""
        return (
            tuple(found.shape) == value.shape
            and found.dtype == getattr(self.torch, value.dtype)
            and found.layout == self.torch.strided
            and (value.is_assumed or found.stride() == value.stride or found.numel() == 0)
            and found.storage_offset() == value.offset
        )

    def has_types(self, made: Any, values: Sequence[TensorValue]) -> bool:
        """Whether results have the recorded types."""
        found = list(self.tensors(made))
        types = [getattr(self.torch, value.dtype) for value in values]
        return [each.dtype for each in found[: len(types)]] == types

    # --- results ----------------------------------------------------------------------------------

    def copies(self, values: Any, fill: Fill | None = None, kept: Any = ()) -> Any:
        """Returns values with copies of their tensors: see `Copying.copies`."""
        return self._copying.copies(values, fill, kept)

    def autocast(self, recorded: str, dtype: str) -> Any:
        """Returns a context of autocast for the type of a recorded device."""
        return self.torch.autocast(self.device(recorded).type, dtype=getattr(self.torch, dtype), cache_enabled=False)

    def random_state(self) -> Callable[[], None]:
        """Returns a function that sets the random numbers back to this moment."""
        cuda = self.torch.cuda
        host, device = self.torch.get_rng_state(), cuda.get_rng_state(self._device) if self.is_on_gpu else None

        def restore() -> None:
            self.torch.set_rng_state(host)
            if device is not None:
                cuda.set_rng_state(device, self._device)

        return restore

    def finite_share(self, values: Any) -> float:
        """Returns the share of finite elements among floats; 1 without any."""
        found = [each for each in self.tensors(values) if each.dtype.is_floating_point or each.dtype.is_complex]
        number = sum(each.numel() for each in found)
        wide = (each.float() if each.dtype.is_floating_point else each for each in found)
        return sum(int(self.torch.isfinite(each).sum()) for each in wide) / number if number else 1.0

    def results(self, made: Any) -> Sequence[Any]:
        """Returns the tensors among results."""
        return (made,) if isinstance(made, self._tensor_type) else tuple(self.tensors(made))

    def tensors(self, values: Any) -> Iterator[Any]:
        """Yields the tensors among values."""
        return self._copying.tensors(values)

    def result_bytes(self, operator: Callable[..., Any], given: list[Any], named: dict[str, Any]) -> int | None:
        """Returns the size of new results without making them; None if torch cannot tell."""
        with self.unrecorded():
            return self._meta.new_bytes(operator, given, named)

    # --- time -------------------------------------------------------------------------------------

    def _event(self) -> Any:
        event = self.torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def between_ns(self, begin: Any, end: Any) -> int:
        """Returns the time between two marks."""
        return round(begin.elapsed_time(end) * _NS) if self.is_on_gpu else end - begin

    def finish(self) -> None:
        """Waits until the device has done all work."""
        if self.is_on_gpu:
            self.torch.cuda.synchronize(self._device)

    def reset_peak(self) -> None:
        """Forgets the peak memory."""
        if self.is_on_gpu:
            self.torch.cuda.reset_peak_memory_stats(self._device)

    def peak_bytes(self) -> int | None:
        """Returns the peak memory of the device; None on the host, where torch does not count."""
        return int(self.torch.cuda.max_memory_allocated(self._device)) if self.is_on_gpu else None

    def annotated(self, name: str) -> Any:
        """Returns a context that the profiler records under a name."""
        return self.torch.profiler.record_function(name)

    def unrecorded(self) -> Any:
        """Returns a context that the profiler does not record. Contexts may nest."""
        return self._unrecorded

    def like_training(self) -> Any:
        """Returns the context of a forward pass. No tensor requires gradients, so none are made."""
        return self.torch.enable_grad()


@final
class _Unrecorded:
    """Switches the records of a thread off. Torch without such a switch records all."""

    def __init__(self, torch: Any) -> None:
        self._switch = getattr(torch.autograd, "_enable_record_function", lambda _: None)
        self._depth = 0

    def __enter__(self) -> None:
        self._depth += 1
        self._switch(False)

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        self._switch(self._depth == 0)


def compiled_kernel(source: str, name: str, num_arguments: int) -> Callable[..., Any] | None:
    """Runs the source of a generated kernel. Returns a function that launches it, or None.

    Its compiler reads the source from a file. None if the source does not run here.
    """
    import atexit
    import importlib.util
    import shutil
    import tempfile
    from pathlib import Path

    import torch

    folder = Path(tempfile.mkdtemp(prefix="kinetoscope_"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = folder / "kernel.py"
    write_bytes(path, source.encode())
    try:
        spec = importlib.util.spec_from_file_location(f"{folder.name}.kernel", path)
        if spec is None or spec.loader is None:
            return None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        kernel = getattr(module, name)
    except Exception:  # noqa: BLE001 - the source is code of another machine: it may raise anything
        return None

    def launch(*given: Any) -> None:
        kernel.run(*given[:num_arguments], stream=torch.cuda.current_stream().cuda_stream)

    return launch
