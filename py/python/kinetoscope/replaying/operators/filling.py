"""Values for tensors of which a trace has only the shapes."""

from __future__ import annotations

import math
from typing import Any, final

from kinetoscope.replaying.operators.index_range import IndexRange
from kinetoscope.replaying.operators.value import TensorValue

_SMALLEST = 1e-3
_DIRECT = ("float16", "bfloat16", "float32", "float64")
"""Types of which torch makes random numbers in place."""
_UNSIGNED = ("uint16", "uint32", "uint64")
"""Types that torch neither makes at random nor compares."""


@final
class Filling:
    """Fills tensors with torch: random small floats, and whole numbers that operators accept."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch

    def fill(self, flat: Any, first: TensorValue, known: IndexRange | None) -> None:
        """Fills a storage, given as a tensor of one dimension with the type of its first tensor."""
        if not flat.numel():
            return
        if flat.dtype.is_floating_point or flat.dtype.is_complex:
            self._fill_random(flat, _scale(first))
        elif known is not None:
            self._fill_known(flat, first, known)
        elif flat.dtype == self._torch.bool:
            flat.random_(0, 2)
        else:
            flat.fill_(1)

    def _fill_random(self, flat: Any, scale: float) -> None:
        if dtype_name(flat.dtype) in _DIRECT:
            flat.uniform_(0, scale)
        else:
            flat.copy_((self._torch.rand(len(flat), device=flat.device) * scale).to(flat.dtype))

    def fill_normal(self, flat: Any, *, is_positive: bool = False) -> None:
        """Gives floats values around 1, of both signs or positive; truth values of both kinds."""
        if flat.dtype == self._torch.bool:
            flat.random_(0, 2)
            flat[-1:] = False
            flat[:1] = True
            return
        if dtype_name(flat.dtype) in _DIRECT:
            flat.normal_()
        else:
            is_complex = flat.dtype.is_complex
            wide = self._torch.complex64 if is_complex else self._torch.float32
            flat.copy_(self._torch.randn(len(flat), dtype=wide, device=flat.device).to(flat.dtype))
        if is_positive:
            flat.copy_(flat.abs() if flat.element_size() > 1 else flat.float().abs())

    def near(self, tensor: Any, other: Any) -> Any:
        """Returns values for a tensor: some are equal to those of another, some below, some above.

        The other may be a number. Differences are as large as the values: none is rounded off.
        """
        torch = self._torch
        base = torch.as_tensor(other, device=tensor.device)
        base = base.to(torch.int8) if base.dtype == torch.bool else base
        if torch.broadcast_shapes(tensor.shape, base.shape) != tensor.shape:
            base = base.flatten()[torch.randint(base.numel(), tensor.shape, device=tensor.device)]
        step = torch.randint(-1, 2, tensor.shape, device=tensor.device)
        finite = torch.nan_to_num(base)
        near = torch.where(step == 0, base, finite + step * finite.abs().clamp(min=1))
        return torch.empty_like(tensor).copy_(near)

    def _fill_known(self, flat: Any, first: TensorValue, known: IndexRange) -> None:
        if not known.is_exact:
            self._fill_whole(flat, known)
            return
        flat.zero_()
        part = flat[first.offset : first.offset + first.num_elems]
        part.copy_(self._exact(len(part), known))

    def _fill_whole(self, tensor: Any, known: IndexRange) -> None:
        end = max(known.end, known.low + 1)
        if dtype_name(tensor.dtype) in _UNSIGNED:
            tensor.copy_(self._torch.randint(known.low, end, tensor.shape, device=tensor.device))
        else:
            tensor.random_(known.low, min(end, self._largest(tensor)))

    def _largest(self, tensor: Any) -> int:
        return 2 if tensor.dtype == self._torch.bool else int(self._torch.iinfo(tensor.dtype).max)

    def _exact(self, length: int, known: IndexRange) -> Any:
        """Returns offsets in equal steps, or lengths with the known sum."""
        torch = self._torch
        if known.is_sorted or known.total is None:
            end = known.end if known.reaches_end else known.end * (length - 1) // max(length, 1)
            return torch.linspace(0, end, length, dtype=torch.float64).to(torch.int64)
        found = torch.full((length,), known.low, dtype=torch.int64)
        step = max(known.end - 1 - known.low, 1)
        spare = min(max(known.total - known.low * length, 0), step * length)
        num_full, rest = divmod(spare, step)
        found[:num_full] += step
        if rest:
            found[num_full] += rest
        return found

    def fits(self, tensor: Any, known: IndexRange) -> bool:
        """Whether values are valid. Waits for the device."""
        if not tensor.numel() or known.end <= known.low:
            return True
        if dtype_name(tensor.dtype) in _UNSIGNED:
            tensor = tensor.to(self._torch.int64)
        low, high = (int(each) for each in self._torch.aminmax(tensor))
        if known.is_sorted:
            return low >= 0 and high <= known.end and not bool((tensor.flatten().diff() < 0).any())
        is_total = known.total is None or int(tensor.sum()) == known.total
        return low >= known.low and high < known.end and is_total

    def fit(self, tensor: Any, known: IndexRange) -> None:
        """Makes values valid, in place. Does not wait for the device."""
        if not tensor.numel() or known.end <= known.low:
            return
        own = _without_repetitions(tensor)
        if known.is_exact:
            own.copy_(self._exact(own.numel(), known).reshape(own.shape))
        elif known.low:
            self._fill_whole(own, known)
        elif known.end <= self._largest(own):
            own.remainder_(known.end)


def dtype_name(dtype: Any) -> str:
    """Returns the name of a type of torch, such as `float32`."""
    return str(dtype).rpartition(".")[2]


def _scale(first: TensorValue) -> float:
    """Returns a scale that keeps sums of products near the size of their inputs."""
    return max(2 / max(math.prod(first.shape[1:]), 1), _SMALLEST) if len(first.shape) > 1 else 1.0


def _without_repetitions(tensor: Any) -> Any:
    """Returns the part of an expanded tensor that has memory of its own: torch writes no other."""
    for dim, (size, step) in enumerate(zip(tensor.shape, tensor.stride(), strict=True)):
        if step == 0 and size > 1:
            tensor = tensor.narrow(dim, 0, 1)
    return tensor
