"""Pictures of launches, operators and sequences of kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinetoscope.hta.drawing.bars import Bars, Series
from kinetoscope.hta.drawing.grid import Grid
from kinetoscope.hta.drawing.histogram import Histogram
from kinetoscope.hta.drawing.output import show

if TYPE_CHECKING:
    import pandas

_MANY_BINS = 300
_DELAYS = {
    "aten_op_name": "ATen operator",
    "kernel_sequence": "Kernels",
    "occurrence_count": "Count",
    "avg_aten_op_launch_delay": "Mean launch delay (µs)",
    "avg_runtime_delay": "Mean runtime delay (µs)",
}


def draw_launch_stats(
    rank: int, launches: pandas.DataFrame, runtime_cutoff: float = 50, launch_delay_cutoff: float = 100
) -> None:
    """Draws three histograms of a rank's launches.

    The histograms show launches up to `runtime_cutoff` µs that took longer than their kernels,
    launches above `runtime_cutoff`, and launch delays above `launch_delay_cutoff` µs. Takes a frame
    of `get_cuda_kernel_launch_stats`.
    """
    calls, delays = launches["cpu_duration"], launches["launch_delay"]
    short = calls.loc[(calls <= runtime_cutoff) & (launches["gpu_duration"] < calls)]
    call, delay = "duration of the runtime call", "launch delay"
    show(
        [
            Histogram(f"Rank {rank}: runtime calls that took longer than their kernels", short, call),
            Histogram(
                f"Rank {rank}: runtime calls above {runtime_cutoff:g} µs",
                calls.loc[calls > runtime_cutoff],
                call,
                max_bins=_MANY_BINS,
            ),
            Histogram(
                f"Rank {rank}: launch delays above {launch_delay_cutoff:g} µs",
                delays.loc[delays > launch_delay_cutoff],
                delay,
                max_bins=_MANY_BINS,
            ),
        ]
    )


def draw_aten_delays(rank: int, delays: pandas.DataFrame) -> None:
    """Draws a table of a rank's ATen operators, their kernels and delays.

    Takes a frame of `get_aten_op_kernels_and_delay`.
    """
    show([Grid(f"Rank {rank}: ATen operators, their kernels and delays", delays, _DELAYS)])


def draw_kernel_sequences(rank: int, sequences: pandas.DataFrame, top_k: int = 5) -> None:
    """Draws the counts of the first `top_k` sequences; nothing for an empty frame."""
    if sequences.empty:
        return
    first = sequences.head(top_k)
    names = [f"{at}: {pattern.replace('|', ' → ')}" for at, pattern in enumerate(first["pattern"])]
    notes = [str(pattern).replace("|", "\n") for pattern in first["pattern"]]
    title = f"Rank {rank}: the {len(first)} most frequent kernel sequences"
    counts = Series("", list(first["count"]))
    show([Bars(title, names, [counts], "", "count", is_horizontal=True, notes=notes)])
