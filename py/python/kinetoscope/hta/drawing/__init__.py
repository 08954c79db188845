"""Pictures of HTA's frames, by plotly if plotly is installed, otherwise as SVG."""

from __future__ import annotations

from kinetoscope.hta.drawing.breakdowns import (
    draw_annotation_breakdown,
    draw_idle_time,
    draw_kernel_breakdown,
    draw_overlap,
    draw_temporal_breakdown,
)
from kinetoscope.hta.drawing.differences import draw_counts_diff, draw_duration_diff
from kinetoscope.hta.drawing.intervals import Columns, Intervals
from kinetoscope.hta.drawing.launches import draw_aten_delays, draw_kernel_sequences, draw_launch_stats
from kinetoscope.hta.drawing.memory import draw_memory_timeline
from kinetoscope.hta.drawing.stragglers import draw_stragglers
from kinetoscope.hta.drawing.timelines import draw_intervals, intervals_html

__all__ = [
    "Columns",
    "Intervals",
    "draw_annotation_breakdown",
    "draw_aten_delays",
    "draw_counts_diff",
    "draw_duration_diff",
    "draw_idle_time",
    "draw_intervals",
    "draw_kernel_breakdown",
    "draw_kernel_sequences",
    "draw_launch_stats",
    "draw_memory_timeline",
    "draw_overlap",
    "draw_stragglers",
    "draw_temporal_breakdown",
    "intervals_html",
]
