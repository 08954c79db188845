"""Memory by what it is used for, as a picture."""

from __future__ import annotations

import os
from pathlib import Path

from kinetoscope.answer import Answer
from kinetoscope.chart import Chart
from kinetoscope.memory import MemoryTimeline
from kinetoscope.read import read

_PICTURE = Path("images/memory_plot.svg")


class MemoryAnalysis:
    """What `export_memory_timeline` of torch.profiler wrote."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = path

    def plot_memory_timeline(self, save_graph: bool = False) -> Chart:  # noqa: FBT001, FBT002 - as HTA has it
        """Draws the bytes in use over time; with `save_graph`, into `images/memory_plot.svg`, too.

        TypeError for another file.
        """
        timeline = read(self.path)
        if not isinstance(timeline, MemoryTimeline):
            found = type(timeline).__name__
            raise TypeError(f"expected a memory timeline, found a {found}: {self.path}")
        sizes = timeline.sizes
        reason = None if len(sizes) else "it has no sizes"
        chart = Answer([sizes._native], reason, None).plot()  # noqa: SLF001 - drawn as an answer is
        if save_graph:
            _PICTURE.parent.mkdir(exist_ok=True)
            chart.save(_PICTURE)
        return chart
