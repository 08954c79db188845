"""Recognises windows in which nothing ran: the loop ended as their first iteration began."""

from __future__ import annotations

import json
from pathlib import Path

_MAX_BYTES = 1 << 16
"""Larger files have events of the program."""
_OWN = ("Trace", "python_function", "overhead")
"""Categories of the profiler's events, and of frames that end the loop."""


def is_stub(kineto: Path) -> bool:
    """Whether a Kineto trace has no event but those of the profiler and its iterations."""
    if kineto.stat().st_size > _MAX_BYTES:
        return False
    try:
        events = json.loads(kineto.read_bytes())["traceEvents"]
    except (ValueError, KeyError):
        return False
    timed = (event for event in events if event.get("ph") == "X" and event.get("cat") not in _OWN)
    return all(str(event.get("name")).startswith("ProfilerStep#") for event in timed)
