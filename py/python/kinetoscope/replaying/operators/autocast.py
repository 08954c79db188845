"""Operators that were recorded above autocast, so that they compute with another type."""

from __future__ import annotations

from collections.abc import Sequence

from kinetoscope.replaying.operators.call import OperatorCall
from kinetoscope.replaying.operators.value import TensorValue

_LOW = ("float16", "bfloat16")
_LOWERED = {
    *("linear", "matmul", "mm", "bmm", "mv", "addmm", "addmv", "addr", "addbmm", "baddbmm", "chain_matmul", "prelu"),
    *("linalg_multi_dot", "einsum", "_convolution", "convolution", "conv1d", "conv2d", "conv3d", "conv_tbc"),
    *("conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "scaled_dot_product_attention"),
    *("lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell", "_thnn_fused_lstm_cell", "_thnn_fused_gru_cell"),
}
"""Operators that autocast runs with its own type."""
_CHOOSES_TYPE = {"dtype", "half_to_float", "other", "out"}
"""Parameters with which an operator itself may return another type than that of its inputs."""


def autocast_type(call: OperatorCall) -> str | None:
    """Returns the type of the autocast below a recorded operator; None if there was none."""
    given, made = _floats(call.inputs), _floats(call.outputs)[:1]
    low = sorted({each for each in given if each in _LOW})
    name = call.name.partition("::")[2]
    if name in _LOWERED and "float32" in given:
        return next((each for each in made if each in _LOW), low[0] if low and not made else None)
    chooses = any(each.parameter is not None and each.parameter.name in _CHOOSES_TYPE for each in call.arguments)
    is_raised = made == ["float32"] and bool(low) and "float32" not in given
    return low[0] if is_raised and not chooses and not name.startswith("_") else None


def low_types(call: OperatorCall) -> list[str]:
    """Returns the low types of a call, which may be those of a recorded autocast."""
    return sorted({each for each in _floats([*call.inputs, *call.outputs]) if each in _LOW})


def _floats(values: Sequence[TensorValue]) -> list[str]:
    return [each.dtype for each in values if "float" in each.dtype]
