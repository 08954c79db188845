"""Inputs for the check of a replacement: which arguments take values of both signs or kinds.

The values of a step are those of a replay: small, of one sign, and after some layers nearly zero.
On them, a wrong function may look right. So it does on a mask that is false everywhere.
"""

from __future__ import annotations

from kinetoscope.replaying.operators.call import Argument, OperatorCall
from kinetoscope.replaying.operators.fill_code import needs_own_values
from kinetoscope.replaying.operators.mask_range import value_ranges
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
_COMPARISONS = {"eq", "ne", "lt", "le", "gt", "ge"}
_FITTING = {
    *("masked_scatter", "masked_scatter_", "masked_scatter_backward", "masked_select_backward"),
    *("_unsafe_masked_index", "_unsafe_masked_index_put_accumulate"),
}
"""Operators whose masks fit another argument: its size, or the indices that they guard."""


def is_comparison(call: OperatorCall) -> bool:
    """Whether a call compares its first two arguments, and writes none."""
    return call.signature is not None and call.signature.namespace == "aten" and call.signature.name in _COMPARISONS


def refilled_places(call: OperatorCall) -> frozenset[int]:
    """Returns the places of the arguments that take any floats, or any truth values.

    Values that depend on each other stay. A backward pass may compute a saved result anew from the
    other arguments: only its gradients get other values.
    """
    if call.signature is None or needs_own_values(call.name):
        return frozenset()
    chosen = {at: each for at, each in enumerate(call.arguments) if _has(each, ("float", "complex"))}
    if call.signature.name not in _FITTING:
        counted = {at for at, _ in value_ranges(call)}
        masks = {at: each for at, each in enumerate(call.arguments) if at not in counted and _has(each, ("bool",))}
        chosen |= {at: each for at, each in masks.items() if _name(each) != "indices"}
    kept = {at for at, each in chosen.items() if _name(each) in _SORTED}
    if "backward" in call.name:
        others = {at for at, each in chosen.items() if not _name(each).startswith(_GRADIENTS)}
        saved = {at for at in others if _name(chosen[at]) in _SAVED}
        kept |= others if saved and others != saved else set()
    return frozenset(chosen) - kept


def _name(argument: Argument) -> str:
    return "" if argument.parameter is None else argument.parameter.name


def _has(argument: Argument, kinds: tuple[str, ...]) -> bool:
    found: list[TensorValue] = list(tensors([argument.value]))
    return any(each.num_elems and any(kind in each.dtype for kind in kinds) for each in found)
