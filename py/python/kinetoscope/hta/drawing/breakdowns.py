"""Pictures of the device time breakdowns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinetoscope.hta.drawing.bars import Bars, Series
from kinetoscope.hta.drawing.output import show
from kinetoscope.hta.drawing.picture import Picture
from kinetoscope.hta.drawing.pies import Pie, Pies
from kinetoscope.hta.drawing.svg import COLOURS, GREY
from kinetoscope.hta.drawing.units import MICROSECONDS, SHARE

if TYPE_CHECKING:
    import pandas

_PARTS = {
    "idle_time_pctg": ("idle", GREY),
    "compute_time_pctg": ("computation", COLOURS[0]),
    "non_compute_time_pctg": ("communication and memory", COLOURS[1]),
}


def draw_kernel_breakdown(kernel_types: pandas.DataFrame, kernels: pandas.DataFrame, renderer: str | None = "") -> None:
    """Draws the time by kernel type.

    Also draws, for each type, a pie of kernels per rank and the mean duration of each kernel.

    Takes both frames of `get_gpu_kernel_breakdown`, and the name of a plotly renderer.
    """
    timed = kernel_types.loc[kernel_types["sum"] > 0]
    pictures: list[Picture] = [
        Pies(
            "Device time by kernel type",
            [Pie("all ranks", list(timed["kernel_type"]), list(timed["sum"]))],
            MICROSECONDS,
        )
    ]
    for kernel_type, rows in kernels.groupby("kernel_type", sort=False):
        pictures += _by_name(rows, f"{kernel_type} kernels", f"{kernel_type}: ")
    show(pictures, renderer)


def draw_annotation_breakdown(annotations: pandas.DataFrame, renderer: str | None = "") -> None:
    """Draws a pie of annotations by rank, and the mean duration of each annotation.

    Takes the frame of `get_gpu_user_annotation_breakdown`, and the name of a plotly renderer.
    """
    show(_by_name(annotations, "User annotations", "User annotation: "), renderer)


def draw_temporal_breakdown(breakdown: pandas.DataFrame) -> None:
    """Draws the shares of idle, computing and other time of each rank.

    Takes the frame of `get_temporal_breakdown`.
    """
    series = [Series(name, list(breakdown[column] / 100), colour=colour) for column, (name, colour) in _PARTS.items()]
    ranks = [str(rank) for rank in breakdown["rank"]]
    show([Bars("Device time by rank", ranks, series, "Rank", "share of time", SHARE, is_stacked=True)])


def draw_overlap(overlap: pandas.DataFrame) -> None:
    """Draws the share of communication that computation overlaps.

    Takes the frame of `get_comm_comp_overlap`.
    """
    series = Series("", list(overlap["comp_comm_overlap_pctg"] / 100))
    ranks = [str(rank) for rank in overlap["rank"]]
    title = "Communication overlapped by computation"
    show([Bars(title, ranks, [series], "Rank", "share of communication time", SHARE)])


def draw_idle_time(idle_times: pandas.DataFrame, as_share: bool = True) -> None:
    """Draws the idle time of each stream by cause, one picture per rank.

    Takes the first frame of `get_idle_time_breakdown`. Draws shares of the stream's time, or µs.
    """
    column, unit = ("idle_time_ratio", SHARE) if as_share else ("idle_time", MICROSECONDS)
    pictures: list[Picture] = []
    for rank, rows in idle_times.groupby("rank", sort=False):
        values = rows.pivot_table(index="stream", columns="idle_category", values=column, aggfunc="sum", fill_value=0)
        streams = [str(stream) for stream in values.index]
        series = [Series(str(name), list(values[name])) for name in values.columns]
        title = f"Idle time of the streams of rank {rank}"
        pictures.append(Bars(title, streams, series, "Stream", "idle time", unit, is_stacked=True))
    show(pictures)


def _by_name(rows: pandas.DataFrame, title: str, prefix: str) -> list[Picture]:
    """Builds a pie for each rank, and bars by rank for each name except `others`."""
    pies = [
        Pie(f"Rank {rank}", list(own["name"]), list(own["sum (us)"]))
        for rank, own in rows.sort_values("sum (us)", ascending=False, kind="stable").groupby("rank")
    ]
    pictures: list[Picture] = [Pies(f"{title} by rank", pies, MICROSECONDS)]
    for name, own in rows.loc[rows["name"] != "others"].groupby("name", sort=False):
        pictures.append(_means(own, f"{prefix}{name}"))
    return pictures


def _means(own: pandas.DataFrame, title: str) -> Bars:
    series = Series("", list(own["mean (us)"]), list(own["min (us)"]), list(own["max (us)"]))
    ranks = [str(rank) for rank in own["rank"]]
    return Bars(title, ranks, [series], "Rank", "mean duration, from shortest to longest", MICROSECONDS)
