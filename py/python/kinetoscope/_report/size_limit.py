"""Pages of a size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from kinetoscope import _native

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

Ranked = Sequence["tuple[int | None, Trace]"]
"""Traces, each with its rank."""
Page = Callable[[Ranked, Sequence[bytes]], str]
"""Makes a page that carries these traces, given their snapshots, too."""

_UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "B": 1, "": 1}
_ATTEMPTS = 4


def num_bytes(size: int | str) -> int:
    """Bytes: a number, or one with a unit, such as `"10MB"`. ValueError for anything else."""
    text = str(size).strip()
    number = text.rstrip("BKMGIbkmgi ")
    unit = text[len(number) :].strip().upper()
    try:
        found = int(float(number) * _UNITS[unit])
    except (KeyError, ValueError, OverflowError):
        found = -1
    if found < 0:
        raise ValueError(f"expected a size such as 10MB, found {size!r}")
    return found


def fitting_page(traces: Ranked, max_size: int | str | None, page: Page) -> bytes:
    """The page of traces, of which as much is left out as it takes for the page to have that size at most.

    ValueError when the page of what always stays, device work with what launched it, is larger.
    """
    limit = None if max_size is None else num_bytes(max_size)
    made, sizes = _made(page, traces)
    if limit is None or len(made) <= limit:
        return made
    empty = max(len(made) - sum(sizes) * 4 // 3, 0)
    for _ in range(_ATTEMPTS):
        room = max(sum(sizes) + (limit - len(made)) * 3 // 4 - 3 * len(sizes), 0)  # base64 has four bytes for three
        try:
            smaller = [
                (rank, trace.shrink(room * size // sum(sizes)))
                for (rank, trace), size in zip(traces, sizes, strict=True)
            ]
        except _native.TraceError:
            break
        made, found = _made(page, smaller)
        if len(made) <= limit:
            return made
        sizes = [min(sides) for sides in zip(sizes, found, strict=True)]
    expected = f"expected a larger max_size than {limit:,} bytes, found no page that is so small"
    raise ValueError(f"{expected}: without a trace it has {empty:,}, and device work stays")


def _made(page: Page, traces: Ranked) -> tuple[bytes, list[int]]:
    """The page, and how large each snapshot in it is."""
    snapshots = [trace.snapshot() for _, trace in traces]
    return page(traces, snapshots).encode("utf-8", "replace"), [len(snapshot) for snapshot in snapshots]
