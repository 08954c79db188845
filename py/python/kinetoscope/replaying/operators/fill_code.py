"""Code of values for the tensors of a script: a trace records none."""

from __future__ import annotations

from typing import NamedTuple

from kinetoscope.replaying.operators.call import OperatorCall
from kinetoscope.replaying.operators.index_range import PROBABILITIES, IndexRange
from kinetoscope.replaying.operators.mask_range import value_ranges
from kinetoscope.replaying.operators.value import TensorValue

_FROM_0_TO_1 = {
    *PROBABILITIES,
    *("bernoulli_", "binomial", "normal", "quantile", "nanquantile", "fractional_max_pool2d", "fractional_max_pool3d"),
    *("_standard_gamma", "_sample_dirichlet", "_dirichlet_grad"),
}
"""Operators that refuse probabilities, rates or positions outside of 0 to 1."""
_POSITIVE_DEFINITE = {"linalg_cholesky", "linalg_cholesky_ex", "cholesky"}
_CHECKED = {
    "_linalg_check_errors": ("0: no error", "torch.zeros"),
    "_assert_async": ("1: true", "torch.ones"),
    "_functional_assert_async": ("1: true", "torch.ones"),
}
"""Operators that raise errors for other values of their first argument."""
_MARGIN = 4
"""Lies above the largest eigenvalue of random matrices, beside their size."""


class FillCode(NamedTuple):
    """Code that gives a tensor its values."""

    words: str
    """Describes the values; empty for the defaults."""
    function: str = ""
    """Makes values for a shape and a device; empty for random numbers around 0."""
    suffix: str = ""
    """Code behind the tensor that sets its values."""
    end: int | None = None
    """Above the largest whole number."""


def default_fill(value: TensorValue, name: str) -> FillCode:
    """Returns the values of a tensor for which no operator states a range."""
    if value.is_integer:
        return FillCode("", "torch.ones")
    if value.dtype == "bool":
        return FillCode("", "partial(torch.randint, 2)")
    return FillCode("", "torch.rand" if is_from_0_to_1(name) else "")


def is_from_0_to_1(name: str) -> bool:
    """Whether floats of an operator, given with its namespace, are from 0 to 1."""
    return name.partition("::")[2] in _FROM_0_TO_1


def needs_own_values(name: str) -> bool:
    """Whether an operator, given with its namespace, refuses some floats, or fails on them."""
    operator = name.partition("::")[2]
    return operator in _FROM_0_TO_1 or operator in _POSITIVE_DEFINITE or operator in _CHECKED


def fill_codes(call: OperatorCall) -> dict[tuple[int, int], FillCode]:
    """Returns the values that an operator needs, by the keys of `value_ranges`."""
    name = call.name.partition("::")[2]
    found: dict[tuple[int, int], FillCode] = {}
    first = call.arguments[0].value if call.arguments else None
    if isinstance(first, TensorValue) and name in _POSITIVE_DEFINITE and _is_writable(first):
        found[0, -1] = _positive_definite(first)
    if isinstance(first, TensorValue) and name in _CHECKED:
        found[0, -1] = FillCode(*_CHECKED[name])
    for key, known in value_ranges(call).items():
        value = call.arguments[key[0]].value
        value = value[key[1]] if isinstance(value, list) else value
        if isinstance(value, TensorValue) and (not known.is_exact or _is_writable(value)):
            found[key] = _of_range(value, known)
    return found


def _is_writable(value: TensorValue) -> bool:
    """Whether each element has memory of its own, as torch needs it to write them."""
    return all(step or size <= 1 for size, step in zip(value.shape, value.stride, strict=True))


def _positive_definite(value: TensorValue) -> FillCode:
    size = value.shape[-1] if value.shape else 1
    suffix = f".add_(torch.eye({size}, device=DEVICE), alpha={size + _MARGIN})"
    return FillCode("random, plus a diagonal that makes the matrices positive definite", "", suffix)


def _of_range(value: TensorValue, known: IndexRange) -> FillCode:
    view = "" if len(value.shape) == 1 else f".view({list(value.shape)})"
    if known.is_sorted:
        end = known.end if known.reaches_end else known.end * (value.num_elems - 1) // max(value.num_elems, 1)
        suffix = f".copy_(torch.linspace(0, {end}, {value.num_elems}){view})"
        return FillCode(f"offsets in equal steps up to {known.end}", "", suffix)
    if known.total is not None and value.dtype == "bool":
        suffix = f".copy_(torch.randperm({value.num_elems}){view} < {known.total})"
        return FillCode(f"True for {known.total:,} of {value.num_elems:,}, in random places", "", suffix)
    if known.total is not None:
        suffix = f".copy_(torch.tensor({_descending(value.num_elems, known)}){view})"
        return FillCode(f"descending, with the sum {known.total:,}", "", suffix)
    if known.end == known.low + 1:
        return FillCode(f"{known.low} here", f"partial(torch.full, fill_value={known.low})")
    end = max(known.end, known.low + 1)
    words = f"from {known.low} to {end - 1}" if known.low else f"below {end}"
    function = f"partial(torch.randint, {known.low}, {end})" if known.low else f"partial(torch.randint, {end})"
    return FillCode(f"random whole numbers {words}, the valid range (real ones may repeat more)", function, "", end)


def _descending(length: int, known: IndexRange) -> str:
    """Returns code for lengths with the known sum, the largest ones first."""
    step = max(known.end - 1 - known.low, 1)
    spare = min(max((known.total or 0) - known.low * length, 0), step * length)
    num_full, rest = divmod(spare, step)
    runs = [(known.low + step, num_full), (known.low + rest, bool(rest)), (known.low, length - num_full - bool(rest))]
    return " + ".join(f"[{value}] * {count}" if count > 1 else f"[{value}]" for value, count in runs if count) or "[]"
