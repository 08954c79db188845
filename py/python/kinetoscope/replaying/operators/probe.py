"""Inputs for the check of a replacement: which arguments take values of both signs, around 1.

The values of a step are those of a replay: small, of one sign, and after some layers nearly zero.
On them, a wrong function may look right.
"""

from __future__ import annotations

from kinetoscope.replaying.operators.call import Argument, OperatorCall
from kinetoscope.replaying.operators.fill_code import needs_own_values
from kinetoscope.replaying.operators.value import TensorValue, tensors

_SAVED = {
    *("mean", "rstd", "save_mean", "save_rstd", "save_var", "save_invstd", "saveMean", "saveInvStd", "result"),
    *("out", "output", "outputs", "logsumexp", "softmax_logsumexp", "softmax_lse", "neg_log_likelihood", "log_alpha"),
    *("total_weight", "buffer", "hy", "cy", "cy_tmp", "reserve", "workspace", "noise", "compressed"),
}
"""Results of a forward pass among the arguments of its backward pass."""
_GRADIENTS = ("grad", "dy", "tangent")
"""Begins of the names of gradients."""
_SORTED = {"sorted_sequence", "boundaries"}
"""Parameters whose values are in order."""


def refilled_places(call: OperatorCall) -> frozenset[int]:
    """Returns the places of the arguments that take any floats.

    Values that depend on each other stay. A backward pass may compute a saved result anew from the
    other arguments: only its gradients get other values.
    """
    if call.signature is None or needs_own_values(call.name):
        return frozenset()
    floats = {at: each for at, each in enumerate(call.arguments) if _has_floats(each)}
    kept = {at for at, each in floats.items() if _name(each) in _SORTED}
    if "backward" in call.name:
        others = {at for at, each in floats.items() if not _name(each).startswith(_GRADIENTS)}
        saved = {at for at in others if _name(floats[at]) in _SAVED}
        kept |= others if saved and others != saved else set()
    return frozenset(floats) - kept


def _name(argument: Argument) -> str:
    return "" if argument.parameter is None else argument.parameter.name


def _has_floats(argument: Argument) -> bool:
    found: list[TensorValue] = list(tensors([argument.value]))
    return any(each.num_elems and ("float" in each.dtype or "complex" in each.dtype) for each in found)
