"""Whether a long trace takes as much time for each event as a short one."""

from __future__ import annotations

from case import Measured, compared
from fresh import on, processors, read_once
from inputs import Input, long, short
from pairs import Measure, alternate

NUM_PAIRS = 9


def measure() -> list[Measured]:
    """Each in a fresh process, which has to ask for all its memory."""
    with on(processors()[-1:]):
        pairs = alternate(_per_event(long()), _per_event(short()), NUM_PAIRS)
    return [compared(long().name, pairs, pairs.ratios, "ns", f"{short().name}; both for each event")]


def _per_event(source: Input) -> Measure:
    def seconds() -> float:
        read = read_once("kinetoscope", source.path)
        return read.processor_seconds[0] / read.num_events

    return seconds
