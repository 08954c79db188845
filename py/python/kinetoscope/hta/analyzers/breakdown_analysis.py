"""Breakdown of device time by type of work, kernel, annotation and cause of idle time."""

from __future__ import annotations

import pandas

from kinetoscope.hta import drawing
from kinetoscope.hta.annotated import annotated_kernels
from kinetoscope.hta.common.trace import Trace
from kinetoscope.hta.device_time import temporal_breakdown
from kinetoscope.hta.idle import idle_times
from kinetoscope.hta.kernels import Shown, annotation_table, kernel_table, kernel_types


class BreakdownAnalysis:
    """Breaks down device time. All times are in µs."""

    @classmethod
    def get_gpu_kernel_breakdown(
        cls,
        t: Trace,
        visualize: bool = True,
        duration_ratio: float = 0.8,
        num_kernels: int = 10,
        include_memory_kernels: bool = False,
        image_renderer: str = "notebook",
    ) -> tuple[pandas.DataFrame, pandas.DataFrame]:
        """Sums device time by type of work, and lists kernels of each rank and type by name."""
        types = kernel_types(t, with_memory=include_memory_kernels)
        kernels = kernel_table(t, Shown(duration_ratio, num_kernels), with_memory=include_memory_kernels)
        if visualize:
            drawing.draw_kernel_breakdown(types, kernels, image_renderer)
        return types, kernels

    @classmethod
    def get_gpu_kernels_with_user_annotations(
        cls, t: Trace, rank: int, expand_names: bool = True, shorten_names: bool = True
    ) -> pandas.DataFrame | None:
        """Lists device events of a rank, each with the shortest annotation over it.

        Returns None if the rank has no device annotations.
        """
        return annotated_kernels(t, rank, with_names=expand_names, with_short_names=shorten_names)

    @classmethod
    def get_gpu_user_annotation_breakdown(
        cls,
        t: Trace,
        use_gpu_annotation: bool = True,
        visualize: bool = True,
        duration_ratio: float = 0.8,
        num_kernels: int = 1000,
        allowlist_patterns: list[str] | None = None,
        image_renderer: str | None = None,
    ) -> pandas.DataFrame | None:
        """Lists annotations of each rank by name, from the device or the host.

        Returns None if no rank has annotations.
        """
        category = "gpu_user_annotation" if use_gpu_annotation else "user_annotation"
        allowed = t.symbol_table.find_matched_symbols(allowlist_patterns) if allowlist_patterns else ()
        found = annotation_table(t, category, Shown(duration_ratio, num_kernels, allowed))
        if visualize and found is not None:
            drawing.draw_annotation_breakdown(found, image_renderer)
        return found

    @classmethod
    def get_temporal_breakdown(cls, t: Trace, visualize: bool = True) -> pandas.DataFrame:
        """Divides the time of each rank's devices into idle, computing and other work."""
        found = temporal_breakdown(t)
        if visualize:
            drawing.draw_temporal_breakdown(found)
        return found

    @classmethod
    def get_idle_time_breakdown(
        cls,
        t: Trace,
        consecutive_kernel_delay: int,
        rank: int = 0,
        streams: list[int] | None = None,
        visualize: bool = True,
        visualize_pctg: bool = True,
        show_idle_interval_stats: bool = False,
    ) -> tuple[pandas.DataFrame, pandas.DataFrame | None]:
        """Divides the idle time of each stream by cause.

        Returns the sums and, with `show_idle_interval_stats`, statistics of the gaps.
        """
        found, intervals = idle_times(t, rank, streams, consecutive_kernel_delay)
        if visualize:
            drawing.draw_idle_time(found, visualize_pctg)
        return found, intervals if show_idle_interval_stats else None
