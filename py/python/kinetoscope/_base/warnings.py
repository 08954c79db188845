"""What is worth a warning: it points at the line of whoever called this package."""

from __future__ import annotations

import sys
import warnings


def warn(message: str) -> None:
    """RuntimeWarning at the nearest line outside of the package."""
    package = __name__.partition(".")[0]
    level, frame = 1, sys._getframe()  # noqa: SLF001 - `warnings` itself counts frames this way
    while frame.f_back and str(frame.f_globals.get("__name__")).partition(".")[0] == package:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, RuntimeWarning, stacklevel=level)
