"""Number of available processors."""

from __future__ import annotations

import os


def num_processors() -> int:
    """Counts the processors of the affinity mask, or all if the system has no mask."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
