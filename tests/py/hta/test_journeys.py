"""Programs for HTA run to their ends with their imports changed, on the traces that they were written for."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas
import pytest
from kinetoscope.hta.analyzers.critical_path_analysis import CPEdgeType, restore_cpgraph
from kinetoscope.hta.analyzers.cupti_counter_analysis import CUDA_SASS_INSTRUCTION_COUNTER_FLOPS
from kinetoscope.hta.common.trace import Trace
from kinetoscope.hta.common.trace_filter import CompositeFilter, GPUKernelFilter, NameFilter, TimeRangeFilter
from kinetoscope.hta.trace_analysis import TimeSeriesTypes, TraceAnalysis
from kinetoscope.hta.trace_diff import DeviceType, LabeledTrace, TraceDiff
from kinetoscope.hta.utils.utils import flatten_column_names

pytestmark = pytest.mark.shared

HTA = "facebookresearch__HolisticTraceAnalysis/tests/data"


def copied(shared: Path, name: str, to: Path) -> str:
    """The folder of a trace, where others may be written beside it."""
    shutil.copytree(shared / HTA / name, to / "traces")
    return str(to / "traces")


def test_the_analysis_of_a_job(shared: Path, tmp_path: Path) -> None:
    analyzer = TraceAnalysis(trace_dir=copied(shared, "nccl_parser_config", tmp_path))
    assert len(analyzer.get_temporal_breakdown(visualize=False)) == 1
    idle, intervals = analyzer.get_idle_time_breakdown(ranks=[0], visualize=False, show_idle_interval_stats=True)
    assert intervals is not None
    assert set(idle["stream"]) == set(intervals["stream"])
    types, kernels = analyzer.get_gpu_kernel_breakdown(visualize=False, num_kernels=5, include_memory_kernels=False)
    assert types["percentage"].sum() == pytest.approx(100, abs=0.2)
    assert (kernels.groupby("kernel_type").size() <= 6).all()
    assert 0 < analyzer.get_comm_comp_overlap(visualize=False)["comp_comm_overlap_pctg"][0] < 100
    launches = analyzer.get_cuda_kernel_launch_stats(ranks=[0], visualize=False)[0]
    assert (launches["launch_delay"] >= 0).all()
    queues = analyzer.get_queue_length_time_series(ranks=[0])
    assert analyzer.get_time_spent_blocked_on_full_queue(queues).empty
    summary = analyzer.get_queue_length_summary_from_time_series(queues)
    bandwidth = analyzer.get_memory_bw_summary(ranks=[0])
    assert summary is not None
    assert bandwidth is not None
    flatten_column_names(summary)
    assert "queue_length_max" in summary
    analyzer.generate_trace_with_counters(TimeSeriesTypes.MEMCPY_BANDWIDTH, ranks=[0], output_suffix="_bandwidth")
    assert (tmp_path / "traces/nccl_data_bandwidth.json.gz").is_file()
    annotated = analyzer.get_gpu_kernels_with_user_annotations(rank=0)
    assert annotated is not None
    assert annotated["s_user_annotation"].str.startswith("nccl:all_reduce").any()


def test_what_if(shared: Path, tmp_path: Path) -> None:
    pytest.importorskip("networkx")
    analyzer = TraceAnalysis(trace_dir=str(shared / HTA / "ns_resolution_trace"))
    found = analyzer.critical_path_analysis(rank=0, annotation="ProfilerStep", instance_id=(1, 2))
    assert found is not None
    graph, is_found = found
    assert is_found
    length = sum(edge.weight for edge in graph.critical_path_edges_set)
    restored = restore_cpgraph(graph.save(str(tmp_path / "graph")), analyzer.t, 0)
    for source, target in restored.edges:
        edge = restored.edges[source, target]["object"]
        if edge.type in {CPEdgeType.KERNEL_KERNEL_DELAY, CPEdgeType.KERNEL_LAUNCH_DELAY}:
            restored.edges[source, target]["weight"] = 0
    assert restored.critical_path()
    path = list(zip(restored.critical_path_nodes, restored.critical_path_nodes[1:], strict=False))
    new_length = sum(restored.edges[step]["weight"] for step in path)
    assert 0.9 * length < new_length < length
    assert restored.get_critical_path_breakdown()["duration"].sum() == new_length  # pyright: ignore[reportOptionalSubscript] - there is a path
    overlaid = analyzer.overlay_critical_path_analysis(0, restored, output_dir=str(tmp_path))
    assert Path(overlaid).stat().st_size > 1000


def test_the_difference_of_two_traces(shared: Path, tmp_path: Path) -> None:
    control = LabeledTrace(label="Control", trace_dir=str(shared / HTA / "trace_compare/base"))
    test = LabeledTrace(label="Test", trace_dir=str(shared / HTA / "trace_compare/test"))
    assert (control.ranks(), control.iterations()) == (test.ranks(), test.iterations())
    found = TraceDiff.compare_traces(control, test, test_iteration=1010, device_type=DeviceType.CPU)
    longest = found.sort_values(by="diff_duration", ascending=False).head(10)
    TraceDiff.visualize_counts_diff(longest, show_image=False, export_image_path=str(tmp_path / "counts.html"))
    TraceDiff.visualize_duration_diff(longest, show_image=False)
    assert longest.index[0] == "ProfilerStep#1010"
    assert "ProfilerStep#1009" in TraceDiff.ops_diff(control, test, test_iteration=1010)["deleted"]


def test_filters_of_frames(shared: Path) -> None:
    traces = Trace(trace_dir=str(shared / HTA / "timeline_analysis"))
    traces.parse_traces()
    traces.decode_symbol_ids()
    frame, symbols = traces.get_trace(traces.get_ranks()[0]), traces.symbol_table
    assert len(NameFilter("aten::.*mm")(frame, symbols)) == 378
    assert len(TimeRangeFilter((1682725898237042, 1682725898240570))(frame)) == 93
    collectives = CompositeFilter([GPUKernelFilter(), NameFilter("^ncclKernel_SendRecv")])(frame, symbols)
    assert {2512, 2570, 2962, 4554} <= set(collectives["index"])


def test_floating_point_operations_of_operators(shared: Path) -> None:
    kernels = TraceAnalysis(trace_dir=str(shared / HTA / "cupti_profiler")).get_cupti_counter_data_with_operators([0])[
        0
    ]
    flops = sum(
        (kernels[counter].astype("int64") * count for counter, count in CUDA_SASS_INSTRUCTION_COUNTER_FLOPS.items()),
        start=pandas.Series(0, kernels.index),
    )
    by_operator = pandas.Series(flops.groupby(kernels["top_level_op"]).sum())
    # an AlexNet computes in its convolutions
    assert by_operator.idxmax() == "aten::conv2d"
    assert by_operator["aten::linear"] > 1e8
