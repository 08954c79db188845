"""Histogram of a value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy

from kinetoscope.hta.drawing import svg
from kinetoscope.hta.drawing.picture import heading, plain
from kinetoscope.hta.drawing.units import COUNT, MICROSECONDS, Unit

_HEIGHT = 180.0
_Numbers = Any  # any array-like of numbers


@dataclass(frozen=True)
class Histogram:
    """Counts of values in up to `max_bins` bins of equal width."""

    title: str
    values: _Numbers
    value_title: str
    unit: Unit = MICROSECONDS
    max_bins: int = 100

    def svg(self) -> str:
        """Returns a complete SVG document."""
        counts, edges = self._bins()
        if not len(counts):
            return svg.document((self.title, ""), svg.text_at(0, 12, "no values"), (svg.WIDTH, 16))
        across, up = (float(edges[0]), float(edges[-1])), (0.0, float(counts.max()))
        left = svg.axis_width(up, COUNT)
        box = (left, 8.0, svg.WIDTH - left - 20, _HEIGHT)
        body = svg.horizontal_axis(across, self.unit, box) + svg.vertical_axis(up, COUNT, box)
        body += self._boxes(counts, edges, box)
        body += svg.text_at(left + box[2] / 2, _HEIGHT + 40, svg.escaped(self.value_title), "middle")
        title = (self.title, f"{len(self._finite()):,} values")
        return svg.document(title, body, (svg.WIDTH, _HEIGHT + 42))

    def figure(self) -> Any:
        """Returns the plotly figure."""
        import plotly.graph_objects as go

        counts, edges = self._bins()
        words = [f"{COUNT.words(count)}: {self._range(edges, at)}" for at, count in enumerate(counts)]
        bins = go.Bar(
            x=(edges[:-1] + edges[1:]) / 2,
            y=counts,
            width=numpy.diff(edges),
            customdata=words,
            hovertemplate="%{customdata}<extra></extra>",
            marker={"color": svg.COLOURS[0]},
        )
        found = go.Figure([bins])
        across = plain(self.unit.title(self.value_title))
        found.update_layout(title=heading(self.title), xaxis_title=across, yaxis_title="Count", bargap=0)
        return found

    def _finite(self) -> Any:
        values = numpy.asarray(self.values, dtype=float)
        return values[numpy.isfinite(values)]

    def _bins(self) -> tuple[Any, Any]:
        values = self._finite()
        if not len(values):
            return numpy.zeros(0, dtype=int), numpy.zeros(1)
        edges = numpy.histogram_bin_edges(values, "sqrt")
        if len(edges) - 1 > self.max_bins:
            edges = numpy.histogram_bin_edges(values, self.max_bins)
        return numpy.histogram(values, edges)

    def _range(self, edges: Any, at: int) -> str:
        return f"{self.unit.words(float(edges[at]))} to {self.unit.words(float(edges[at + 1]))}"

    def _boxes(self, counts: Any, edges: Any, box: tuple[float, float, float, float]) -> str:
        left, top, width, height = box
        slot = width / len(counts)
        parts = []
        for at in map(int, numpy.flatnonzero(counts)):
            tall = counts[at] / counts.max() * height
            place = (left + slot * at, top + height - tall, max(slot - 0.5, 0.5), tall)
            parts.append(svg.rect(place, svg.COLOURS[0], f"{counts[at]:,}: {self._range(edges, at)}"))
        return "".join(parts)
