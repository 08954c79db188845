"""Vertical bars as SVG."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kinetoscope.hta.drawing import svg
from kinetoscope.hta.drawing.marks import marks

if TYPE_CHECKING:
    from kinetoscope.hta.drawing.bars import Bars

_HEIGHT = 200.0
_THICKEST = 90.0
_WIDEST_NAME = 90.0
_LEAST_PITCH = 3.0


@dataclass(frozen=True)
class _Frame:
    """The area between the axes, in pixels, and its values."""

    left: float
    top: float
    width: float
    span: tuple[float, float]

    def y(self, value: float) -> float:
        low, high = self.span
        return self.top + _HEIGHT - (value - low) / (high - low) * _HEIGHT


def columns_svg(bars: Bars) -> str:
    """Returns a complete SVG document."""
    keys, height = svg.legend(bars.legend(), 0)
    left = svg.axis_width(bars.span(), bars.unit)
    beside = 1 if bars.is_stacked else len(bars.series)
    width = max(svg.WIDTH - left, _LEAST_PITCH * len(bars.categories) * beside)
    frame = _Frame(left, height + 12, width, bars.span())
    bottom = frame.top + _HEIGHT
    body = [
        keys,
        svg.vertical_axis(frame.span, bars.unit, (left, frame.top, width, _HEIGHT)),
        _boxes(bars, frame),
        _names(bars, frame),
        svg.text_at(left + width / 2, bottom + 32, svg.escaped(bars.category_title), "middle"),
    ]
    return svg.document((bars.title, bars.value_title), "".join(body), (left + width, bottom + 34))


def _boxes(bars: Bars, frame: _Frame) -> str:
    parts = []
    room = frame.width / max(len(bars.categories), 1)
    for mark in marks(bars, room, _THICKEST):
        one, x = bars.series[mark.series], frame.left + room * mark.category + mark.offset
        y, height = frame.y(max(mark.start, mark.end)), abs(frame.y(mark.start) - frame.y(mark.end))
        words = bars.words(one, mark.category)
        parts.append(svg.rect((x, y, mark.thickness, height), bars.colour(mark.series), words))
        if one.low is not None and one.high is not None:
            ends = frame.y(one.low[mark.category]), frame.y(one.high[mark.category])
            parts.append(_whisker(x + mark.thickness / 2, *ends))
    return "".join(parts)


def _whisker(x: float, low: float, high: float) -> str:
    return svg.path(f"M{x - 3:.1f} {high:.1f}h6m-3 0V{low:.1f}m-3 0h6", 0.8)


def _names(bars: Bars, frame: _Frame) -> str:
    """Draws names under the bars (every n-th if space is short), and dashes for missing bars."""
    room = frame.width / max(len(bars.categories), 1)
    widest = svg.LETTER * max((len(name) for name in bars.categories), default=1) + 6
    every = max(1, math.ceil(min(widest, _WIDEST_NAME) / room))
    bottom, parts = frame.top + _HEIGHT, []
    for place, name in enumerate(bars.categories):
        x = frame.left + room * (place + 0.5)
        if place % every == 0:
            parts.append(svg.text_at(x, bottom + 15, svg.clipped(name, max(_WIDEST_NAME, room)), "middle"))
        if all(math.isnan(one.values[place]) for one in bars.series):
            parts.append(svg.text_at(x, bottom - 6, "–", "middle"))
    return "".join(parts)
