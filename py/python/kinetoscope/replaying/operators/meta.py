"""Memory of results, computed on the device "meta", whose tensors have no contents."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, final


@final
class MetaResults:
    """Runs operators without their data."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self._device = torch.device("meta")

    def new_bytes(self, operator: Callable[..., Any], given: list[Any], named: dict[str, Any]) -> int | None:
        """Returns the bytes that an operator adds for its results; None if torch cannot tell.

        Views of arguments add none. Temporary memory inside of the operator does not count.
        """
        storages: dict[int, Any] = {}
        try:
            moved = [self._moved(value, storages) for value in given]
            others = {name: self._moved(value, storages) for name, value in named.items()}
            if self._takes_device(operator):
                others["device"] = self._device
            before = self._num_bytes(storages.values())
            made = operator(*moved, **others)
            results = [each.untyped_storage() for each in self._tensors(made)]
            return self._num_bytes([*storages.values(), *results]) - before
        except Exception:  # noqa: BLE001 - torch raises any type for an operator that it cannot simulate
            return None

    def _moved(self, value: Any, storages: dict[int, Any]) -> Any:
        """Returns a value for this device. Tensors of one storage share one here, too."""
        torch = self._torch
        if isinstance(value, torch.Tensor):
            storage = value.untyped_storage()
            key = int(storage.data_ptr()) or id(value)
            if key not in storages:
                flat = torch.empty(storage.nbytes(), dtype=torch.uint8, device=self._device)
                storages[key] = flat.untyped_storage()
            empty = torch.empty(0, dtype=value.dtype, device=self._device)
            return empty.set_(storages[key], value.storage_offset(), value.shape, value.stride())
        if isinstance(value, torch.device):
            return self._device
        if isinstance(value, (list, tuple)):
            return [self._moved(item, storages) for item in value]
        return value

    def _takes_device(self, operator: Callable[..., Any]) -> bool:
        schema = getattr(operator, "_schema", None)  # torch has no public signature
        return schema is not None and any(each.name == "device" and each.kwarg_only for each in schema.arguments)

    def _tensors(self, values: Any) -> Iterable[Any]:
        if isinstance(values, self._torch.Tensor):
            yield values
        elif isinstance(values, (list, tuple)):
            for value in values:
                yield from self._tensors(value)

    def _num_bytes(self, storages: Iterable[Any]) -> int:
        own = {each._cdata: each for each in storages}  # noqa: SLF001 - no public name tells storages apart
        return sum(int(each.nbytes()) for each in own.values())
