"""Valid values of the tensors that select: a trace records no values, so random ones must fit."""

from __future__ import annotations

import math
from typing import NamedTuple

from kinetoscope.replaying.operators.call import OperatorCall
from kinetoscope.replaying.operators.index_rules import (
    COUNTS,
    DIMS,
    FIRST_IS_ONE,
    INDEXING,
    LENGTHS,
    NAMED_DIMS,
    OFFSETS,
    PLANES,
    ROWS,
)
from kinetoscope.replaying.operators.value import TensorValue, Value


class IndexRange(NamedTuple):
    """Valid values of a tensor of whole numbers: from `low` to less than `end`."""

    end: int
    is_sorted: bool = False
    """Whether values are offsets: from 0 up to `end`, in equal steps."""
    reaches_end: bool = False
    """Whether the last offset is `end` itself."""
    low: int = 0
    total: int | None = None
    """Sum of the values if they are lengths, which then descend; of a mask, how many are true."""

    @property
    def is_exact(self) -> bool:
        """Whether values depend on each other, so that random ones do not fit."""
        return self.is_sorted or self.total is not None


_INCLUDES_LAST = "include_last_offset"
_CTC_LENGTHS = {"input_lengths": ("log_probs", 0), "target_lengths": ("targets", -1)}

PROBABILITIES = {"bernoulli", "multinomial", "poisson", "binary_cross_entropy", "binary_cross_entropy_backward"}
"""Operators that refuse values outside of 0 to 1."""


def index_ranges(call: OperatorCall) -> dict[tuple[int, int], IndexRange]:
    """Returns the ranges of the tensors that select.

    Keys are the place of the argument, and the place in its list or -1.
    """
    name = call.name.partition("::")[2]
    found: dict[tuple[int, int], IndexRange] = {}
    for place, (value, parameter) in enumerate(call.arguments):
        if parameter is None:
            continue
        if isinstance(value, list) and name in INDEXING and parameter.name == "indices":
            found.update(_indexed(call, place, value))
        elif isinstance(value, list) and len(value) == 1 and (name, parameter.name) in OFFSETS:
            known = _range(call, name, parameter.name)
            found.update({(place, 0): known} if known is not None else {})
        elif isinstance(value, TensorValue) and value.is_integer:
            known = _range(call, name, parameter.name) or _lengths(call, name, parameter.name, value)
            if known is not None:
                found[place, -1] = known
    return found


def _range(call: OperatorCall, name: str, parameter: str) -> IndexRange | None:
    """Returns the range of positions and offsets."""
    key = (name, parameter)
    found: IndexRange | None = None
    if key in ROWS:
        source, dim = ROWS[key]
        found = _of_size(_source(call, source), dim)
    elif key in FIRST_IS_ONE:
        source, dim = FIRST_IS_ONE[key]
        known = _of_size(call.value_of(source), dim)
        found = known and IndexRange(known.end + 1, low=1)
    elif (name in DIMS and parameter == "index") or key in NAMED_DIMS:
        dim = call.value_of("dim")
        found = _of_size(call.value_of(NAMED_DIMS.get(key, "self")), dim if isinstance(dim, int) else 0)
    elif key in COUNTS:
        number = call.value_of(COUNTS[key])
        found = IndexRange(number) if isinstance(number, int) and number > 0 else None
    elif key in PLANES:
        source, num_dims = PLANES[key]
        found = IndexRange(math.prod(_sizes(call.value_of(source))[-num_dims:]))
    elif key in OFFSETS:
        found = _offsets(call, name, _sizes(_source(call, OFFSETS[key])))
    return found


def _offsets(call: OperatorCall, name: str, sizes: tuple[int, ...]) -> IndexRange | None:
    if not sizes:
        return None
    is_last = "embedding" not in name or call.value_of(_INCLUDES_LAST) is True
    return IndexRange(sizes[0], is_sorted=True, reaches_end=is_last)


