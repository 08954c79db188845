"""Picture of potential stragglers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from kinetoscope.hta.drawing.bars import Bars, Series
from kinetoscope.hta.drawing.output import show
from kinetoscope.hta.drawing.picture import Picture
from kinetoscope.hta.drawing.svg import COLOURS
from kinetoscope.hta.drawing.units import COUNT

if TYPE_CHECKING:
    import pandas

_NEVER = ("No", "0", "False")


def draw_stragglers(metric: pandas.DataFrame, metric_name: str) -> None:
    """Draws a metric of each rank, with potential stragglers in another colour.

    Draws one picture per iteration.

    `metric` has the columns `rank`, `metric_name`, `is_straggler` (a boolean, a count, or `Yes` and
    `No`) and optionally `iteration`.
    """
    groups = metric.groupby("iteration") if "iteration" in metric.columns else [("", metric)]
    pictures: list[Picture] = [_ranks(rows, metric_name, iteration) for iteration, rows in groups]
    show(pictures)


def _ranks(rows: pandas.DataFrame, metric_name: str, iteration: object) -> Bars:
    late = [str(value) not in _NEVER for value in rows["is_straggler"]]
    values = [float(value) for value in rows[metric_name]]
    series = [
        Series(
            name,
            [value if is_late is wanted else math.nan for value, is_late in zip(values, late, strict=True)],
            colour=colour,
        )
        for name, wanted, colour in (("potential straggler", True, COLOURS[5]), ("other rank", False, COLOURS[0]))
    ]
    title = "Potential stragglers" + (f" in iteration {iteration}" if iteration != "" else "")
    ranks = [str(rank) for rank in rows["rank"]]
    return Bars(title, ranks, series, "Rank", metric_name.replace("_", " "), COUNT, is_stacked=True)
