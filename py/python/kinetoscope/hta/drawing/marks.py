"""Position and size of bars within their category."""

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
    """Distance from the start of the category, in pixels."""
    thickness: float
    """Thickness in pixels."""


def marks(bars: Bars, room: float, most: float) -> Iterator[Mark]:
    """Yields the bars of all categories.

    A category is `room` pixels wide; its bars fill at most `most` pixels.
    """
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
    """Returns the value, or 0 for NaN and infinity."""
    return float(value) if math.isfinite(value) else 0.0
