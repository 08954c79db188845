"""Units of values in pictures, and round numbers for axes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from kinetoscope._base import text

_STEPS = (1, 2, 5, 10)
_NUM_TICKS = 6


@dataclass(frozen=True)
class Unit:
    """A unit of measurement, with formats for SVG and plotly."""

    words: Callable[[float], str]
    """Formats a value, with its unit."""
    symbol: str = ""
    """Suffix of a plotly axis title."""
    tick_format: str = ""
    """The d3 format of a plotly axis."""
    factor: float = 1
    """Values per unit of a plotly axis."""
    base: int = 10
    """Base of round numbers: 10, or 1024 for powers of two."""

    def title(self, name: str) -> str:
        """Returns the title of a plotly axis."""
        return f"{name} ({self.symbol})" if self.symbol else name


def _percent(value: float) -> str:
    return f"{round(100 * value, 2):,g} %".replace("-", "−")


def _count(value: float) -> str:
    return f"{round(value, 3):,.10g}".replace("-", "−")


COUNT = Unit(_count)
MICROSECONDS = Unit(lambda value: text.duration(1000 * value) if value else "0", "µs")
SHARE = Unit(_percent, tick_format=".0%")
BYTES = Unit(lambda value: text.size(value) if value else "0", "GiB", factor=1024**3, base=1024)


def ticks(low: float, high: float, unit: Unit, most: int = _NUM_TICKS) -> list[float]:
    """Returns round numbers from `low` to `high`, up to `most` steps; none for an empty range."""
    span = high - low
    if not math.isfinite(span) or span <= 0:
        return []
    scale = 1.0
    while unit.base != 10 and span / scale >= unit.base:  # noqa: PLR2004 - decimal
        scale *= unit.base
    step = _step(span / scale, most) * scale
    first = math.ceil(low / step)
    return [number * step for number in range(first, math.floor(high / step) + 1)]


def _step(span: float, most: int) -> float:
    magnitude = 10 ** math.floor(math.log10(span / most))
    return next(size * magnitude for size in _STEPS if span / (size * magnitude) <= most)
