"""The traces of a job, and HTA's analyses of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kinetoscope.hta import (
    annotated,
    aten,
    bandwidth,
    counted,
    cupti,
    device_time,
    idle,
    kernels,
    launches,
    patterned,
    queue,
    sequences,
    stragglers,
)
from kinetoscope.hta.analyzers.critical_path_analysis import CPGraph, CriticalPathAnalysis
from kinetoscope.hta.common.trace import DEFAULT_TRACE_DIR, Trace
from kinetoscope.hta.overlay import write_overlay

if TYPE_CHECKING:
    import pandas

TimeSeriesTypes = counted.TimeSeriesTypes


class TraceAnalysis:
    """Reads the traces of a job into frames, and answers what HTA answers, in its frames; times are in µs.

    Arguments that ask for a drawing, such as `visualize`, are taken and do nothing.
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

    def get_profiler_steps(self) -> list[int]:
        """The steps that events of any rank are in."""
        return sorted({step for rank in self.t.get_ranks() for step in self.t.get_iterations(rank)})

    def get_temporal_breakdown(self, visualize: bool = True) -> pandas.DataFrame:
        """Idle, computing and other time of each rank's devices, from the first start to the last end."""
        return device_time.temporal_breakdown(self.t)

    def get_comm_comp_overlap(self, visualize: bool = True) -> pandas.DataFrame:
        """The percentage of each rank's communication that computation hides."""
        return device_time.overlap(self.t)

    def get_potential_stragglers(
        self,
        profiler_steps: Sequence[int] | None = None,
        num_candidates: int = 2,
        visualize: bool = False,
        straggler_identification_impl: stragglers.Find | None = None,
    ) -> list[int]:
        """At most `num_candidates` ranks that came last to communications, in all steps or in these; the latest first.

        `straggler_identification_impl` may say how often each rank was late instead: it is given the rows of all ranks,
        the table of symbols, `num_candidates` and `visualize`, and gives a series by rank. ValueError for a step that
        there is not.
        """
        impl = straggler_identification_impl
        return stragglers.stragglers(self.t, profiler_steps, num_candidates, impl, drawn=visualize)

    def get_gpu_kernel_breakdown(
        self,
        visualize: bool = True,
        duration_ratio: float = 0.8,
        num_kernels: int = 10,
        include_memory_kernels: bool = True,
        image_renderer: str = "",
    ) -> tuple[pandas.DataFrame, pandas.DataFrame]:
        """Time by type of kernel; and kernels of each rank and type by name, the shorter ones together as `others`."""
        types = kernels.kernel_types(self.t, with_memory=include_memory_kernels)
        shown = kernels.Shown(duration_ratio, num_kernels)
        return types, kernels.kernel_table(self.t, shown, with_memory=include_memory_kernels)

    def get_gpu_user_annotation_breakdown(
        self,
        use_gpu_annotation: bool = True,
        visualize: bool = True,
        duration_ratio: float = 0.8,
        num_kernels: int = 1000,
        allowlist_patterns: Sequence[str] | None = None,
        image_renderer: str | None = None,
    ) -> pandas.DataFrame | None:
        """Annotations of each rank by name, as the device has them or the host; None where there are none."""
        shown = kernels.Shown(duration_ratio, num_kernels, allowlist_patterns or ())
        return kernels.annotation_table(self.t, "device" if use_gpu_annotation else "host", shown)

    def get_gpu_kernels_with_user_annotations(
        self, rank: int, expand_names: bool = True, shorten_names: bool = True
    ) -> pandas.DataFrame | None:
        """Device events with the innermost annotation around each; None where there are no annotations."""
        return annotated.annotated_kernels(self.t, rank, with_names=expand_names, with_short_names=shorten_names)

    def get_idle_time_breakdown(
        self,
        ranks: Sequence[int] | None = None,
        streams: Sequence[int] | None = None,
        visualize: bool = True,
        visualize_pctg: bool = True,
        show_idle_interval_stats: bool = False,
        consecutive_kernel_delay: float = 30,
    ) -> tuple[pandas.DataFrame, pandas.DataFrame | None]:
        """Idle time of each stream by its reason; and, if asked for, what the gaps are like.

        Gaps of less than `consecutive_kernel_delay` µs before work that had been launched are `kernel_wait`.
        """
        sums, intervals = idle.idle_times(self.t, self._ranks(ranks), streams, consecutive_kernel_delay)
        return sums, intervals if show_idle_interval_stats else None

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
        """Kernels under operators with `operator_name` in their names, as `operator|kernel|…`, the most frequent first.

        Writes `overlaid_<file>` to `output_dir`, unless that is empty or there are none: the rank's trace with the
        first `top_k` of them in the argument `Patterns` of all that belongs to them. All else has numbers in place of
        names, and no arguments, unless `compress_other_kernels` is false.
        """
        found = sequences.frequent_sequences(self.t, rank, operator_name, min_pattern_len)
        if output_dir and len(found):
            first = dict(found[["pattern", "count"]].head(top_k).to_numpy().tolist())
            patterned.write_patterns(self.t, rank, operator_name, first, output_dir, is_short=compress_other_kernels)
        return found

    def get_aten_op_kernels_and_delay(
        self, ranks: Sequence[int] | None = None, sort_by: Sequence[str] | None = None
    ) -> dict[int, pandas.DataFrame]:
        """ATen operators of each rank by the kernels that they launch: how often, and the mean delays of the first.

        From the start of the operator to that of the launch, and from there to the start of the kernel, in µs. Sorted
        by `occurrence_count`, or the columns asked for, the largest first.
        """
        return {
            rank: aten.kernels_and_delays(self.t, rank, sort_by or ["occurrence_count"]) for rank in self._ranks(ranks)
        }

    def generate_trace_with_counters(
        self,
        time_series: counted.TimeSeriesTypes | None = None,
        ranks: Sequence[int] | None = None,
        output_suffix: str = "_with_counters",
    ) -> None:
        """Writes the trace of each rank beside its file, with tracks of queue lengths, of bandwidth, or of both."""
        series = counted.TimeSeriesTypes.QUEUE_LENGTH | counted.TimeSeriesTypes.MEMCPY_BANDWIDTH
        for rank in self._ranks(ranks):
            counted.write_counters(self.t, rank, series if time_series is None else time_series, output_suffix)

    def get_cupti_counter_data_with_operators(self, ranks: Sequence[int] | None = None) -> list[pandas.DataFrame]:
        """Counters of CUPTI of each rank that has some, with the operators that launched what they count.

        The ranges of the profiler are put to launches by their order; a rank with more of one is left out.
        """
        found = [cupti.counters(self.t, rank) for rank in self._ranks(ranks)]
        return [frame for frame in found if frame is not None and len(frame)]

    def get_cuda_kernel_launch_stats(
        self,
        ranks: Sequence[int] | None = None,
        runtime_cutoff: int = 50,
        launch_delay_cutoff: int = 100,
        include_memory_events: bool = True,
        visualize: bool = True,
    ) -> dict[int, pandas.DataFrame]:
        """Launches of each rank with the work they launched, and the delay between; the cutoffs are for drawings."""
        return {
            rank: launches.launch_stats(self.t, rank, with_memory=include_memory_events) for rank in self._ranks(ranks)
        }

    def get_queue_length_time_series(self, ranks: Sequence[int] | None = None) -> dict[int, pandas.DataFrame]:
        """Changes of the number of launches whose work has not begun, by rank; labelled by the event."""
        return {rank: queue.queue_lengths(self.t, rank) for rank in self._ranks(ranks)}

    def get_queue_length_summary(self, ranks: Sequence[int] | None = None) -> pandas.DataFrame | None:
        """What the points of the series are like, by rank and stream; not weighted by time."""
        return self.get_queue_length_summary_from_time_series(self.get_queue_length_time_series(ranks))

    def get_queue_length_summary_from_time_series(
        self, queue_length_dict: Mapping[int, pandas.DataFrame]
    ) -> pandas.DataFrame | None:
        """As `get_queue_length_summary`, of the series given."""
        return queue.summary(queue_length_dict, "stream", "queue_length")

    def get_time_spent_blocked_on_full_queue(
        self, queue_length_dict: Mapping[int, pandas.DataFrame], max_queue_length: int = 1024
    ) -> pandas.DataFrame:
        """How long the queue of each stream was that long or longer, for the ranks given."""
        return queue.blocked(self.t, queue_length_dict, max_queue_length)

    def get_memory_bw_time_series(self, ranks: Sequence[int] | None = None) -> dict[int, pandas.DataFrame]:
        """Changes of the bandwidth (GB/s) of copies and fills, by rank."""
        return {rank: bandwidth.bandwidths(self.t, rank) for rank in self._ranks(ranks)}

    def get_memory_bw_summary(self, ranks: Sequence[int] | None = None) -> pandas.DataFrame | None:
        """What the points of the series above 0 are like, by rank and kind of copy; not weighted by time."""
        series = self.get_memory_bw_time_series(ranks)
        positive = {rank: frame.query("memory_bw_gbps > 0") for rank, frame in series.items()}
        return queue.summary(positive, "name", "memory_bw_gbps")

    def critical_path_analysis(
        self,
        rank: int,
        annotation: str,
        instance_id: int | tuple[int, int] | None,
        data_load_events: Sequence[str] | None = None,
    ) -> tuple[CPGraph, bool] | None:
        """The critical path of what an annotation covers, and whether there is one; None without this annotation.

        `annotation` is a part of its name, all of the trace when empty. `instance_id` says which of its instances, in
        the frame's order, or from which to which; the first where it is None. Host events whose names match one of
        `data_load_events`, regular expressions, count as `data_loading`. ValueError for an instance that there is not.
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

        Without host and device events that are not on the path, unless asked for; with arrows for those edges of the
        path that are in no event; or, if asked for where all events are kept, for all edges.
        """
        return write_overlay(self.t, rank, critical_path_graph, output_dir, only_show_critical_events, show_all_edges)

    def _ranks(self, ranks: Sequence[int] | None) -> Sequence[int]:
        """The first, where none are given."""
        return self.t.get_ranks()[:1] if ranks is None else ranks
