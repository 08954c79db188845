"""Recorded values as Python literals: numbers, quoted texts and names of torch, nothing else."""

from __future__ import annotations

import math
import re

from kinetoscope.replaying.operators.schema import Parameter
from kinetoscope.replaying.operators.value import DeviceValue, OpaqueValue, RefusedValueError, Value

_TYPES = (
    *("uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"),
    *("complex32", "complex64", "complex128", "bool", "", "", "", "bfloat16", "", "", "", "", "", "", ""),
    *("float8_e5m2", "float8_e4m3fn", "float8_e5m2fnuz", "float8_e4m3fnuz", "uint16", "uint32", "uint64"),
)
SCALAR_TYPES = {number: name for number, name in enumerate(_TYPES) if name}
"""Names in torch of the numbers that traces record for types of elements."""
LAYOUTS = {0: "strided"}
_OTHER_LAYOUTS = ("sparse_coo", "sparse_csr", "_mkldnn", "sparse_csc", "sparse_bsr", "sparse_bsc", "jagged")
MEMORY_FORMATS = {0: "contiguous_format", 1: "preserve_format", 2: "channels_last", 3: "channels_last_3d"}
_NAMED = {"ScalarType": SCALAR_TYPES, "Layout": LAYOUTS, "MemoryFormat": MEMORY_FORMATS}


def torch_name(value: Value, parameter: Parameter | None) -> str | None:
    """Returns the name in torch of a number that stands for a type, a layout or a memory format.

    Raises RefusedValueError for an unknown number. None for other parameters.
    """
    kind = parameter.type.rstrip("?") if parameter else ""
    if kind not in _NAMED or value is None:
        return None
    name = _NAMED[kind].get(value) if isinstance(value, int) else None
    if name is None:
        raise RefusedValueError(_unknown(kind, value))
    return name


def _unknown(kind: str, value: Value) -> str:
    if kind == "Layout" and isinstance(value, int) and 0 < value <= len(_OTHER_LAYOUTS):
        return f"expected a strided layout, found {_OTHER_LAYOUTS[value - 1]}"
    return f"unknown {kind}"


def literal(value: Value, parameter: Parameter | None = None, device: str = "DEVICE") -> str:
    """Returns Python code for a value without tensors; `device` is the code for its device."""
    name = torch_name(value, parameter)
    if name is not None:
        return f"torch.{name}"
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else f'float("{value}")'
    if isinstance(value, str):
        return ascii(value).replace(" ", "\\x20")  # no blanks, so that lines break outside of texts
    if isinstance(value, (DeviceValue, OpaqueValue)):
        return device if isinstance(value, DeviceValue) else "torch.cuda.current_stream()"
    if isinstance(value, list):
        return f"[{', '.join(literal(item, None, device) for item in value)}]"
    if value is None or isinstance(value, int):
        return repr(value)
    raise TypeError(f"expected a value without tensors, found {type(value).__name__}")


def comment(text: str) -> str:
    """Returns a text of a trace for a comment: one line of plain letters."""
    return re.sub(r"[^A-Za-z0-9 _.,:;()\[\]/+*=<>%-]", "?", text)[:200]
