"""Shrinks a report to a size limit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from kinetoscope import _native

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

Ranked = Sequence["tuple[int | None, Trace]"]
"""Traces, each with its rank."""
Page = Callable[[Ranked, Sequence[bytes]], str]
"""Builds a page from traces and their snapshots."""

_UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "B": 1, "": 1}
_ATTEMPTS = 4


def num_bytes(size: int | str) -> int:
    """Parses a number of bytes, or a size with a unit such as `"10MB"`.

    Raises ValueError for other texts.
    """
    text = str(size).strip()
    number = text.rstrip("BKMGIbkmgi ")
    unit = text[len(number) :].strip().upper()
    try:
        value = int(float(number) * _UNITS[unit])
    except (KeyError, ValueError, OverflowError):
        value = -1
    if value < 0:
        raise ValueError(f"expected a size such as 10MB, found {size!r}")
    return value


def fitting_page(traces: Ranked, max_size: int | str | None, page: Page) -> bytes:
    """Builds the page of traces, with details removed until it has at most `max_size` bytes.

    Raises ValueError if the page is larger with only device work and its launches.
    """
    limit = None if max_size is None else num_bytes(max_size)
    content, sizes = _encoded(page, traces)
    if limit is None or len(content) <= limit:
        return content
    empty = max(len(content) - sum(sizes) * 5 // 4, 0)
    for _ in range(_ATTEMPTS):
        room = max(sum(sizes) + (limit - len(content)) * 4 // 5 - 4 * len(sizes), 0)  # base85 needs 5 bytes for 4
        try:
            smaller = [
                (rank, trace.shrink(room * size // sum(sizes)))
                for (rank, trace), size in zip(traces, sizes, strict=True)
            ]
        except _native.TraceError:
            break
        content, new_sizes = _encoded(page, smaller)
        if len(content) <= limit:
            return content
        sizes = [min(pair) for pair in zip(sizes, new_sizes, strict=True)]
    raise ValueError(
        f"expected a larger max_size than {limit:,} bytes, found no page that small: a page without a trace has "
        f"{empty:,}, and device work always stays; a static page (static=True, --static) needs less"
    )


def expect_size(page: bytes, max_size: int | str | None) -> bytes:
    """Returns a page. Raises ValueError if it has more than `max_size` bytes."""
    if max_size is not None and len(page) > num_bytes(max_size):
        raise ValueError(f"expected a larger max_size than {num_bytes(max_size):,} bytes, found {len(page):,}")
    return page


def _encoded(page: Page, traces: Ranked) -> tuple[bytes, list[int]]:
    """Returns the page, and the size of each snapshot in it."""
    snapshots = [trace.snapshot() for _, trace in traces]
    return page(traces, snapshots).encode("utf-8", "replace"), [len(snapshot) for snapshot in snapshots]
