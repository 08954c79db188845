"""Checks integers that the core gets."""

from __future__ import annotations

from kinetoscope import _native


def integer(value: int | None, expected: str, *, is_signed: bool = True) -> int | None:
    """Checks an integer. Raises TypeError for another type, TraceError outside of 64 bits."""
    if value is None:
        return None
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"expected {expected}, found {type(value).__name__}")
    number = value.__index__()
    if not (-(1 << 63) if is_signed else 0) <= number < 1 << 63:
        raise _native.TraceError(f"expected {expected}, found {number}")
    return number
