"""Warnings that point at the caller's line."""

from __future__ import annotations

import sys
import warnings

from kinetoscope._base import text


def warn(message: str) -> None:
    """Issues a RuntimeWarning at the nearest caller outside of this package."""
    package = __name__.partition(".")[0]
    level, frame = 1, sys._getframe()  # noqa: SLF001 - `warnings` itself counts frames this way
    while frame.f_back and str(frame.f_globals.get("__name__")).partition(".")[0] == package:
        level, frame = level + 1, frame.f_back
    warnings.warn(text.printable_lines(message), RuntimeWarning, stacklevel=level)
