"""Sizes among the arguments of a call: a wrong one makes an operator take any amount of memory."""

from __future__ import annotations

import math
from collections.abc import Iterator

from kinetoscope.replaying.operators.call import OperatorCall
from kinetoscope.replaying.operators.literal import SCALAR_TYPES
from kinetoscope.replaying.operators.value import Value, elem_bytes

_SIZES = {"size", "sizes", "shape", "output_size", "input_size", "input_sizes", "self_sizes"}
_WHOLE = {"int", "SymInt"}
_COUNTED = {("arange", "end"), ("arange", "start"), ("range", "end"), ("range", "start")}
"""Numbers of another type that tell how long a result is."""
_MANY = 1 << 24


def excess_bytes(call: OperatorCall) -> int:
    """Returns the bytes that lists of sizes ask for beyond the recorded results."""
    if _is_view(call):
        return 0
    made = call.outputs
    each_bytes = made[0].elem_bytes if made else elem_bytes(_dtype(call))
    wanted = max((math.prod(sizes) for sizes in _size_lists(call)), default=0)
    return max(wanted * each_bytes - sum(each.num_elems * each.elem_bytes for each in made), 0)


def has_large_number(call: OperatorCall) -> bool:
    """Whether a whole number among the arguments is larger than all recorded tensors."""
    if _is_view(call):
        return False
    largest = max((each.num_elems for each in (*call.inputs, *call.outputs)), default=0)
    return any(number > max(largest, _MANY) for number in _numbers(call))


def _is_view(call: OperatorCall) -> bool:
    """Whether results are parts of an argument, and take no memory."""
    return any(
        argument.parameter is not None and "(" in argument.parameter.type and not argument.parameter.is_written
        for argument in call.arguments
    )


def _size_lists(call: OperatorCall) -> Iterator[list[int]]:
    for value, parameter in call.arguments:
        if parameter is not None and parameter.name in _SIZES and isinstance(value, list):
            yield [abs(size) for size in value if isinstance(size, int)]


def _numbers(call: OperatorCall) -> Iterator[int]:
    name = call.name.partition("::")[2]
    for value, parameter in call.arguments:
        if parameter is None:
            continue
        kind = parameter.type.rstrip("?").partition("[")[0]
        if kind in _WHOLE or (name, parameter.name) in _COUNTED:
            yield from _magnitudes(value)


def _magnitudes(value: Value) -> Iterator[int]:
    if isinstance(value, list):
        yield math.prod(max(abs(size), 1) for size in value if isinstance(size, int))
    elif isinstance(value, (int, float)) and math.isfinite(value):
        yield abs(int(value))


def _dtype(call: OperatorCall) -> str:
    number = call.value_of("dtype")
    return SCALAR_TYPES.get(number, "float32") if isinstance(number, int) else "float32"
