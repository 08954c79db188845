"""Timeline of intervals in rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy
import pandas

from kinetoscope.hta.drawing import svg
from kinetoscope.hta.drawing.picture import heading, plain, plain_lines
from kinetoscope.hta.drawing.units import MICROSECONDS

_NARROWEST = 1.0
_MOST_LABEL = 220.0
_MARK = ["row", "x", "width", "name", "place", "num_events"]
_Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Columns:
    """Columns of a frame with the position and look of each interval."""

    start: str
    """Column of start times: numbers in µs, or datetimes."""
    end: str
    row: str
    name: str
    hover: Sequence[str] = ()
    """Columns for the tooltip."""


@dataclass(frozen=True)
class Intervals:
    """Timeline of the rows of a frame."""

    title: str
    frame: pandas.DataFrame
    columns: Columns
    row_height: float = 30.0
    """Height in pixels."""

    def svg(self) -> str:
        """Returns a complete SVG document.

        Merges intervals narrower than a pixel with their neighbours.
        """
        rows = self._rows()
        starts, lengths = self._times()
        if not rows:
            return svg.document((self.title, ""), svg.text_at(0, 12, "no events"), (svg.WIDTH, 16))
        first = float(starts.min())
        span = (0.0, float((starts + lengths).max()) - first or 1.0)
        label = min(_MOST_LABEL, svg.LETTER * max(map(len, rows)) + 12)
        height = self.row_height * len(rows)
        box = (label, 6.0, svg.WIDTH - label - 24, height)
        shades = self._shades()
        drawn = self._drawn((starts - first) / span[1] * box[2], lengths / span[1] * box[2])
        body = [svg.horizontal_axis(span, MICROSECONDS, box), self._labels(rows, label)]
        body.append(self._marks(drawn, box, shades))
        keys, below = svg.legend(shades, height + 46)
        body += [svg.text_at(label + box[2] / 2, height + 38, self._axis_title(), "middle"), keys]
        together = int(drawn["num_events"].sum() - (drawn["num_events"] == 1).sum())
        note = f"{together:,} events are drawn together with others: each is narrower than a pixel."
        size = (svg.WIDTH, height + 46 + below)
        return svg.document((self.title, f"{len(self.frame):,} events"), "".join(body), size, [note] * bool(together))

    def figure(self) -> Any:
        """Returns the plotly figure."""
        import plotly.graph_objects as go

        rows, shades = self._rows(), self._shades()
        starts = self.frame[self.columns.start] if self._has_dates() else pandas.Series(self._times()[0])
        lengths = self._times()[1] / (1000 if self._has_dates() else 1)  # plotly takes ms on an axis of dates
        tooltips = self._tooltips()
        places = self.frame[self.columns.row].astype(str).map(plain).to_numpy()
        found = go.Figure()
        groups: dict[Any, Any] = self._names().groupby(self._names().to_numpy(), sort=False).indices
        for name, at in groups.items():
            bars = go.Bar(
                name=plain(name),
                orientation="h",
                base=starts.iloc[at],
                x=lengths[at],
                y=places[at],
                customdata=[plain_lines(tooltips[place]) for place in at],
                hovertemplate="%{customdata}<extra></extra>",
                marker={"color": shades[name], "line": {"width": 0}},
            )
            found.add_trace(bars)
        found.update_layout(**self._layout(rows))
        return found

    def _layout(self, rows: list[str]) -> dict[str, Any]:
        names = [plain(row) for row in rows]
        tasks = {"type": "category", "categoryorder": "array", "categoryarray": names, "autorange": "reversed"}
        times = {"title": "Time (µs)", "type": "linear", "tickformat": ","}
        if self._has_dates():
            times = {"title": "Time", "type": "date"}
        return {
            "title": heading(self.title),
            "barmode": "overlay",
            "height": 260 + self.row_height * len(rows),
            "xaxis": {**times, "rangeslider": {"visible": True}},
            "yaxis": {**tasks, "automargin": True},
            "showlegend": True,
        }

    def _has_dates(self) -> bool:
        return pandas.api.types.is_datetime64_any_dtype(self.frame[self.columns.start])

    def _axis_title(self) -> str:
        first = self.frame[self.columns.start].min()
        return svg.escaped(f"Time since {first}" if self._has_dates() else "Time")

    def _rows(self) -> list[str]:
        return sorted(map(str, self.frame[self.columns.row].unique()), key=_in_order)

    def _names(self) -> pandas.Series:
        return self.frame[self.columns.name].astype(str).replace("", "–")

    def _shades(self) -> dict[str, str]:
        """Returns colours by name, in descending order of total time."""
        lengths = pandas.DataFrame({"name": self._names().to_numpy(), "length": self._times()[1]})
        totals: Any = lengths.groupby("name", sort=False)["length"].sum()
        return svg.colours(totals.sort_values(ascending=False, kind="stable").index.tolist())

    def _times(self) -> tuple[Any, Any]:
        """Returns starts and lengths in µs."""
        ends = [self.frame[self.columns.start], self.frame[self.columns.end]]
        if self._has_dates():
            origin = pandas.Timestamp(0, tz=ends[0].dt.tz)
            ends = [(moments - origin) / pandas.Timedelta(1, "us") for moments in ends]
        start, end = (moments.to_numpy(dtype=float) for moments in ends)
        return start, end - start

    def _tooltips(self) -> list[str]:
        lines = self._names()
        for column in self.columns.hover:
            lines = lines + f"\n{column}: " + self.frame[column].astype(str)
        spans = [MICROSECONDS.words(length) for length in self._times()[1]]
        return [f"{line}\n{span}" for line, span in zip(lines, spans, strict=True)]

    def _drawn(self, xs: Any, widths: Any) -> pandas.DataFrame:
        """Returns the boxes to draw.

        The columns are the row, `x`, `width`, the name with the longest time, the number of events,
        and the position of one event (`place`).
        """
        marks = pandas.DataFrame({"row": self.frame[self.columns.row].astype(str).to_numpy(), "x": xs, "width": widths})
        marks["name"], marks["place"], marks["num_events"] = self._names().to_numpy(), numpy.arange(len(marks)), 1
        narrow = marks.loc[marks["width"] < _NARROWEST].assign(pixel=lambda mark: mark["x"].astype(int))
        totals = narrow.groupby(["row", "pixel", "name"], sort=False, as_index=False).agg(
            x=("x", "min"), width=("width", "sum"), place=("place", "first"), num_events=("num_events", "sum")
        )
        largest = totals.sort_values("width", kind="stable").groupby(["row", "pixel"], sort=False)
        together = largest.agg(
            x=("x", "min"), place=("place", "last"), name=("name", "last"), num_events=("num_events", "sum")
        )
        together = together.reset_index().assign(width=_NARROWEST)
        return pandas.concat([marks.loc[marks["width"] >= _NARROWEST], together[_MARK]], ignore_index=True)

    def _labels(self, rows: list[str], width: float) -> str:
        parts = []
        for at, row in enumerate(rows):
            y = 6 + self.row_height * at
            words = svg.tooltip(row) + svg.clipped(row, width - 10)
            parts.append(svg.text_at(width - 8, y + self.row_height / 2 + 4, words, "end", 0.9))
            parts.append(svg.path(f"M{width:.1f} {y + self.row_height:.1f}h{svg.WIDTH - width - 24:.1f}", 0.09))
        return "".join(parts)

    def _marks(self, drawn: pandas.DataFrame, box: _Box, shades: dict[str, str]) -> str:
        ys = {row: box[1] + self.row_height * (at + 0.12) for at, row in enumerate(self._rows())}
        tooltips, parts = self._tooltips(), []
        for row, x, width, name, place, count in zip(*(drawn[column] for column in _MARK), strict=True):
            words = tooltips[place] if count == 1 else f"{count:,} events, most of the time {name}"
            parts.append(svg.rect((box[0] + x, ys[row], width, self.row_height * 0.76), shades[name], words))
        return "".join(parts)


def _in_order(label: str) -> list[tuple[int, str]]:
    """Sorts `stream 7` before `stream 20`."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", label)]
