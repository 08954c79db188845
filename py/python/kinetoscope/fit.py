"""Pages of a size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from kinetoscope import _native

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

Ranked = Sequence["tuple[int | None, Trace]"]
"""Traces, each with its rank."""

_UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "B": 1, "": 1}
_ATTEMPTS = 4


def num_bytes(size: int | str) -> int:
    """Bytes: a number, or one with a unit, such as `"10MB"`. ValueError for anything else."""
    text = str(size).strip()
    number = text.rstrip("BKMGIbkmgi ")
    unit = text[len(number) :].strip().upper()
    try:
        return int(float(number) * _UNITS[unit])
    except (KeyError, ValueError, OverflowError):
        raise ValueError(f"expected a size such as 10MB, found {size!r}") from None


def fitting_page(traces: Ranked, max_size: int | str | None, page: Callable[[Ranked], str]) -> bytes:
    """The page of traces, of which as much is left out as it takes for the page to have that size at most.

    ValueError when the page of what always stays, device work with what launched it, is larger.
    """
    made = page(traces).encode("utf-8", "replace")
    if max_size is None:
        return made
    limit = num_bytes(max_size)
    smaller, sizes = traces, [len(trace.snapshot()) for _, trace in traces]
    for _ in range(_ATTEMPTS):
        excess = len(made) - limit
        if excess <= 0:
            return made
        room = max(sum(sizes) + excess * -3 // 4 - 3 * len(sizes), 0)  # base64 has four bytes for three
        try:
            smaller = [
                (rank, trace.thin(room * size // sum(sizes))) for (rank, trace), size in zip(traces, sizes, strict=True)
            ]
        except _native.TraceError:
            break
        made = page(smaller).encode("utf-8", "replace")
        sizes = [min(size, len(trace.snapshot())) for size, (_, trace) in zip(sizes, smaller, strict=True)]
    raise ValueError(f"expected a larger max_size than {limit:,} bytes, found a page of {len(made):,} at the least")
