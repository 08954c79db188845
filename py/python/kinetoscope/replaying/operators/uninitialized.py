"""Operators that make tensors without values, such as `aten::empty`, and those that fill them."""

from __future__ import annotations

from kinetoscope.replaying.operators.call import OperatorCall
from kinetoscope.replaying.operators.value import TensorValue, tensors

_MAKERS = {
    *("empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided"),
    *("_empty_affine_quantized", "_empty_per_channel_affine_quantized", "empty_quantized"),
}
_FILLERS = {
    *("fill_", "zero_", "copy_", "normal_", "uniform_", "random_", "exponential_", "bernoulli_"),
    *("geometric_", "log_normal_", "cauchy_", "_foreach_zero_", "_foreach_copy_"),
}


def is_uninitialized(call: OperatorCall | None) -> bool:
    """Whether results have the values that the memory had before."""
    return call is not None and call.name.partition("::")[2] in _MAKERS


def is_overwritten(call: OperatorCall | None, value: TensorValue, num_bytes: int) -> bool:
    """Whether a call overwrites all of an argument in a storage of so many bytes.

    Whole numbers are never taken as overwritten: if that call fails, old memory would be an index.
    """
    if call is None or value.dtype == "bool" or value.is_integer or value.num_elems * value.elem_bytes < num_bytes:
        return False
    is_filler = call.name.partition("::")[2] in _FILLERS
    for argument in call.arguments:
        parameter = argument.parameter
        if parameter is not None and any(each is value for each in tensors([argument.value])):
            return parameter.is_written and (parameter.is_keyword or (is_filler and parameter.name == "self"))
    return False
