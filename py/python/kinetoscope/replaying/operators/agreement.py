"""Whether results agree with those of an operator: tolerances by type, relative to their size."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple, final

_TOLERANCES = {"float64": 1e-10, "float32": 1e-5}
"""Largest root mean square of differences, relative to that of the results.

Other types have the distance between 1 and the next larger number: each result may be rounded
differently.
"""
_PEAK = 4
"""Largest single difference, in tolerances of the largest result."""
_ROUGH = 1e-5
"""Largest difference that a rough comparison ignores: the absolute tolerance of torch."""
_SIGNED = {"uint16": "int16", "uint32": "int32", "uint64": "int64"}
"""Types that torch does not compare, and those with the same bytes that it does."""


class Verdict(NamedTuple):
    """Outcome of a comparison."""

    problem: str
    """The first difference; empty without one."""
    num_compared: int
    """Number of results that have values to compare: numbers, and tensors with elements but NaN."""


@final
class Agreement:
    """Compares results with torch."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch

    def compare(
        self, found: Any, expected: Any, inputs: Any, *, ignored: Collection[int] = (), is_rough: bool = False
    ) -> Verdict:
        """Compares all results: tensors, numbers, and those in lists, but for the ignored ones.

        `inputs` are the arguments: results are as exact as the least exact of them. A rough
        comparison ignores differences that are small beside 1.
        """
        own, wanted = list(leaves(found)), list(leaves(expected))
        if len(own) != len(wanted):
            return Verdict(f"expected {len(wanted)} results, found {len(own)}", 1)
        least, floor = self._least(inputs), _ROUGH if is_rough else 0.0
        num_compared = 0
        for at, (mine, right) in enumerate(zip(own, wanted, strict=True)):
            verdict = self._of_leaf(mine, right, least, floor) if at not in ignored else Verdict("", 0)
            num_compared += verdict.num_compared
            if verdict.problem:
                return Verdict(f"result {at}: {verdict.problem}", num_compared)
        return Verdict("", num_compared)

    def unsteady(self, again: Any, made: Any, inputs: Any) -> frozenset[int]:
        """Returns the places of results that two runs of an operator make differently."""
        least = self._least(inputs)
        pairs = enumerate(zip(leaves(again), leaves(made), strict=False))
        return frozenset(at for at, (mine, right) in pairs if self._of_leaf(mine, right, least, 0.0).problem)

    def is_constant(self, made: Sequence[Any]) -> bool:
        """Whether all results are truth values, and all the same: a constant agrees with those."""
        found = [each for each in leaves(made) if isinstance(each, self._torch.Tensor) and each.numel()]
        if not found or any(each.dtype != self._torch.bool for each in found):
            return False
        return all(bool(each.all()) for each in found) or not any(bool(each.any()) for each in found)

    def _least(self, inputs: Any) -> float:
        """Returns the tolerance of the least exact input."""
        return max((self._of_type(each.dtype) for each in leaves(inputs) if self._is_rounded(each)), default=0.0)

    def _of_leaf(self, found: Any, expected: Any, least: float, floor: float) -> Verdict:
        if isinstance(expected, self._torch.Tensor):
            return self._of_tensor(found, expected, least, floor)
        if isinstance(expected, (bool, int, float, complex)):
            if not isinstance(found, (bool, int, float, complex)):
                return Verdict(f"expected a number, found {_kind(found)}", 1)
            return Verdict(_number_problem(found, expected, least, floor), 1)
        is_same = (found is None) == (expected is None)
        return Verdict("" if is_same else f"expected {_kind(expected)}, found {_kind(found)}", int(not is_same))

    def _of_tensor(self, found: Any, expected: Any, least: float, floor: float) -> Verdict:
        torch = self._torch
        if not isinstance(found, torch.Tensor):
            return Verdict(f"expected a tensor, found {_kind(found)}", 1)
        for name, mine, right in (
            ("the shape", tuple(found.shape), tuple(expected.shape)),
            ("the type", found.dtype, expected.dtype),
            ("the layout", found.layout, expected.layout),
        ):
            if mine != right:
                return Verdict(f"expected {name} {right}, found {mine}", 1)
        if found.device != expected.device:
            return Verdict(f"expected a tensor on {expected.device}, found one on {found.device}", 1)
        found, expected = _dense(found), _dense(expected)
        if not expected.numel():
            return Verdict("", 0)
        if not (expected.dtype.is_floating_point or expected.dtype.is_complex):
            return Verdict(self._exact_problem(found, expected), 1)
        tolerance = max(self._of_type(expected.dtype), least)
        return self._of_floats(found, expected, tolerance, floor + self._smallest(expected.dtype))

    def _exact_problem(self, found: Any, expected: Any) -> str:
        name = _SIGNED.get(_name(expected.dtype))
        if name is not None:
            found, expected = (each.view(getattr(self._torch, name)) for each in (found, expected))
        number = int((found != expected).sum())
        return f"{number:,} of {expected.numel():,} elements differ" if number else ""

    def _of_floats(self, found: Any, expected: Any, tolerance: float, floor: float) -> Verdict:
        torch = self._torch
        found, expected = self._wide(found), self._wide(expected)
        is_finite = torch.isfinite(expected)
        number = int(is_finite.sum())
        if number != expected.numel() or not bool(torch.isfinite(found).all()):
            same = (found == expected) | (torch.isnan(found) & torch.isnan(expected))
            odd = int((~torch.where(is_finite, torch.isfinite(found), same)).sum())
            if odd:
                return Verdict(f"{odd:,} of {expected.numel():,} elements differ in being finite", 1)
        if not number:
            return Verdict("", int(not bool(torch.isnan(expected).all())))
        zero = torch.zeros((), dtype=expected.dtype, device=expected.device)
        apart = torch.where(is_finite, found - expected, zero).abs()
        size = torch.where(is_finite, expected, zero).abs()
        largest, peak = float(apart.max()), float(size.max())
        mean, usual = (_root_mean_square(torch, each, number) for each in (apart, size))
        if largest <= _PEAK * tolerance * peak + floor and mean <= tolerance * usual + floor:
            return Verdict("", 1)
        told = f"differences up to {largest:.3g} of values up to {peak:.3g}"
        told = f"{told}, and {mean:.3g} of {usual:.3g} in root mean square"
        return Verdict(f"{told}; allowed: {_PEAK * tolerance:.2g} and {tolerance:.2g} of the values", 1)

    def _wide(self, values: Any) -> Any:
        """Returns floats of a type that computes differences exactly enough."""
        torch = self._torch
        if values.dtype.is_complex:
            return values.to(torch.complex64) if values.element_size() < _COMPLEX_BYTES else values
        return values if values.element_size() >= _FLOAT_BYTES else values.to(torch.float32)

    def _is_rounded(self, value: Any) -> bool:
        """Whether values are floats of a type in which operators compute."""
        is_float = isinstance(value, self._torch.Tensor) and (value.dtype.is_floating_point or value.dtype.is_complex)
        return is_float and value.element_size() > 1

    def _of_type(self, dtype: Any) -> float:
        limits = self._torch.finfo(dtype)
        return _TOLERANCES.get(limits.dtype, float(limits.eps))

    def _smallest(self, dtype: Any) -> float:
        """Returns the distance of the smallest numbers, which are rounded to it."""
        limits = self._torch.finfo(dtype)
        return 2 * float(limits.smallest_normal) * float(limits.eps)


