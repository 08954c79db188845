"""Pies side by side; a name has the same colour in all pies."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from kinetoscope.hta.drawing import svg
from kinetoscope.hta.drawing.picture import heading, plain, plain_lines
from kinetoscope.hta.drawing.units import COUNT, Unit

_RADIUS = 76.0
_PITCH = 190.0
_HEIGHT = 192.0
_IN_A_ROW = 4
_MOST_LETTERS = 54


@dataclass(frozen=True)
class Pie:
    """Parts of a whole; parts of 0 do not appear."""

    label: str
    names: Sequence[str]
    values: Sequence[float]


@dataclass(frozen=True)
class Pies:
    """Several pies, in rows."""

    title: str
    pies: Sequence[Pie]
    unit: Unit = COUNT

    def svg(self) -> str:
        """Returns a complete SVG document."""
        shades = self._shades()
        body = []
        for at, pie in enumerate(self.pies):
            x, y = _RADIUS + _PITCH * (at % _IN_A_ROW), _RADIUS + _HEIGHT * (at // _IN_A_ROW) + 4
            body.append(f"<g transform='translate({x:.1f} {y:.1f})'>{self._slices(pie, shades)}</g>")
        height = _HEIGHT * math.ceil(len(self.pies) / _IN_A_ROW)
        keys, below = svg.legend(shades, height + 4, self._shares(shades))
        return svg.document((self.title, ""), "".join(body) + keys, (svg.WIDTH, height + below))

    def figure(self) -> Any:
        """Returns the plotly figure."""
        import plotly.graph_objects as go
        from plotly.subplots import make_subplots

        rows, columns = max(1, math.ceil(len(self.pies) / 2)), min(2, max(1, len(self.pies)))
        found = make_subplots(rows=rows, cols=columns, specs=[[{"type": "domain"}] * columns] * rows)
        shades = self._shades()
        labels = _distinct(shades)
        for at, pie in enumerate(self.pies):
            slices = go.Pie(
                labels=[labels[name] for name in pie.names],
                values=list(pie.values),
                marker={"colors": [shades[name] for name in pie.names]},
                title={"text": plain(pie.label), "position": "bottom center"},
                customdata=[plain_lines(words) for words in self._words(pie)],
                hovertemplate="%{customdata}<extra></extra>",
                textinfo="percent",
                textposition="inside",
            )
            found.add_trace(slices, at // columns + 1, at % columns + 1)
        found.update_layout(title=heading(self.title), height=150 + 330 * rows)
        return found

    def _shades(self) -> dict[str, str]:
        totals = self._totals()
        return svg.colours(sorted(totals, key=lambda name: -totals[name]))

    def _totals(self) -> dict[str, float]:
        totals: dict[str, float] = {}
        for pie in self.pies:
            for name, value in zip(pie.names, pie.values, strict=True):
                totals[name] = totals.get(name, 0) + float(value)
        return totals

    def _shares(self, names: Sequence[str] | dict[str, str]) -> dict[str, str]:
        totals = self._totals()
        whole = sum(totals.values()) or 1
        return {name: f"{100 * totals[name] / whole:.1f} %" for name in names}

    def _words(self, pie: Pie) -> list[str]:
        whole = sum(pie.values) or 1
        return [
            f"{name}\n{self.unit.words(float(value))}, {100 * value / whole:.1f} %"
            for name, value in zip(pie.names, pie.values, strict=True)
        ]

    def _slices(self, pie: Pie, shades: dict[str, str]) -> str:
        whole = float(sum(pie.values))
        parts, start = [], 0.0
        for name, value, words in zip(pie.names, pie.values, self._words(pie), strict=True):
            if value > 0:
                parts.append(_slice(start / whole, (start + value) / whole, shades[name], words))
                start += float(value)
        empty = "" if whole > 0 else svg.text_at(0, 4, "no time", "middle")
        return "".join(parts) + empty + svg.text_at(0, _RADIUS + 16, svg.clipped(pie.label, _PITCH), "middle", 0.9)


def _distinct(names: Iterable[str]) -> dict[str, str]:
    """Shortens labels, and numbers equal labels: plotly merges slices with equal labels."""
    found: dict[str, str] = {}
    seen: Counter[str] = Counter()
    for name in names:
        label = heading(name, _MOST_LETTERS)
        seen[label] += 1
        found[name] = label if seen[label] == 1 else f"{label} ({seen[label]})"
    return found


def _slice(start: float, end: float, colour: str, words: str) -> str:
    if end - start > 1 - 1e-9:
        return f"<circle r='{_RADIUS}' fill='{colour}'>{svg.tooltip(words)}</circle>"
    (x, y), (to_x, to_y) = _point(start), _point(end)
    is_large = int(end - start > 1 / 2)
    shape = f"M0 0L{x:.2f} {y:.2f}A{_RADIUS} {_RADIUS} 0 {is_large} 1 {to_x:.2f} {to_y:.2f}Z"
    edge = "stroke='#fff' stroke-opacity='.5' stroke-width='.6'"
    return f"<path d='{shape}' fill='{colour}' {edge}>{svg.tooltip(words)}</path>"


def _point(share: float) -> tuple[float, float]:
    """Returns the point at a share of the circle, clockwise from the top."""
    angle = 2 * math.pi * share
    return _RADIUS * math.sin(angle), -_RADIUS * math.cos(angle)
