"""HTA's main class: reads the traces of a job and runs HTA's analyses."""

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

    `ranks` selects the ranks to analyse, by default the first rank.

    Methods with the argument `visualize` draw their result when it is true. They draw with plotly
    if plotly is installed, otherwise as SVG.
    """

    def __init__(
        self,
        trace_files: Mapping[int, str] | Sequence[str] | None = None,
        trace_dir: str = DEFAULT_TRACE_DIR,
        include_last_profiler_step: bool | None = False,
    ) -> None:
        self.t = Trace(trace_files, trace_dir)
        """The traces, with one frame per rank."""
        self.t.load_traces(include_last_profiler_step)

    def get_comm_comp_overlap(self, visualize: bool = True) -> pandas.DataFrame:
        """Computes the share (%) of each rank's communication time that computation overlaps.

        The columns are `rank` and `comp_comm_overlap_pctg`. The share is
        `100 * (time with both running) / (time with communication running)`. It is NaN for ranks
        without communication.
        """
        return CommunicationAnalysis.get_comm_comp_overlap(self.t, visualize)

    def get_profiler_steps(self) -> list[int]:
        """Lists the numbers of the profiler steps of all ranks, ascending."""
        return StragglerAnalysis.get_profiler_steps(self.t)

    def get_potential_stragglers(
        self,
        profiler_steps: list[int] | None = None,
        num_candidates: int = 2,
        visualize: bool = False,
        straggler_identification_impl: Callable[..., pandas.Series] = find_stragglers_with_late_start_comm_kernels,
    ) -> list[int]:
        """Lists up to `num_candidates` ranks that start their communication late.

        The ranks that are late in the most steps come first.

        `straggler_identification_impl` replaces the function that counts the late steps of each
        rank. Its arguments are the rows of all ranks, the symbol table, `num_candidates` and
        `visualize`. It returns a series of counts, indexed by rank.

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
        """Sums device time by type of work, and lists kernels by rank, type and name.

        Returns both frames. Kernels with small sums share the row `others`: `num_kernels` and
        `duration_ratio` limit the rows by name.
        """
        return BreakdownAnalysis.get_gpu_kernel_breakdown(
            self.t, visualize, duration_ratio, num_kernels, include_memory_kernels, image_renderer
        )

    def get_gpu_kernels_with_user_annotations(
        self, rank: int, expand_names: bool = True, shorten_names: bool = True
    ) -> pandas.DataFrame | None:
        """Lists device events, each with the shortest annotation that overlaps it.

        Returns None if the rank has no device annotations.
        """
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
        """Lists annotations of each rank by name, from the device or the host.

        Returns None if no rank has annotations.

        Names that contain one of `allowlist_patterns` always have their own row.
        """
        return BreakdownAnalysis.get_gpu_user_annotation_breakdown(
            self.t, use_gpu_annotation, visualize, duration_ratio, num_kernels, allowlist_patterns, image_renderer
        )

    def get_temporal_breakdown(self, visualize: bool = True) -> pandas.DataFrame:
        """Divides the device time of each rank into idle time, computation and other work.

        The device time runs from the first start to the last end of device work.
        `idle = span - busy`; `compute` is the time with any computation;
        `non_compute = span - idle - compute`.
        """
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
        """Lists kernel sequences under matching operators, the most frequent sequence first.

        An operator matches if its name contains `operator_name`.

        Writes `overlaid_<file>` to `output_dir`: the trace with the first `top_k` sequences marked.
        """
        return CudaKernelAnalysis.get_frequent_cuda_kernel_sequences(
            self.t, operator_name, output_dir, min_pattern_len, rank, top_k, visualize, compress_other_kernels
        )

    def get_aten_op_kernels_and_delay(
        self, ranks: list[int] | None = None, sort_by: list[str] | None = None
    ) -> dict[int, pandas.DataFrame]:
        """Lists ATen operators by the kernels that they launch, with mean delays.

        Returns one frame per rank, and draws each as a table.
        """
        return CudaKernelAnalysis.get_aten_op_kernels_and_delay(self.t, ranks, sort_by)

    def get_cuda_kernel_launch_stats(
        self,
        ranks: list[int] | None = None,
        runtime_cutoff: int = 50,
        launch_delay_cutoff: int = 100,
        include_memory_events: bool = True,
        visualize: bool = True,
    ) -> dict[int, pandas.DataFrame]:
        """Lists kernel launches with their device work and launch delay, one frame per rank.

        The cutoffs (µs) affect only the pictures.
        """
        return CudaKernelAnalysis.cuda_kernel_launch_stats(
            self.t, ranks, runtime_cutoff, launch_delay_cutoff, include_memory_events, visualize
        )

    def generate_trace_with_counters(
        self,
        time_series: counted.TimeSeriesTypes | None = None,
        ranks: list[int] | None = None,
        output_suffix: str = "_with_counters",
    ) -> None:
        """Writes a copy of each rank's trace, with counter tracks added, beside the original.

        `time_series` selects queue lengths, copy bandwidth, or both (the default).
        """
        both = counted.TimeSeriesTypes.QUEUE_LENGTH | counted.TimeSeriesTypes.MEMCPY_BANDWIDTH
        for rank in ranks or self.t.get_ranks()[:1]:
            counted.write_counters(self.t, rank, both if time_series is None else time_series, output_suffix)

    def get_queue_length_summary(self, ranks: list[int] | None = None) -> pandas.DataFrame | None:
        """Computes statistics of queue lengths by rank and stream, not weighted by time.

        Returns None if no rank has launched work.
        """
        return TraceCounters.get_queue_length_summary(self.t, ranks)

    def get_queue_length_summary_from_time_series(
        self, queue_length_dict: dict[int, pandas.DataFrame]
    ) -> pandas.DataFrame | None:
        """Computes statistics of queue length series by rank and stream.

        Returns None for an empty dictionary.
        """
        return TraceCounters.get_queue_length_summary_from_time_series(queue_length_dict)

    def get_queue_length_time_series(self, ranks: list[int] | None = None) -> dict[int, pandas.DataFrame]:
        """Lists the changes of each stream's launch queue, one frame per rank.

        The index of a row is the label of the event that changed the queue.
        """
        return TraceCounters.get_queue_length_time_series(self.t, ranks)

    def get_time_spent_blocked_on_full_queue(
        self, queue_length_dict: dict[int, pandas.DataFrame], max_queue_length: int = CUDA_MAX_LAUNCH_QUEUE_PER_STREAM
    ) -> pandas.DataFrame:
        """Sums the time that each stream's queue had at least `max_queue_length` entries."""
        return TraceCounters.get_time_spent_blocked_on_full_queue(self.t, queue_length_dict, max_queue_length)

    def get_memory_bw_summary(self, ranks: list[int] | None = None) -> pandas.DataFrame | None:
        """Computes statistics of copy bandwidth (GB/s) by rank and kind of copy.

        Bandwidths of 0 do not count, and time does not weight the values. Returns None if no rank
        has copies.
        """
        return TraceCounters.get_memory_bw_summary(self.t, ranks)

    def get_memory_bw_time_series(self, ranks: list[int] | None = None) -> dict[int, pandas.DataFrame]:
        """Lists the changes of copy and fill bandwidth (GB/s), one frame per rank."""
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
        """Divides the idle time of each stream by cause.

        A gap is a `host_wait` if the next event was launched after the gap began. Otherwise the gap
        is a `kernel_wait` if shorter than `consecutive_kernel_delay` µs, else `other`.

        Returns the sums and, with `show_idle_interval_stats`, statistics of the gaps; otherwise
        None.
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
        """Lists CUPTI counters with the operators around each kernel launch.

        Returns one frame for each rank that has counters.
        """
        return CuptiCounterAnalysis.get_counter_data_with_operators(self.t, ranks)

    def critical_path_analysis(
        self,
        rank: int,
        annotation: str,
        instance_id: int | tuple[int, int] | None,
        data_load_events: Sequence[str] | None = None,
    ) -> tuple[CPGraph, bool] | None:
        """Finds the critical path within the time of an annotation.

        Returns the graph and whether a path exists, or None if no symbol contains `annotation`.

        `annotation` is a part of the annotation's name; an empty text selects the whole trace.
        `instance_id` is the position of one instance in the frame, from 0, or the first and last
        position of a range. None selects the first instance. `data_load_events` are regular
        expressions: host events with matching names count as `data_loading`.

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
        """Writes the trace of a rank with its critical path marked.

        The file is `overlaid_critical_path_<file>` in `output_dir`. Returns its path.

        `only_show_critical_events` drops host and device events outside the path. Arrows show the
        edges of the path between different events. `show_all_edges` shows all edges of the graph,
        if all events are kept.
        """
        return CriticalPathAnalysis.overlay_critical_path_analysis(
            self.t, rank, critical_path_graph, output_dir, only_show_critical_events, show_all_edges
        )
