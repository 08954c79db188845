"""Copies of tensors that share memory as the tensors do, with the same or with other values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, final

_ALIGNMENT = 16
"""Bytes of the largest element: copied memory begins where an element of any type may begin."""

Fill = Callable[[Any], None]


class _Span(NamedTuple):
    """Part of a storage, in bytes."""

    begin: int
    end: int

    def overlaps(self, other: _Span) -> bool:
        """Whether parts of one storage have common bytes."""
        return self.begin < other.end and other.begin < self.end


@final
class Copying:
    """Copies tensors with torch."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch

    def copies(self, values: Any, fill: Fill | None = None, kept: Any = ()) -> Any:
        """Returns values with copies of their tensors, in the same layout.

        Tensors of one storage share a copied one: an operator that writes an argument sees it in
        the others. `fill` gives floats and truth values others, but for memory of `kept` tensors.
        """
        spans: defaultdict[int, list[_Span]] = defaultdict(list)
        memory: dict[int, tuple[int, Any]] = {}
        found = list(self.tensors(values))
        for each in found:
            spans[_storage(each)].append(_span(each))
        for each in found:
            key = _storage(each)
            if key not in memory:
                begin = min(span.begin for span in spans[key]) // _ALIGNMENT * _ALIGNMENT
                memory[key] = begin, self._bytes(each, _Span(begin, max(span.end for span in spans[key])))
        fixed: defaultdict[int, list[_Span]] = defaultdict(list)
        for each in (*self.tensors(kept), *(each for each in found if not _takes_any(each))):
            fixed[_storage(each)].append(_span(each))

        def copied(each: Any) -> Any:
            key, span = _storage(each), _span(each)
            is_fixed = not _takes_any(each) or any(span.overlaps(other) for other in fixed[key])
            return self._copied(each, memory[key], None if is_fixed else fill)

        return self._mapped(values, copied)

    def _mapped(self, values: Any, function: Callable[[Any], Any]) -> Any:
        if isinstance(values, self._torch.Tensor):
            return function(values)
        if isinstance(values, dict):
            return {key: self._mapped(value, function) for key, value in values.items()}
        if isinstance(values, (list, tuple)):
            return type(values)(self._mapped(value, function) for value in values)
        return values

    def _bytes(self, values: Any, span: _Span) -> Any:
        """Copies a part of the storage of a tensor."""
        flat = self._torch.empty(0, dtype=self._torch.uint8, device=values.device)
        return flat.set_(values.untyped_storage(), span.begin, (span.end - span.begin,), (1,)).clone()

    def _copied(self, values: Any, memory: tuple[int, Any], fill: Fill | None) -> Any:
        """Returns a tensor in copied memory.

        With other values, repeated elements get memory of their own: equal gradients hide faults.
        """
        if fill is not None and 0 in values.stride():
            values = values.contiguous()
            memory = _span(values).begin, self._bytes(values, _span(values))
        begin, flat = memory
        span, size = _span(values), values.element_size()
        made = self._torch.empty(0, dtype=values.dtype, device=values.device)  # no view: some operators refuse those
        if fill is not None and values.numel():
            place = (span.begin - begin) // size
            fill(made.set_(flat.untyped_storage(), place, ((span.end - span.begin) // size,), (1,)))
        made.set_(flat.untyped_storage(), (span.begin - begin) // size, values.shape, values.stride())
        made = made.conj() if values.is_conj() else made
        return self._torch._neg_view(made) if values.is_neg() else made  # noqa: SLF001 - torch has no public name

    def tensors(self, values: Any) -> Iterator[Any]:
        """Yields the tensors among values."""
        if isinstance(values, self._torch.Tensor):
            yield values
        elif isinstance(values, dict):
            for value in values.values():
                yield from self.tensors(value)
        elif isinstance(values, (list, tuple)):
            for value in values:
                yield from self.tensors(value)


def _takes_any(values: Any) -> bool:
    """Whether a tensor has values of a type that `fill` makes: whole numbers may be indices."""
    return values.dtype.is_floating_point or values.dtype.is_complex or str(values.dtype) == "torch.bool"


def _storage(values: Any) -> int:
    return int(values.untyped_storage().data_ptr())


def _span(values: Any) -> _Span:
    if not values.numel():
        return _Span(0, 0)
    size, begin = values.element_size(), values.storage_offset()
    last = sum((length - 1) * step for length, step in zip(values.shape, values.stride(), strict=True))
    return _Span(begin * size, (begin + last + 1) * size)
