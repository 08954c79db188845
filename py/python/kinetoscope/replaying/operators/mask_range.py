"""Masks: how many of their values are true, as far as the shapes of a call state it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from kinetoscope.replaying.operators.call import OperatorCall
from kinetoscope.replaying.operators.index_range import IndexRange, index_ranges
from kinetoscope.replaying.operators.index_rules import INDEXING
from kinetoscope.replaying.operators.value import TensorValue, Value


def value_ranges(call: OperatorCall) -> dict[tuple[int, int], IndexRange]:
    """Returns the ranges of the tensors that select: indices, lengths and masks.

    Keys are those of `index_ranges`.
    """
    return {**index_ranges(call), **_mask_ranges(call)}


def _mask_ranges(call: OperatorCall) -> dict[tuple[int, int], IndexRange]:
    name = call.name.partition("::")[2]
    found: dict[tuple[int, int], IndexRange] = {}
    for place, (value, parameter) in enumerate(call.arguments):
        if parameter is None:
            continue
        if isinstance(value, list) and name in INDEXING and parameter.name == "indices":
            found.update(_indexed(call, place, value))
        elif _is_mask(value):
            count = _count(call, name, parameter.name, value)
            if count is not None:
                found[place, -1] = _of_count(value, count)
    return found


def _is_mask(value: Value) -> bool:
    return isinstance(value, TensorValue) and value.dtype == "bool"


def _of_count(value: Value, count: int) -> IndexRange:
    num_elems = value.num_elems if isinstance(value, TensorValue) else 0
    return IndexRange(2, total=max(min(count, num_elems), 0))


def _count(call: OperatorCall, name: str, parameter: str, value: Value) -> int | None:
    """Returns how many values of a mask are true; None if the call does not tell."""
    made = call.outputs
    if name == "nonzero" and parameter == "self":
        return made[0].shape[0] if made and made[0].shape else None
    if parameter != "mask":
        return None
    if name == "masked_select":
        chosen = made[0].num_elems if made else None
    elif name in {"masked_scatter", "masked_scatter_"}:
        source = call.value_of("source")
        chosen = source.num_elems if isinstance(source, TensorValue) else None
    elif name == "masked_select_backward":
        gradient = call.value_of("grad")
        chosen = gradient.num_elems if isinstance(gradient, TensorValue) else None
    elif name == "masked_scatter_backward":
        sizes = call.value_of("sizes")
        chosen = math.prod(each for each in sizes if isinstance(each, int)) if isinstance(sizes, list) else None
    else:
        return None
    return None if chosen is None else chosen // _repetitions(call, value)


def _repetitions(call: OperatorCall, mask: Value) -> int:
    """Returns how often each value of a mask is used, as it is expanded to the tensor."""
    tensor = call.value_of("self") or call.value_of("grad_output")
    if not isinstance(tensor, TensorValue) or not isinstance(mask, TensorValue) or not mask.num_elems:
        return 1
    return max(tensor.num_elems // mask.num_elems, 1)


def _indexed(call: OperatorCall, place: int, indices: Sequence[Value]) -> dict[tuple[int, int], IndexRange]:
    """Returns the counts of masks in `self[mask]`: the size of a dimension of what is selected."""
    masks = [at for at, index in enumerate(indices) if _is_mask(index)]
    if not masks:
        return {}
    count = _selected(call, indices)
    return {} if count is None else {(place, at): _of_count(indices[at], count) for at in masks}


def _selected(call: OperatorCall, indices: Sequence[Value]) -> int | None:
    tensors = [(at, index) for at, index in enumerate(indices) if isinstance(index, TensorValue)]
    numbers = [index for _, index in tensors if not _is_mask(index)]
    if numbers:
        return numbers[0].shape[0] if len(numbers[0].shape) == 1 and numbers[0].shape[0] != 1 else None
    source, values = call.value_of("self"), call.value_of("values")
    chosen = values if isinstance(values, TensorValue) else next(iter(call.outputs), None)
    if not isinstance(source, TensorValue) or chosen is None:
        return None
    first, last = tensors[0][0], tensors[-1][0]
    at = first if last - first + 1 == len(tensors) else 0
    num_dims = len(source.shape) - sum(len(index.shape) for _, index in tensors) + 1
    is_expanded = len(chosen.shape) != num_dims or (chosen is values and chosen.shape[at] == 1)
    return None if is_expanded else chosen.shape[at]
