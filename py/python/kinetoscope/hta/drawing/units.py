"""Units of the numbers that pictures show, and round numbers for axes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from kinetoscope._base import text

_STEPS = (1, 2, 5, 10)
_NUM_TICKS = 6


@dataclass(frozen=True)
class Unit:
    """A unit of measurement, in words for SVG and as plotly formats it."""

    words: Callable[[float], str]
    """Formats a value, with its unit."""
    symbol: str = ""
    """Follows the title of a plotly axis."""
    tick_format: str = ""
    """The d3 format of a plotly axis."""
    factor: float = 1
    """Values per unit of a plotly axis."""
    base: int = 10
    """1024 where round numbers are powers of two."""

    def title(self, name: str) -> str:
        """The title of a plotly axis."""
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
    """Round numbers from `low` to `high`, at most `most` steps; none where the range is empty."""
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
