"""`kinetoscope.hta` has every method of HTA's classes, with the names of its arguments in their order."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from kinetoscope.hta.analyzers.critical_path_analysis import CPGraph, restore_cpgraph
from kinetoscope.hta.common import execution_trace
from kinetoscope.hta.trace_analysis import TimeSeriesTypes, TraceAnalysis
from kinetoscope.hta.trace_diff import DeviceType, LabeledTrace, TraceDiff

pytestmark = pytest.mark.unit

# HTA 0.6.1; the default of `straggler_identification_impl` is a function there
TRACE_ANALYSIS = {
    "critical_path_analysis": "rank annotation instance_id data_load_events=None",
    "generate_trace_with_counters": "time_series=None ranks=None output_suffix='_with_counters'",
    "get_aten_op_kernels_and_delay": "ranks=None sort_by=None",
    "get_comm_comp_overlap": "visualize=True",
    "get_cuda_kernel_launch_stats": (
        "ranks=None runtime_cutoff=50 launch_delay_cutoff=100 include_memory_events=True visualize=True"
    ),
    "get_cupti_counter_data_with_operators": "ranks=None",
    "get_frequent_cuda_kernel_sequences": (
        "operator_name output_dir min_pattern_len=3 rank=0 top_k=5 visualize=False compress_other_kernels=True"
    ),
    "get_gpu_kernel_breakdown": (
        "visualize=True duration_ratio=0.8 num_kernels=10 include_memory_kernels=True image_renderer=''"
    ),
    "get_gpu_kernels_with_user_annotations": "rank expand_names=True shorten_names=True",
    "get_gpu_user_annotation_breakdown": (
        "use_gpu_annotation=True visualize=True duration_ratio=0.8 num_kernels=1000 allowlist_patterns=None"
        " image_renderer=None"
    ),
    "get_idle_time_breakdown": (
        "ranks=None streams=None visualize=True visualize_pctg=True show_idle_interval_stats=False"
        " consecutive_kernel_delay=30"
    ),
    "get_memory_bw_summary": "ranks=None",
    "get_memory_bw_time_series": "ranks=None",
    "get_potential_stragglers": (
        "profiler_steps=None num_candidates=2 visualize=False straggler_identification_impl=None"
    ),
    "get_profiler_steps": "",
    "get_queue_length_summary": "ranks=None",
    "get_queue_length_summary_from_time_series": "queue_length_dict",
    "get_queue_length_time_series": "ranks=None",
    "get_temporal_breakdown": "visualize=True",
    "get_time_spent_blocked_on_full_queue": "queue_length_dict max_queue_length=1024",
    "overlay_critical_path_analysis": (
        "rank critical_path_graph output_dir only_show_critical_events=True show_all_edges=False"
    ),
}
SIDES = "control_rank=None test_rank=None control_iteration=None test_iteration=None"
OTHERS: list[tuple[Any, str]] = [
    (TraceDiff.compare_traces, f"control test {SIDES} device_type=<DeviceType.ALL: 3> use_short_name=False"),
    (TraceDiff.ops_diff, f"control test {SIDES} device_type=<DeviceType.ALL: 3>"),
    (TraceDiff.visualize_counts_diff, "df show_image=True export_image_path=None"),
    (TraceDiff.visualize_duration_diff, "df show_image=True export_image_path=None"),
    (LabeledTrace, "label=None t=None trace_dir=None"),
    (LabeledTrace.extract_ops, "self rank=None iteration=None device_type=<DeviceType.ALL: 3>"),
    (LabeledTrace.get_ops_summary, "self ops"),
    (CPGraph.get_nodes_for_event, "self ev_id"),
    (CPGraph.get_edges_attributed_to_event, "self ev_idx"),
    (CPGraph.save, "self out_dir"),
    (restore_cpgraph, "zip_filename t_full rank"),
    (execution_trace.load_execution_trace, "et_file"),
    (execution_trace.correlate_execution_trace, "trace rank et"),
    (execution_trace.add_et_column, "trace_df et column"),
]


def arguments(function: Any) -> str:
    parameters = inspect.signature(function).parameters.values()
    return " ".join(
        found.name if found.default is inspect.Parameter.empty else f"{found.name}={found.default!r}"
        for found in parameters
    )


def test_trace_analysis() -> None:
    methods = {name: method for name, method in vars(TraceAnalysis).items() if not name.startswith("_")}
    found = {name: arguments(method).removeprefix("self").strip() for name, method in methods.items()}
    assert found == TRACE_ANALYSIS
    assert len(found) == 21


@pytest.mark.parametrize(("function", "names"), OTHERS)
def test_other_functions(function: Any, names: str) -> None:
    assert arguments(function) == names


def test_what_they_take() -> None:
    assert [(kind.name, kind.value) for kind in DeviceType] == [("CPU", 1), ("GPU", 2), ("ALL", 3)]
    assert [(kind.name, kind.value) for kind in TimeSeriesTypes] == [("QUEUE_LENGTH", 1), ("MEMCPY_BANDWIDTH", 2)]
