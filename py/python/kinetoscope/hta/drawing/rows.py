"""Horizontal bars as SVG, with room for long names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinetoscope.hta.drawing import svg
from kinetoscope.hta.drawing.marks import marks

if TYPE_CHECKING:
    from kinetoscope.hta.drawing.bars import Bars

_WIDEST_NAME = 330.0
_THICKNESS = 8.0
_GAP = 8.0


def row_height(bars: Bars) -> float:
    """Returns the height of a category in pixels."""
    return _THICKNESS * (1 if bars.is_stacked else len(bars.series)) + _GAP


def rows_svg(bars: Bars) -> str:
    """Returns a complete SVG document."""
    keys, top = svg.legend(bars.legend(), 0)
    height = row_height(bars) * len(bars.categories)
    left = min(_WIDEST_NAME, svg.LETTER * max((len(name) for name in bars.categories), default=1)) + 10
    top += 14 if height > svg.TALL else 6
    box = (left, top, svg.WIDTH - left - 30, height)
    body = [keys, svg.horizontal_axis(bars.span(), bars.unit, box), _names(bars, left, top), _boxes(bars, box)]
    return svg.document((bars.title, bars.value_title), "".join(body), (svg.WIDTH, top + height + 18))


def _names(bars: Bars, left: float, top: float) -> str:
    parts = []
    for place, name in enumerate(bars.categories):
        words = svg.tooltip(bars.notes[place] if bars.notes else name) + svg.clipped(name, left - 10)
        parts.append(svg.text_at(left - 8, top + row_height(bars) * (place + 0.5) + 4, words, "end", 0.9))
    return "".join(parts)


def _boxes(bars: Bars, box: tuple[float, float, float, float]) -> str:
    (low, high), (left, top, width, _), room = bars.span(), box, row_height(bars)
    scale, parts = width / (high - low), []
    for mark in marks(bars, room, room - _GAP):
        x = left + (min(mark.start, mark.end) - low) * scale
        place = (x, top + room * mark.category + mark.offset, abs(mark.end - mark.start) * scale, mark.thickness)
        parts.append(svg.rect(place, bars.colour(mark.series), bars.words(bars.series[mark.series], mark.category)))
    return "".join(parts)