_FLOAT_BYTES, _COMPLEX_BYTES = 4, 8
"""Bytes of single precision."""


def leaves(values: Any) -> Iterator[Any]:
    """Yields values and those in lists and dictionaries, in order."""
    if isinstance(values, dict):
        values = tuple(values.values())
    if isinstance(values, (list, tuple)):
        for value in values:
            yield from leaves(value)
    else:
        yield values


def _number_problem(found: complex, expected: complex, least: float, floor: float) -> str:
    if found == expected or (found != found and expected != expected):  # noqa: PLR0124 - NaN differs from itself
        return ""
    is_exact = isinstance(found, int) and isinstance(expected, int)
    allowed = max(least, _TOLERANCES["float64"]) * abs(expected) + floor
    if not is_exact and math.isfinite(allowed) and abs(found - expected) <= allowed:
        return ""
    return f"expected {expected}, found {found}"


def _root_mean_square(torch: Any, values: Any, number: int) -> float:
    return float(torch.linalg.vector_norm(values, dtype=torch.float64)) / math.sqrt(number)


def _dense(values: Any) -> Any:
    return values.dequantize() if values.is_quantized else values.to_dense()


def _name(dtype: Any) -> str:
    return str(dtype).rpartition(".")[2]


def _kind(value: Any) -> str:
    return "none" if value is None else f"a value of the type {type(value).__name__}"
