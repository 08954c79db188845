"""Whether a long trace takes as much time for each event as a short one."""

from __future__ import annotations

import statistics

from case import Measured, compared
from fresh import on, processors, read_once
from inputs import Input, long, plain
from pairs import Measure, alternate

NUM_PAIRS = 5


def measure() -> list[Measured]:
    """Each in fresh processes; of the short one the median of so many reads that they take half as long together."""
    short, source = plain(), long()
    times = max(1, round(source.path.stat().st_size / short.path.stat().st_size / 2))
    with on(processors()[-1:]):
        pairs = alternate(_per_event(source, 1), _per_event(short, times), NUM_PAIRS, num_warm=0)
    return [compared(source.name, pairs, pairs.ratios, "ns", f"{short.name} alone; both for each event")]


def _per_event(source: Input, times: int) -> Measure:
    def seconds() -> float:
        read = read_once("kinetoscope", source.path, times=times)
        return statistics.median(read.processor_seconds) / read.num_events

    return seconds
