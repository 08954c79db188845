"""Pictures of events over time."""

from __future__ import annotations

from kinetoscope.hta.drawing.intervals import Intervals
from kinetoscope.hta.drawing.output import html, show, write


def draw_intervals(intervals: Intervals, path: str | None = None, *, is_shown: bool = True) -> None:
    """Shows a timeline, writes it to a path, or both."""
    if path:
        write(intervals, path)
    if is_shown:
        show([intervals])


def intervals_html(intervals: Intervals) -> str:
    """Returns a timeline as a complete HTML page."""
    return html(intervals)
