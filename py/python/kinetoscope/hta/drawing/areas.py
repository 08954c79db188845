"""Stacked areas: values over time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy

from kinetoscope.hta.drawing import svg
from kinetoscope.hta.drawing.picture import heading, plain
from kinetoscope.hta.drawing.units import BYTES, MICROSECONDS, Unit

_HEIGHT = 300.0


@dataclass(frozen=True)
class Areas:
    """Stacked layers, the first at the bottom; each value holds until the next time."""

    title: str
    milliseconds: Any
    """Times in ms, ascending."""
    layers: Mapping[str, Any]
    """Values by name, one per time."""
    shades: Mapping[str, str]
    value_title: str
    unit: Unit = BYTES

    def svg(self) -> str:
        """Returns a complete SVG document."""
        keys, top = svg.legend({name: self.shades[name] for name in reversed(list(self.layers))}, 0)
        top += 12
        times, tops = self._drawn()
        if len(times) == 0:
            return svg.document((self.title, ""), svg.text_at(0, 12, "no values"), (svg.WIDTH, 16))
        across, up = (float(times[0]), float(times[-1]) or 1.0), (min(0.0, tops.min()), float(tops.max()) or 1.0)
        left = svg.axis_width(up, self.unit)
        box = (left, top, svg.WIDTH - left - 20, _HEIGHT)
        body = keys + self._shapes(times, tops, (across, up), box)
        body += svg.vertical_axis(up, self.unit, box)
        body += svg.horizontal_axis((1000 * across[0], 1000 * across[1]), MICROSECONDS, box)
        body += svg.text_at(left + box[2] / 2, top + _HEIGHT + 32, "Time", "middle")
        peak = f"{self.value_title}, at most {self.unit.words(float(self._tops().max()))}"
        return svg.document((self.title, peak), body, (svg.WIDTH, top + _HEIGHT + 34))

    def figure(self) -> Any:
        """Returns the plotly figure."""
        import plotly.graph_objects as go

        found = go.Figure()
        for name, values in self.layers.items():
            layer = go.Scatter(
                x=self.milliseconds,
                y=numpy.asarray(values) / self.unit.factor,
                name=plain(name),
                mode="lines",
                line={"shape": "hv", "width": 0.5, "color": self.shades[name]},
                fillcolor=self.shades[name],
                stackgroup="all",
            )
            found.add_trace(layer)
        found.update_layout(
            title=heading(self.title),
            height=800,
            width=1200,
            legend_traceorder="reversed",
            xaxis_title="Time (ms)",
            yaxis_title=self.unit.title(self.value_title),
        )
        return found

    def _tops(self) -> Any:
        """Returns the upper edge of each layer (rows) at each time (columns)."""
        layers = [numpy.asarray(values, dtype=float) for values in self.layers.values()]
        return numpy.cumsum(layers, axis=0) if layers else numpy.zeros((1, 0))

    def _drawn(self) -> tuple[Any, Any]:
        """Returns the times to draw, and the upper edges.

        Keeps three times per pixel: the first, the last and the time with the highest total.
        """
        times, tops = numpy.asarray(self.milliseconds, dtype=float), self._tops()
        if len(times) <= 2 * svg.WIDTH:
            return times, tops
        span = float(times[-1] - times[0]) or 1.0
        pixels = ((times - times[0]) / span * svg.WIDTH).astype(int)
        by_height = numpy.lexsort((tops[-1], pixels))
        bounds = numpy.flatnonzero(numpy.diff(pixels))
        kept = numpy.concatenate(
            [[0, len(times) - 1], bounds, bounds + 1, by_height[numpy.append(bounds, len(times) - 1)]]
        )
        kept = numpy.unique(kept)
        return times[kept], tops[:, kept]

    def _shapes(self, times: Any, tops: Any, spans: Any, box: tuple[float, float, float, float]) -> str:
        (start, end), (low, high) = spans
        left, top, width, height = box
        xs = left + (times - start) / ((end - start) or 1) * width
        ys = top + height - (tops - low) / (high - low) * height
        floor = numpy.full(len(xs), top + height + low / (high - low) * height)
        parts = []
        for name, upper in zip(self.layers, ys, strict=True):
            shape = f"M{_forth(xs, upper)}L{_back(xs, floor)}Z"
            parts.append(f"<path d='{shape}' fill='{self.shades[name]}'>{svg.tooltip(self._words(name))}</path>")
            floor = upper
        return "".join(parts)

    def _words(self, name: str) -> str:
        values = numpy.asarray(self.layers[name], dtype=float)
        return f"{name}: at most {self.unit.words(float(values.max()))}"


def _forth(xs: Any, ys: Any) -> str:
    """Returns a line that holds each y until the next x."""
    steps = (f"H{x:.1f}V{y:.1f}" for x, y in zip(xs[1:], ys[1:], strict=True))
    return f"{xs[0]:.1f} {ys[0]:.1f}{''.join(steps)}"


def _back(xs: Any, ys: Any) -> str:
    """Returns the line of `_forth` from its end to its start."""
    steps = (f"V{y:.1f}H{x:.1f}" for x, y in zip(xs[-2::-1], ys[-2::-1], strict=True))
    return f"{xs[-1]:.1f} {ys[-1]:.1f}{''.join(steps)}"
