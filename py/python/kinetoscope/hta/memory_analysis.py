"""Memory in use by category, as a picture."""

from __future__ import annotations

import os
from enum import Enum, auto
from pathlib import Path

import pandas

from kinetoscope._load.read import read
from kinetoscope.hta import drawing
from kinetoscope.memory import MemoryTimeline

colorscheme = [
    "rgb(102, 197, 204)",
    "rgb(246, 207, 113)",
    "rgb(248, 156, 116)",
    "rgb(220, 176, 242)",
    "rgb(135, 197, 95)",
    "rgb(158, 185, 243)",
    "rgb(254, 136, 177)",
    "rgb(201, 219, 116)",
    "rgb(139, 224, 164)",
    "rgb(180, 151, 231)",
    "rgb(179, 179, 179)",
]
"""Colours of the categories, plotly's `Pastel`."""

_LABELS = {
    "parameter_bytes": "Parameter",
    "optimizer_state_bytes": "Optimizer state",
    "input_bytes": "Input",
    "temporary_bytes": "Temporary",
    "activation_bytes": "Activation",
    "gradient_bytes": "Gradient",
    "autograd_detail_bytes": "Autograd",
    "unknown_bytes": "Unknown",
}
_PICTURE = Path("images/memory_plot.png")
_NS_PER_MS = 1_000_000


class Category(Enum):
    """Purposes of memory."""

    INPUT = auto()
    TEMPORARY = auto()
    ACTIVATION = auto()
    GRADIENT = auto()
    AUTOGRAD_DETAIL = auto()
    PARAMETER = auto()
    OPTIMIZER_STATE = auto()


class MemoryAnalysis:
    """A memory timeline that `export_memory_timeline` of torch.profiler wrote."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = path
        """The file."""

    def plot_memory_timeline(self, save_graph: bool = False) -> None:
        """Draws the bytes in use over time, stacked by category.

        `save_graph` writes `images/memory_plot.png` instead of showing the picture. Without plotly
        or kaleido, writes `images/memory_plot.svg` with a RuntimeWarning. Raises TypeError for
        other files.
        """
        sizes = self._sizes()
        milliseconds = (sizes["time_ns"] - sizes["time_ns"].min()) / _NS_PER_MS
        categories = pandas.DataFrame({label: sizes[column] for column, label in _LABELS.items()})
        shades = dict(zip(_LABELS.values(), colorscheme, strict=False))
        if save_graph:
            _PICTURE.parent.mkdir(exist_ok=True)
        drawing.draw_memory_timeline(milliseconds.to_numpy(), categories, shades, _PICTURE if save_graph else None)

    def _process_raw_events(self) -> tuple[list[int], list[list[int]]]:
        """Returns times in ns, and the bytes of each category at each time."""
        sizes = self._sizes()
        return sizes["time_ns"].tolist(), sizes[list(_LABELS)].to_numpy().tolist()

    def _sizes(self) -> pandas.DataFrame:
        timeline = read(self.path)
        if not isinstance(timeline, MemoryTimeline):
            found = type(timeline).__name__
            raise TypeError(f"expected a memory timeline, found a {found}: {self.path}")
        return timeline.sizes.to_pandas()