def _lengths(call: OperatorCall, name: str, parameter: str, value: TensorValue) -> IndexRange | None:
    """Returns the range of numbers that make the size of a result."""
    if name == "bincount" and parameter == "self":
        return _counted(call)
    if name == "repeat_interleave" and parameter == "repeats":
        return _repeats(call, value)
    if "ctc_loss" in name and parameter in _CTC_LENGTHS:
        return _ctc_lengths(call, parameter, value)
    if (name, parameter) not in LENGTHS:
        return None
    sizes = _sizes(_source(call, LENGTHS[name, parameter]))
    if not sizes or not value.num_elems:
        return None
    longest = _longest(call, parameter)
    return IndexRange((sizes[0] if longest is None else longest) + 1, low=int(longest is not None), total=sizes[0])


def _longest(call: OperatorCall, parameter: str) -> int | None:
    """Returns the largest length if the call states it: the first one of a packed sequence."""
    if parameter == "lengths":
        made = call.outputs[1:2]
        return made[0].shape[0] if made and made[0].shape else None
    sizes = _sizes(call.value_of("input_size"))
    if sizes:
        return sizes[0 if call.value_of("batch_first") else 1] if len(sizes) > 1 else None
    states = call.value_of("hx")
    first = states[0] if isinstance(states, list) and states else states
    return first.shape[1] if isinstance(first, TensorValue) and len(first.shape) > 1 else None


def _counted(call: OperatorCall) -> IndexRange | None:
    """Returns the range of numbers whose largest one makes the size of the result."""
    sizes = _sizes(_source(call, "output"))
    return IndexRange(max(sizes[0] - 1, 0), is_sorted=True, reaches_end=True) if sizes else None


def _repeats(call: OperatorCall, value: TensorValue) -> IndexRange | None:
    """Returns the range of repetitions: together they make the result."""
    made, source, dim = call.outputs, call.value_of("self"), call.value_of("dim")
    if not made or not made[0].shape or not value.num_elems:
        return None
    at = dim if isinstance(dim, int) and isinstance(source, TensorValue) else 0
    total = made[0].shape[at] if -len(made[0].shape) <= at < len(made[0].shape) else 0
    low, rest = divmod(total, value.num_elems)
    return IndexRange(low + 1 + bool(rest), low=low, total=total)


def _ctc_lengths(call: OperatorCall, parameter: str, value: TensorValue) -> IndexRange | None:
    source, dim = _CTC_LENGTHS[parameter]
    sizes = _sizes(call.value_of(source))
    if not sizes or not value.num_elems:
        return None
    if parameter == "input_lengths":
        return IndexRange(sizes[dim] + 1, low=sizes[dim])
    longest = sizes[dim] if len(sizes) > 1 else sizes[dim] // value.num_elems
    return IndexRange(longest + 1, low=min(longest, 1))


def _source(call: OperatorCall, name: str) -> Value:
    if name != "output":
        return call.value_of(name)
    return next(iter(call.outputs), None)


def _sizes(source: Value) -> tuple[int, ...]:
    """Returns the shape of a tensor, or a list of sizes; empty for other values."""
    if isinstance(source, TensorValue):
        return source.shape
    items = source if isinstance(source, list) else []
    return tuple(size for size in items if isinstance(size, int))


def _of_size(source: Value, dim: int | None) -> IndexRange | None:
    if not isinstance(source, (TensorValue, list)):
        return None
    sizes = _sizes(source)
    if dim is None:
        return IndexRange(math.prod(sizes))
    if not sizes:
        return IndexRange(1)
    at = min(dim, len(sizes) - 1)
    return IndexRange(sizes[at]) if -len(sizes) <= at else None


def _indexed(call: OperatorCall, place: int, indices: list[Value]) -> dict[tuple[int, int], IndexRange]:
    """Returns ranges for `self[a, :, b]`: each index tensor selects from its dimension."""
    shape = _sizes(call.value_of("self"))
    found: dict[tuple[int, int], IndexRange] = {}
    dim = 0
    for at, index in enumerate(indices):
        if isinstance(index, TensorValue) and index.dtype in {"bool", "uint8"}:
            dim += len(index.shape)
            continue
        if isinstance(index, TensorValue) and dim < len(shape):
            found[place, at] = IndexRange(shape[dim])
        dim += 1
    return found
