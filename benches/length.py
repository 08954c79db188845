"""Whether a long trace takes as much time for each event as a short one."""

from __future__ import annotations

from collections.abc import Callable

from case import Measured, compared
from fresh import on, processors, read_once
from inputs import Input, long, short
from pairs import Measure, alternate

NUM_PAIRS = 9


def measure() -> list[Measured]:
    """Each in a fresh process, which has to ask for all its memory."""
    return beside_short(_per_event, NUM_PAIRS)


def beside_short(per_event: Callable[[Input], Measure], num_pairs: int) -> list[Measured]:
    """Measures the cost per event of the long trace relative to the short one."""
    with on(processors()[-1:]):
        pairs = alternate(per_event(long()), per_event(short()), num_pairs)
    return [compared(long().name, pairs, pairs.ratios, "ns", f"{short().name}; both for each event")]


def _per_event(source: Input) -> Measure:
    def seconds() -> float:
        read = read_once("kinetoscope", source.path)
        return read.processor_seconds[0] / read.num_events

    return seconds
