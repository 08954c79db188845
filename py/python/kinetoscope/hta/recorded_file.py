"""Properties of a trace file that the trace's tables lack."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kinetoscope.trace import Trace


def clock_ns(trace: Trace) -> int:
    """Returns the difference between a time in the tables and the same time in the file, in ns.

    The difference is the file's `baseTimeNanoseconds`, or 0 if the file's times include it.
    """
    base = trace.metadata["kineto"].get("baseTimeNanoseconds")
    base_ns = int(base) if str(base).isdecimal() else 0
    if base_ns == 0 or trace.num_events == 0:
        return 0
    part = _first_instant(trace)
    with tempfile.TemporaryDirectory() as folder:
        elements = json.loads(part.to_chrome(Path(folder, "trace.json")).read_bytes())["traceEvents"]
    event, start_ns = part.events.select("id", "start_ns").rows(0, 1)[0]
    return base_ns if start_ns - 1000 * elements[event]["ts"] > base_ns / 2 else 0


def has_events_alone(trace: Trace) -> bool:
    """Returns whether all elements of `traceEvents` are events with a duration.

    Metadata, flows, instants and counters have no duration.
    """
    ids = trace.events.select("id").to_arrow()["id"]
    if len(ids) == 0 or ids[-1].as_py() + 1 != len(ids):
        return False
    if len(trace.instants) or len(trace.counters) or len(trace.flows):
        return False
    part = _first_instant(trace)  # a part of the trace keeps the metadata
    return part.original_ids is not None and len(part.original_ids) == part.num_events


def _first_instant(trace: Trace) -> Trace:
    """Returns the events at the start of the first event, to inspect the file's notation."""
    ((start_ns,),) = trace.events.select("start_ns").rows(0, 1)
    return trace.trim(start_ns=start_ns, end_ns=start_ns + 1)
