"""Picture of a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas

from kinetoscope.hta.drawing import svg
from kinetoscope.hta.drawing.picture import heading, plain

_PITCH = 18.0


@dataclass(frozen=True)
class Grid:
    """Columns of a frame with titles."""

    title: str
    frame: pandas.DataFrame
    titles: Mapping[str, str]
    """Titles by column, in order."""

    def svg(self) -> str:
        """Returns a complete SVG document."""
        widths = self._widths()
        body, x = [], 0.0
        for column, title in self.titles.items():
            is_number = pandas.api.types.is_numeric_dtype(self.frame[column])
            at, anchor = (x + widths[column] - 12, "end") if is_number else (x, "start")
            body.append(svg.text_at(at, 12, svg.clipped(title, widths[column]), anchor, 0.7))
            for row, value in enumerate(map(_words, self.frame[column])):
                cell = svg.tooltip(value) + svg.clipped(value, widths[column] - 12)
                body.append(svg.text_at(at, 34 + _PITCH * row, cell, anchor, 0.95))
            x += widths[column]
        body += [svg.path(f"M0 {20 + _PITCH * row:.1f}H{x:.1f}") for row in range(len(self.frame) + 1)]
        return svg.document((self.title, ""), "".join(body), (max(x, svg.WIDTH), 20 + _PITCH * len(self.frame)))

    def figure(self) -> Any:
        """Returns the plotly figure."""
        import plotly.graph_objects as go

        cells = [[plain(_words(value)) for value in self.frame[column]] for column in self.titles]
        header = {"values": [plain(title) for title in self.titles.values()]}
        widths = list(self._widths().values())
        table = go.Table(header=header, cells={"values": cells, "align": "left", "height": 30}, columnwidth=widths)
        found = go.Figure([table])
        height = min(200 + 32 * len(self.frame), 1500)
        found.update_layout(title=heading(self.title), height=height, margin={"l": 10, "r": 10, "t": 50, "b": 10})
        return found

    def _widths(self) -> dict[str, float]:
        longest = {
            column: max([len(title), *(len(_words(value)) for value in self.frame[column])])
            for column, title in self.titles.items()
        }
        return {column: min(420.0, svg.LETTER * 1.04 * length) + 22 for column, length in longest.items()}


def _words(value: object) -> str:
    return f"{value:,.10g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
