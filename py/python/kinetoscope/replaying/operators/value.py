"""Recorded arguments of an operator, parsed and checked: tensors, numbers, texts and lists.

The text of a trace is never evaluated: a value is a number, a known type or a plain text.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

DTYPES = {
    "float": "float32",
    "double": "float64",
    "int": "int32",
    "long int": "int64",
    "long": "int64",
    "short int": "int16",
    "short": "int16",
    "signed char": "int8",
    "unsigned char": "uint8",
    "unsigned short": "uint16",
    "unsigned int": "uint32",
    "unsigned long": "uint64",
    "bool": "bool",
    "c10::Half": "float16",
    "c10::BFloat16": "bfloat16",
    "c10::complex<c10::Half>": "complex32",
    "c10::complex<float>": "complex64",
    "c10::complex<double>": "complex128",
    "c10::Float8_e4m3fn": "float8_e4m3fn",
    "c10::Float8_e5m2": "float8_e5m2",
    "c10::Float8_e4m3fnuz": "float8_e4m3fnuz",
    "c10::Float8_e5m2fnuz": "float8_e5m2fnuz",
    "c10::Float8_e8m0fnu": "float8_e8m0fnu",
}
"""Names of types in traces, and in torch."""

MAX_BYTES = 1 << 40
"""Maximum size of a tensor: more than any device has."""
_MAX_DIMS = 64
_MAX_DEPTH = 3
_NUM_NUMBERS = 5
_DEVICE = re.compile(r"[a-z]{2,12}(:\d{1,4})?")
_BITS = re.compile(r"^[a-z]+(\d+)")
_INFINITE = {"inf": math.inf, "+inf": math.inf, "-inf": -math.inf, "nan": math.nan, "-nan": math.nan}


class RefusedValueError(ValueError):
    """An argument that cannot be made again; the message is the reason."""


class TensorValue(NamedTuple):
    """A tensor of a call: part of a storage, of which the trace has no contents."""

    tensor_id: int
    storage_id: int
    offset: int
    """Offset into the storage, in elements."""
    device: str
    dtype: str
    """Name in torch, such as `float32`."""
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    """In elements; that of a contiguous tensor where none is recorded."""
    is_assumed: bool = False
    """Whether no strides are recorded, so that they are an assumption."""

    @property
    def elem_bytes(self) -> int:
        """Size of an element in bytes."""
        return elem_bytes(self.dtype)

    @property
    def num_elems(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def span(self) -> int:
        """Elements of the storage from its begin to the last one of the tensor."""
        if 0 in self.shape:
            return self.offset
        return self.offset + 1 + sum((size - 1) * step for size, step in zip(self.shape, self.stride, strict=True))

    @property
    def num_bytes(self) -> int:
        """Bytes of the storage from its begin to the end of the tensor."""
        return self.span * self.elem_bytes

    @property
    def is_integer(self) -> bool:
        """Whether elements are whole numbers."""
        return self.dtype.startswith(("int", "uint"))


class DeviceValue(NamedTuple):
    """A device, such as `cuda:0`."""

    name: str


class OpaqueValue(NamedTuple):
    """An argument without a recorded value, such as a stream."""

    kind: str


Value = None | bool | int | float | str | TensorValue | DeviceValue | OpaqueValue | list["Value"]


def elem_bytes(dtype: str) -> int:
    """Returns the size of an element in bytes."""
    bits = _BITS.search(dtype)
    return int(bits[1]) // 8 if bits else 1


def contiguous(shape: Sequence[int]) -> tuple[int, ...]:
    """Returns the strides of a contiguous tensor."""
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def tensors(values: Sequence[Value]) -> Iterator[TensorValue]:
    """Yields the tensors among values and in their lists."""
    for value in values:
        if isinstance(value, TensorValue):
            yield value
        elif isinstance(value, list):
            yield from tensors(value)


def tensor(  # noqa: PLR0913 - the fields of a tensor
    dtype: str, shape: Any, stride: Any, device: str, *, tensor_id: int = 0, storage_id: int = 0, offset: int = 0
) -> TensorValue:
    """Returns a checked tensor. Raises RefusedValueError for impossible or huge sizes."""
    name = DTYPES.get(dtype)
    if name is None:
        raise RefusedValueError(f"unknown type of tensor: {dtype[:40]}")
    if not _DEVICE.fullmatch(device):
        raise RefusedValueError("unknown device")
    sizes = _sizes(shape, "shape")
    steps = _sizes(stride, "strides") if stride else contiguous(sizes)
    if len(sizes) != len(steps):
        raise RefusedValueError("shape and strides differ in length")
    is_assumed = not stride and len(sizes) > 0
    found = TensorValue(tensor_id, storage_id, offset, device, name, sizes, steps, is_assumed)
    if offset < 0:
        raise RefusedValueError("negative offset of a tensor")
    if max(found.num_bytes, found.num_elems) > MAX_BYTES:
        raise RefusedValueError(f"tensor of more than {MAX_BYTES:,} bytes")
    return found


def node_values(values: str, types: str, shapes: str, strides: str) -> list[Value]:
    """Parses the values of a node of an Execution Trace, which come as JSON.

    Raises RefusedValueError for a value that cannot be made again.
    """
    found, kinds, sizes, steps = (_list(text) for text in (values, types, shapes, strides))
    return [_value(value, _at(kinds, at), _at(sizes, at), _at(steps, at), 0) for at, value in enumerate(found)]


def _list(text: str) -> list[Any]:
    try:
        found = json.loads(text) if text else []
    except (ValueError, RecursionError):
        raise RefusedValueError("arguments are not JSON") from None
    return found if isinstance(found, list) else []


def _value(value: Any, kind: Any, shape: Any, stride: Any, depth: int) -> Value:
    if not isinstance(kind, str):
        raise RefusedValueError("an argument has no type")
    if depth > _MAX_DEPTH:
        raise RefusedValueError("lists are nested too deeply")
    if kind == "None" or kind.startswith("Tensor(nullptr"):
        return None
    if kind.startswith("Tensor("):
        return _tensor(value, kind.removeprefix("Tensor(").removesuffix(")"), shape, stride)
    inner = element_kinds(kind)
    if inner is not None:
        return _items(value, inner, shape, stride, depth)
    return _plain(value, kind)


def _plain(value: Any, kind: str) -> Value:
    if kind == "Bool" and isinstance(value, (bool, int)):
        return bool(value)
    if kind in {"Int", "SymInt"} and type(value) is int and abs(value) < 1 << 63:
        return value
    if kind in {"Double", "Float", "SymFloat"}:
        return _number(value)
    if kind == "String" and isinstance(value, str):
        return value
    if kind == "Device" and isinstance(value, str):
        if _DEVICE.fullmatch(value):
            return DeviceValue(value)
        raise RefusedValueError("unknown device")
    return OpaqueValue(kind[:40])


def _tensor(value: Any, dtype: str, shape: Any, stride: Any) -> TensorValue:
    """Parses `[tensor id, storage id, offset, number of elements, bytes of one, device]`."""
    fields = value if isinstance(value, list) else []
    numbers, rest = fields[:_NUM_NUMBERS], fields[_NUM_NUMBERS:]
    if len(numbers) < _NUM_NUMBERS or not all(type(number) is int for number in numbers):
        raise RefusedValueError("a tensor has no recorded storage")
    device = rest[0] if rest and isinstance(rest[0], str) and rest[0] else "cpu"
    tensor_id, storage_id, offset = numbers[:3]
    found = tensor(dtype, shape, stride, device, tensor_id=tensor_id, storage_id=storage_id, offset=offset)
    if not storage_id and found.num_elems:
        raise RefusedValueError("no storage is recorded (sparse, nested or functorch)")
    return found


def _items(value: Any, inner: Sequence[str], shape: Any, stride: Any, depth: int) -> list[Value]:
    if not isinstance(value, list):
        raise RefusedValueError("the values of a list are not recorded")
    shapes, strides = (each if isinstance(each, list) else [] for each in (shape, stride))
    if len(inner) < len(value):
        raise RefusedValueError("a list has more values than types")
    return [_value(item, inner[at], _at(shapes, at), _at(strides, at), depth + 1) for at, item in enumerate(value)]


def _at(found: Sequence[Any], at: int) -> Any:
    return found[at] if at < len(found) else None


def _number(value: Any) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, str) and value.lower() in _INFINITE:
        return _INFINITE[value.lower()]
    raise RefusedValueError("a number is not recorded")


def element_kinds(kind: str) -> list[str] | None:
    """Splits `GenericList[…]` or `Tuple[…]` at its outer commas; None for other types."""
    for prefix in ("GenericList[", "Tuple["):
        if kind.startswith(prefix) and kind.endswith("]"):
            return split(kind[len(prefix) : -1])
    return None


def split(text: str) -> list[str]:
    """Splits a text at its outer commas."""
    found: list[str] = []
    depth, start, quote = 0, 0, ""
    for at, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "[(":
            depth += 1
        elif letter in "])":
            depth -= 1
        elif letter == "," and not depth:
            found.append(text[start:at].strip())
            start = at + 1
    rest = text[start:].strip()
    return [*found, rest] if rest or found else found


def _sizes(found: Any, name: str) -> tuple[int, ...]:
    if not isinstance(found, list) or len(found) > _MAX_DIMS or not all(type(size) is int for size in found):
        raise RefusedValueError(f"the {name} of a tensor is not recorded")
    if any(size < 0 for size in found):
        raise RefusedValueError(f"negative {name} of a tensor")
    return tuple(found)
