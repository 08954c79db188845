"""Picture of memory in use over time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinetoscope.hta.drawing.areas import Areas
from kinetoscope.hta.drawing.output import show, write

if TYPE_CHECKING:
    import pandas


def draw_memory_timeline(
    milliseconds: Any, categories: pandas.DataFrame, shades: Mapping[str, str], path: str | Path | None = None
) -> None:
    """Draws the bytes in use over time, stacked by category, the first column at the bottom.

    `shades` has a CSS colour for each category. Shows the picture, or writes it if there is a path.
    """
    layers = {str(name): categories[name].to_numpy() for name in categories.columns}
    areas = Areas("Memory timeline", milliseconds, layers, shades, "Memory")
    if path is None:
        show([areas])
    else:
        write(areas, path)
