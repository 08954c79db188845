"""Reads the traces of a job, and answers HTA's questions about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pandas

from kinetoscope.hta import counted
from kinetoscope.hta.analyzers.breakdown_analysis import BreakdownAnalysis
from kinetoscope.hta.analyzers.communication_analysis import CommunicationAnalysis
from kinetoscope.hta.analyzers.critical_path_analysis import CPGraph, CriticalPathAnalysis
from kinetoscope.hta.analyzers.cuda_kernel_analysis import CudaKernelAnalysis
from kinetoscope.hta.analyzers.cupti_counter_analysis import CuptiCounterAnalysis
from kinetoscope.hta.analyzers.straggler import find_stragglers_with_late_start_comm_kernels
from kinetoscope.hta.analyzers.straggler_analysis import StragglerAnalysis
from kinetoscope.hta.analyzers.trace_counters import TraceCounters
from kinetoscope.hta.common.constants import CUDA_MAX_LAUNCH_QUEUE_PER_STREAM
from kinetoscope.hta.common.trace import Trace
from kinetoscope.hta.configs.default_values import DEFAULT_TRACE_DIR

TimeSeriesTypes = counted.TimeSeriesTypes


class TraceAnalysis:
    """Reads the traces of a job into frames and analyses them. All times are in µs.

    Methods with `visualize` draw their result unless it is false: with plotly where it is installed, else as SVG.
    `ranks` is the first rank by default.
    """

    def __init__(
        self,
        trace_files: Mapping[int, str] | Sequence[str] | None = None,
        trace_dir: str = DEFAULT_TRACE_DIR,
        include_last_profiler_step: bool | None = False,
    ) -> None:
        self.t = Trace(trace_files, trace_dir)
        """The traces and their frames."""
        self.t.load_traces(include_last_profiler_step)

    def get_comm_comp_overlap(self, visualize: bool = True) -> pandas.DataFrame:
        """Computes the share (%) of each rank's communication that computation hides."""
        return CommunicationAnalysis.get_comm_comp_overlap(self.t, visualize)

    def get_profiler_steps(self) -> list[int]:
        """Lists the steps that any rank has, ascending."""
        return StragglerAnalysis.get_profiler_steps(self.t)

    def get_potential_stragglers(
        self,
        profiler_steps: list[int] | None = None,
        num_candidates: int = 2,
        visualize: bool = False,
        straggler_identification_impl: Callable[..., pandas.Series] = find_stragglers_with_late_start_comm_kernels,
    ) -> list[int]:
        """Lists at most `num_candidates` ranks that start communication late in the steps, the latest first.

        `straggler_identification_impl` may count the late steps of each rank instead: it gets the rows of all ranks,
        the symbol table, `num_candidates` and `visualize`, and returns a series by rank.

        Raises:
            ValueError: none of `profiler_steps` exists.
        """
        return StragglerAnalysis.get_potential_stragglers(
            self.t, profiler_steps, num_candidates, visualize, straggler_identification_impl
        )

    def get_gpu_kernel_breakdown(
        self,
        visualize: bool = True,
        duration_ratio: float = 0.8,
        num_kernels: int = 10,
        include_memory_kernels: bool = True,
        image_renderer: str = "",
    ) -> tuple[pandas.DataFrame, pandas.DataFrame]:
        """Sums device time by type of work; lists kernels of each rank and type by name, shorter ones as `others`."""
        return BreakdownAnalysis.get_gpu_kernel_breakdown(
            self.t, visualize, duration_ratio, num_kernels, include_memory_kernels, image_renderer
        )

    def get_gpu_kernels_with_user_annotations(
        self, rank: int, expand_names: bool = True, shorten_names: bool = True
    ) -> pandas.DataFrame | None:
        """Lists device events with the shortest annotation that overlaps each; None without device annotations."""
        return BreakdownAnalysis.get_gpu_kernels_with_user_annotations(self.t, rank, expand_names, shorten_names)

    def get_gpu_user_annotation_breakdown(
        self,
        use_gpu_annotation: bool = True,
        visualize: bool = True,
        duration_ratio: float = 0.8,
        num_kernels: int = 1000,
        allowlist_patterns: list[str] | None = None,
        image_renderer: str | None = None,
    ) -> pandas.DataFrame | None:
        """Lists annotations of each rank by name, from the device or the host; None where there are none.

        Names that contain one of `allowlist_patterns` always have a row of their own.
        """
        return BreakdownAnalysis.get_gpu_user_annotation_breakdown(
            self.t, use_gpu_annotation, visualize, duration_ratio, num_kernels, allowlist_patterns, image_renderer
        )

    def get_temporal_breakdown(self, visualize: bool = True) -> pandas.DataFrame:
        """Divides the time of each rank's devices, from first start to last end: idle, computing, other work."""
        return BreakdownAnalysis.get_temporal_breakdown(self.t, visualize)

    def get_frequent_cuda_kernel_sequences(
        self,
        operator_name: str,
        output_dir: str,
        min_pattern_len: int = 3,
        rank: int = 0,
        top_k: int = 5,
        visualize: bool = False,
        compress_other_kernels: bool = True,
    ) -> pandas.DataFrame:
        """Lists kernels under operators with `operator_name` in their names, the most frequent sequence first.

        Writes the trace with the first `top_k` sequences marked to `output_dir`, as `overlaid_<file>`.
        """
        return CudaKernelAnalysis.get_frequent_cuda_kernel_sequences(
            self.t, operator_name, output_dir, min_pattern_len, rank, top_k, visualize, compress_other_kernels
        )

    def get_aten_op_kernels_and_delay(
        self, ranks: list[int] | None = None, sort_by: list[str] | None = None
    ) -> dict[int, pandas.DataFrame]:
        """Lists ATen operators of each rank by the kernels that they launch, with mean delays; draws each table."""
        return CudaKernelAnalysis.get_aten_op_kernels_and_delay(self.t, ranks, sort_by)

    def get_cuda_kernel_launch_stats(
        self,
        ranks: list[int] | None = None,
        runtime_cutoff: int = 50,
        launch_delay_cutoff: int = 100,
        include_memory_events: bool = True,
        visualize: bool = True,
    ) -> dict[int, pandas.DataFrame]:
        """Lists launches of each rank with their device work and the delay between; the cutoffs are for drawings."""
        return CudaKernelAnalysis.cuda_kernel_launch_stats(
            self.t, ranks, runtime_cutoff, launch_delay_cutoff, include_memory_events, visualize
        )

    def generate_trace_with_counters(
        self,
        time_series: counted.TimeSeriesTypes | None = None,
        ranks: list[int] | None = None,
        output_suffix: str = "_with_counters",
    ) -> None:
        """Writes the trace of each rank beside its file, with tracks of queue lengths, of bandwidth, or of both."""
        both = counted.TimeSeriesTypes.QUEUE_LENGTH | counted.TimeSeriesTypes.MEMCPY_BANDWIDTH
        for rank in ranks or self.t.get_ranks()[:1]:
            counted.write_counters(self.t, rank, both if time_series is None else time_series, output_suffix)

    def get_queue_length_summary(self, ranks: list[int] | None = None) -> pandas.DataFrame | None:
        """Describes queue lengths by rank and stream, not weighted by time; None without any."""
        return TraceCounters.get_queue_length_summary(self.t, ranks)

    def get_queue_length_summary_from_time_series(
        self, queue_length_dict: dict[int, pandas.DataFrame]
    ) -> pandas.DataFrame | None:
        """Describes the points of series by rank and stream; None without any."""
        return TraceCounters.get_queue_length_summary_from_time_series(queue_length_dict)

    def get_queue_length_time_series(self, ranks: list[int] | None = None) -> dict[int, pandas.DataFrame]:
        """Lists the changes of each stream's queue of launched work, by rank; labelled by the event."""
        return TraceCounters.get_queue_length_time_series(self.t, ranks)

    def get_time_spent_blocked_on_full_queue(
        self, queue_length_dict: dict[int, pandas.DataFrame], max_queue_length: int = CUDA_MAX_LAUNCH_QUEUE_PER_STREAM
    ) -> pandas.DataFrame:
        """Sums the time in which the queue of each stream had `max_queue_length` entries or more."""
        return TraceCounters.get_time_spent_blocked_on_full_queue(self.t, queue_length_dict, max_queue_length)

    def get_memory_bw_summary(self, ranks: list[int] | None = None) -> pandas.DataFrame | None:
        """Describes bandwidths (GB/s) above 0 by rank and kind of copy, not weighted by time; None without copies."""
        return TraceCounters.get_memory_bw_summary(self.t, ranks)

    def get_memory_bw_time_series(self, ranks: list[int] | None = None) -> dict[int, pandas.DataFrame]:
        """Lists the changes of the bandwidth (GB/s) of copies and fills, by rank."""
        return TraceCounters.get_memory_bw_time_series(self.t, ranks)

    def get_idle_time_breakdown(
        self,
        ranks: list[int] | None = None,
        streams: list[int] | None = None,
        visualize: bool = True,
        visualize_pctg: bool = True,
        show_idle_interval_stats: bool = False,
        consecutive_kernel_delay: int = 30,
    ) -> tuple[pandas.DataFrame, pandas.DataFrame | None]:
        """Divides the idle time of each stream by its reason; statistics of the gaps come second, if asked for.

        A gap before work that was launched in time is a `kernel_wait` if shorter than `consecutive_kernel_delay` µs.
        """
        found = [
            BreakdownAnalysis.get_idle_time_breakdown(
                self.t, consecutive_kernel_delay, rank, streams, visualize, visualize_pctg, show_idle_interval_stats
            )
            for rank in ranks or self.t.get_ranks()[:1]
        ]
        intervals = [statistics for _, statistics in found if statistics is not None]
        return pandas.concat([sums for sums, _ in found]), pandas.concat(intervals) if intervals else None

    def get_cupti_counter_data_with_operators(self, ranks: list[int] | None = None) -> list[pandas.DataFrame]:
        """Lists CUPTI's counters of each rank that has some, with the operators that launched what they count."""
        return CuptiCounterAnalysis.get_counter_data_with_operators(self.t, ranks)

    def critical_path_analysis(
        self,
        rank: int,
        annotation: str,
        instance_id: int | tuple[int, int] | None,
        data_load_events: Sequence[str] | None = None,
    ) -> tuple[CPGraph, bool] | None:
        """Finds the critical path in the time of an annotation, and says whether there is one; None without it.

        `annotation` is a part of its name; an empty one means the whole trace. `instance_id` is the place of an
        instance in the frame, from 0, or the first and the last place of several; None is the first. Host events
        whose names match one of the regular expressions `data_load_events` count as `data_loading`.

        Raises:
            ValueError: the instance does not exist.
        """
        return CriticalPathAnalysis.critical_path_analysis(self.t, rank, annotation, instance_id, data_load_events)

    def overlay_critical_path_analysis(
        self,
        rank: int,
        critical_path_graph: CPGraph,
        output_dir: str,
        only_show_critical_events: bool = True,
        show_all_edges: bool = False,
    ) -> str:
        """Writes the rank's trace with its critical path marked, `overlaid_critical_path_<file>`; returns the path.

        With `only_show_critical_events`, host and device events outside the path are left out. Arrows show the edges of
        the path from one event to another. `show_all_edges` shows all edges of the graph, where all events are kept.
        """
        return CriticalPathAnalysis.overlay_critical_path_analysis(
            self.t, rank, critical_path_graph, output_dir, only_show_critical_events, show_all_edges
        )
