"""Pictures of the differences between two traces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinetoscope.hta.drawing.bars import Bars, Series
from kinetoscope.hta.drawing.output import show, write
from kinetoscope.hta.drawing.units import COUNT, MICROSECONDS, Unit

if TYPE_CHECKING:
    import pandas

_DURATION = "_total_duration"


def draw_counts_diff(frame: pandas.DataFrame, show_image: bool = True, export_image_path: str | None = None) -> None:
    """Draws the counts of each name in both traces, and their difference.

    Shows the picture, writes it, or both.

    Takes the frame of `TraceDiff.compare_traces`. Raises AssertionError for other frames.
    """
    columns = {label: f"{label}_counts" for label in _labels(frame)} | {"Difference": "diff_counts"}
    _draw(_bars("Counts in two traces", frame, columns, ("count", COUNT)), show_image, export_image_path)


def draw_duration_diff(frame: pandas.DataFrame, show_image: bool = True, export_image_path: str | None = None) -> None:
    """Draws the durations of each name in both traces, and their difference.

    Shows the picture, writes it, or both.

    Takes the frame of `TraceDiff.compare_traces`. Raises AssertionError for other frames.
    """
    columns = {label: f"{label}{_DURATION}" for label in _labels(frame)} | {"Difference": "diff_duration"}
    bars = _bars("Total durations in two traces", frame, columns, ("total duration", MICROSECONDS))
    _draw(bars, show_image, export_image_path)


def _labels(frame: pandas.DataFrame) -> list[str]:
    found = [str(column).removesuffix(_DURATION) for column in frame.columns if str(column).endswith(_DURATION)]
    if len(found) < 2:  # noqa: PLR2004 - a pair
        expected = f"expected the frame of TraceDiff.compare_traces, with two columns that end in {_DURATION}"
        raise AssertionError(f"{expected}, found {len(found)}")
    return found[:2]


def _bars(title: str, frame: pandas.DataFrame, columns: dict[str, str], values: tuple[str, Unit]) -> Bars:
    series = [Series(label, list(frame[column])) for label, column in columns.items()]
    names = [str(name) for name in frame.index]
    return Bars(title, names, series, "", *values, is_horizontal=True)


def _draw(bars: Bars, is_shown: bool, path: str | None) -> None:
    if is_shown:
        show([bars])
    if path:
        write(bars, path)
