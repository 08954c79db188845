"""Grouped or stacked bars by category."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kinetoscope.hta.drawing import svg
from kinetoscope.hta.drawing.columns import columns_svg
from kinetoscope.hta.drawing.marks import finite
from kinetoscope.hta.drawing.picture import heading, plain, plain_lines
from kinetoscope.hta.drawing.rows import row_height, rows_svg
from kinetoscope.hta.drawing.units import COUNT, Unit

_MOST_LETTERS = 54
_Span = tuple[float, float]


@dataclass(frozen=True)
class Series:
    """A bar for each category; NaN omits a bar."""

    name: str
    values: Sequence[float]
    low: Sequence[float] | None = None
    """Ends of error bars, in the unit of the values."""
    high: Sequence[float] | None = None
    colour: str | None = None


@dataclass(frozen=True)
class Bars:
    """Bars of several series by category, in the given order."""

    title: str
    categories: Sequence[str]
    series: Sequence[Series]
    category_title: str
    value_title: str
    unit: Unit = COUNT
    is_stacked: bool = False
    is_horizontal: bool = False
    """Whether bars are horizontal, with room for long names."""
    notes: Sequence[str] = ()
    """Tooltip texts of the categories, in place of their names."""

    def svg(self) -> str:
        """Returns a complete SVG document."""
        return rows_svg(self) if self.is_horizontal else columns_svg(self)

    def figure(self) -> Any:
        """Returns the plotly figure."""
        import plotly.graph_objects as go

        found = go.Figure([self._trace(go, at) for at in range(len(self.series))])
        values: dict[str, Any] = {
            "title": plain(self.unit.title(self.value_title)),
            "tickformat": self.unit.tick_format,
        }
        places: dict[str, Any] = {"title": plain(self.category_title), "automargin": True}
        if self.is_horizontal:
            names = [heading(name, _MOST_LETTERS) for name in self.categories]
            places |= {"tickvals": list(range(len(names))), "ticktext": names, "autorange": "reversed"}
        else:
            places |= {"type": "category"}
        xaxis, yaxis = (values, places) if self.is_horizontal else (places, values)
        mode = "relative" if self.is_stacked else "group"
        found.update_layout(
            title=heading(self.title),
            barmode=mode,
            colorway=svg.COLOURS,
            height=self._height(),
            xaxis=xaxis,
            yaxis=yaxis,
        )
        return found

    def _height(self) -> float:
        return 200 + row_height(self) * len(self.categories) if self.is_horizontal else 450

    def _trace(self, go: Any, at: int) -> Any:
        one = self.series[at]
        values = [value / self.unit.factor for value in one.values]
        hover = [plain_lines(self.words(one, place)) for place in range(len(values))]
        error = None
        if one.low is not None and one.high is not None:
            above = [end - value for end, value in zip(one.high, one.values, strict=True)]
            below = [value - end for end, value in zip(one.low, one.values, strict=True)]
            error = {"array": above, "arrayminus": below, "symmetric": False, "type": "data"}
        places = list(range(len(values))) if self.is_horizontal else [plain(name) for name in self.categories]
        return go.Bar(
            name=plain(one.name),
            x=values if self.is_horizontal else places,
            y=places if self.is_horizontal else values,
            error_y=error,
            orientation="h" if self.is_horizontal else "v",
            marker={"color": one.colour} if one.colour else None,
            customdata=hover,
            hovertemplate="%{customdata}<extra></extra>",
        )

    def words(self, one: Series, place: int) -> str:
        """Returns the tooltip of a bar."""
        name = self.notes[place] if self.notes else f"{self.category_title} {self.categories[place]}".strip()
        value = self.unit.words(one.values[place]) if math.isfinite(one.values[place]) else "–"
        found = f"{name}\n{one.name or self.value_title}: {value}"
        if one.low is not None and one.high is not None:
            found += f"\nfrom {self.unit.words(one.low[place])} to {self.unit.words(one.high[place])}"
        return found

    def span(self) -> _Span:
        """Returns the range of values to show, which includes 0."""
        columns = [[finite(value) for value in one.values] for one in self.series]
        ends = [finite(value) for one in self.series for value in one.high or ()]
        if self.is_stacked:
            columns = [[sum(column) for column in zip(*columns, strict=True)]]
        every = [0.0, *ends, *(value for column in columns for value in column)]
        return min(every), max(every) or 1.0

    def legend(self) -> dict[str, str]:
        """Returns the colours of the series; empty for a single series."""
        named = {one.name: self.colour(at) for at, one in enumerate(self.series)}
        return named if len(named) > 1 else {}

    def colour(self, at: int) -> str:
        """Returns the colour of a series."""
        return self.series[at].colour or svg.COLOURS[at % len(svg.COLOURS)]
