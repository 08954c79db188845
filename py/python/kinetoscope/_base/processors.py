"""The processors that this process may use."""

from __future__ import annotations

import os


def num_processors() -> int:
    """How many there are, where the system says which."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
