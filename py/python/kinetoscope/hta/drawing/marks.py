"""Bars within the room of their category."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kinetoscope.hta.drawing.bars import Bars


@dataclass(frozen=True)
class Mark:
    """A bar from one value to another."""

    series: int
    category: int
    start: float
    end: float
    offset: float
    """Pixels from the start of the category's room."""
    thickness: float
    """Pixels."""


def marks(bars: Bars, room: float, most: float) -> Iterator[Mark]:
    """The bars of all categories, which share `room` pixels each, at most `most` of them with bars."""
    beside = 1 if bars.is_stacked else max(len(bars.series), 1)
    thickness = min(room * 0.8, most) / beside
    first = (room - thickness * beside) / 2
    for category in range(len(bars.categories)):
        ends = {True: 0.0, False: 0.0}
        for at, one in enumerate(bars.series):
            value = finite(one.values[category])
            start = ends[value < 0] if bars.is_stacked else 0.0
            ends[value < 0] += value
            offset = first + (0 if bars.is_stacked else at * thickness)
            if value or one.low is not None:
                yield Mark(at, category, start, start + value, offset, thickness)


def finite(value: float) -> float:
    """The value; 0 for NaN and infinities."""
    return float(value) if math.isfinite(value) else 0.0
