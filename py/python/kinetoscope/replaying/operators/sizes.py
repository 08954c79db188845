"""Sizes among the arguments of a call: a wrong one makes an operator take any amount of memory."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator

from kinetoscope.replaying.operators.call import OperatorCall
from kinetoscope.replaying.operators.literal import SCALAR_TYPES
from kinetoscope.replaying.operators.value import TensorValue, Value, elem_bytes

_SIZES = {"size", "sizes", "shape", "output_size", "input_size", "input_sizes", "self_sizes"}
_WHOLE = {"int", "SymInt"}
_COUNTED = {("arange", "end"), ("arange", "start"), ("range", "end"), ("range", "start")}
"""Numbers of another type that tell how long a result is."""
_MANY = 1 << 24
_MOST = 1 << 62
_LARGEST_ELEM_BYTES = 16
_READ_IN_PLACE = {
    *("sum", "nansum", "mean", "prod", "amax", "amin", "argmax", "argmin", "all", "any", "count_nonzero"),
    *("var", "std", "var_mean", "std_mean", "norm", "linalg_vector_norm", "logical_and", "logical_or"),
    *("gather", "index_select", "index_add", "index_add_", "index_put", "index_put_", "scatter", "scatter_"),
    *("scatter_add", "scatter_add_", "scatter_reduce", "scatter_reduce_", "copy_", "where"),
    *("eq", "ne", "lt", "le", "gt", "ge"),
}
"""Operators that read an expanded input without a copy of it, and have smaller results."""
_ATTENTION = ("_scaled_dot_product", "_fused_sdp", "_efficient_attention", "_flash_attention")


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


def may_exceed(call: OperatorCall, num_bytes: int) -> bool:
    """Whether some operator with these arguments could make larger results.

    Takes the square of the product of all sizes and numbers, as `aten::eye` makes.
    """
    sizes = math.prod(max(each.num_elems, 1) for each in call.inputs)
    return _LARGEST_ELEM_BYTES * (sizes * _product([each.value for each in call.arguments])) ** 2 > num_bytes


def _product(values: list[Value]) -> int:
    """Returns the product of all numbers. A fraction counts as its inverse: it may be a step."""
    found = 1
    for value in values:
        if isinstance(value, list):
            found *= _product(value)
        elif isinstance(value, (int, float)) and value and math.isfinite(value):
            size = abs(value)
            found *= math.ceil(size if size >= 1 else 1 / max(size, 1 / _MOST))
    return found


def whole_bytes(call: OperatorCall) -> int:
    """Returns the size of the largest expanded input if the operator copies it as a whole."""
    name = call.name.partition("::")[2]
    if _is_view(call) or name in _READ_IN_PLACE or name.startswith(_ATTENTION):
        return 0
    expanded = (each for each in call.inputs if 0 in each.stride)
    return max((each.num_elems * each.elem_bytes for each in expanded), default=0)


def recorded_bytes(call: OperatorCall) -> int:
    """Returns the recorded size of the results that are not in storages of arguments."""
    given = {each.storage_id for each in call.inputs}
    made: dict[int, int] = {}
    for each in call.outputs:
        if each.storage_id not in given:
            made[each.storage_id] = max(made.get(each.storage_id, 0), each.num_bytes)
    return sum(made.values())


def layout_key(call: OperatorCall) -> Hashable:
    """Returns what the size of the results depends on: the operator, layouts and numbers."""
    name = call.name if call.signature is None else call.signature.full
    return name, tuple(_frozen(each.value) for each in call.arguments)


def _frozen(value: Value) -> Hashable:
    if isinstance(value, TensorValue):
        return value.dtype, value.shape, value.stride
    if isinstance(value, list):
        return tuple(_frozen(item) for item in value)
    return type(value), value


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
