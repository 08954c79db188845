"""Call graphs of `hta.common.trace_call_graph`, of frames alone."""

from __future__ import annotations

from typing import Any

import pandas
import pytest
from kinetoscope.hta.common.trace import Trace
from kinetoscope.hta.common.trace_call_graph import CallGraph
from kinetoscope.hta.common.trace_call_stack import CallStackIdentity
from kinetoscope.hta.common.trace_symbol_table import TraceSymbolTable

pytestmark = pytest.mark.unit

SYMBOLS = ["ProfilerStep#1", "## backward ##", "aten::mm", "cudaLaunchKernel", "gemm", "autograd::engine", "loader"]
STEP, PASS, MM, LAUNCH, GEMM, ENGINE, LOADER = range(7)
STEP_ROW, PASS_ROW, MM_ROW, LAUNCH_ROW, GEMM_ROW, ENGINE_ROW, AGAIN_ROW, LATER_ROW, LOADER_ROW = range(1, 10)
# name, process, thread, start, duration, stream, partner
EVENTS = [
    (STEP, 1, 11, 0, 100, -1, -1),
    (PASS, 1, 11, 50, 40, -1, -1),
    (MM, 1, 11, 10, 20, -1, -1),
    (LAUNCH, 1, 11, 12, 3, -1, GEMM_ROW),
    (GEMM, 0, 7, 20, 15, 7, LAUNCH_ROW),
    (ENGINE, 1, 22, 55, 30, -1, -1),
    (LAUNCH, 1, 22, 60, 3, -1, LATER_ROW),
    (GEMM, 0, 7, 70, 10, 7, AGAIN_ROW),
    (LOADER, 1, 33, 0, 5, -1, -1),
]


def frame_of(events: list[tuple[int, ...]] = EVENTS, **columns: Any) -> pandas.DataFrame:
    """Labels begin at 1: a partner at 0 is unknown."""
    frame = pandas.DataFrame(events, columns=["name", "pid", "tid", "ts", "dur", "stream", "index_correlation"])
    frame = frame.assign(index=range(1, len(frame) + 1), **columns)
    return frame.set_index("index", drop=False).rename_axis(None)


def symbols() -> TraceSymbolTable:
    table = TraceSymbolTable()
    table.add_symbols(SYMBOLS)
    return table


def graph_of(*frames: pandas.DataFrame) -> CallGraph:
    traces = Trace(trace_files={}, trace_dir="")
    traces.symbol_table = symbols()
    traces.traces.update(enumerate(frames))
    return CallGraph(traces)


def parents(graph: CallGraph, rank: int = 0) -> list[int]:
    return graph.trace_data.get_trace(rank)["parent"].tolist()


def test_frames_gain_columns() -> None:
    frame = frame_of()
    graph = graph_of(frame)
    assert set(graph.stack_columns) <= set(frame.columns)
    assert frame["depth"].tolist() == [0, 1, 1, 2, 3, 2, 3, 4, 0]
    assert frame["height"].tolist() == [4, 3, 2, 1, 0, 2, 1, 0, 1]
    assert frame["parent"].tolist() == [-11, 1, 1, MM_ROW, LAUNCH_ROW, PASS_ROW, ENGINE_ROW, AGAIN_ROW, -33]
    assert frame["num_kernels"].tolist() == [2, 1, 1, 1, 1, 1, 1, 1, 0]
    times = ["kernel_dur_sum", "kernel_span", "first_kernel_start", "last_kernel_end"]
    assert frame.loc[[STEP_ROW, PASS_ROW, LOADER_ROW], times].to_numpy().tolist() == [
        [25, 60, 20, 80],
        [10, 10, 70, 80],
        [0, 0, -1, -1],
    ]
    assert [str(frame[name].dtype) for name in ("depth", "parent", "num_kernels", "kernel_span")] == [
        *("int8", "int8", "int8", "float64"),
    ]


def test_threads_are_listed() -> None:
    graph = graph_of(frame_of(), frame_of(EVENTS[:5]))
    assert graph.mapping.to_numpy().tolist() == [
        [0, 1, 11, "main", 0, -11, 1],
        [0, 1, 22, "bwd", 1, -11, 2],
        [0, 1, 33, "loader", 2, -33, 1],
        [1, 1, 11, "main", 3, -11, 1],
    ]
    assert list(graph.mapping) == ["rank", "pid", "tid", "label", "stack_index", "stack_root", "count"]
    assert list(graph.rank_to_stacks[1]) == [CallStackIdentity(1, 1, 11)]
    assert graph.rank_to_stacks[0][CallStackIdentity(0, 1, 22)] is graph.call_stacks[1]
    assert set(graph.rank_to_nodes[1]) == {-11, *range(1, 6)}


def test_threads_are_found() -> None:
    graph = graph_of(frame_of(), frame_of())
    assert [stack.identity.rank for stack in graph.get_call_stacks(tid=11)] == [0, 1]
    assert [stack.identity.tid for stack in graph.get_call_stacks(rank=1, pid=1)] == [11, 22, 33]
    assert [stack.identity for stack in graph.get_call_stacks(stack_index=4)] == [(1, 1, 22)]
    assert not list(graph.get_call_stacks(rank=2))


def test_a_graph_is_made_of_one_frame_which_stays_as_it_is() -> None:
    frame = frame_of()
    graph = CallGraph.from_dataframe(frame, symbols(), 3)
    assert "parent" not in frame
    assert parents(graph, 3) == parents(graph_of(frame))
    assert (graph.ranks, graph.mapping["rank"].unique().tolist()) == ([3], [3])


def test_a_graph_is_made_of_texts() -> None:
    frame = frame_of()
    frame["name"] = frame["cat"] = [SYMBOLS[number] for number in frame["name"]]
    graph = CallGraph.from_dataframe(frame)
    assert graph.mapping["label"].tolist() == ["main", "bwd", "loader"]
    assert parents(graph, -1) == parents(graph_of(frame_of()))


def test_a_second_graph_of_a_frame_is_equal() -> None:
    frame = frame_of()
    graph_of(frame)
    first = frame.copy()
    graph_of(frame)
    pandas.testing.assert_frame_equal(frame, first)


def test_without_a_pass_backward_events_are_in_the_step() -> None:
    events = [event for event in EVENTS if event[0] != PASS]
    graph = graph_of(frame_of([(*event[:6], -1) for event in events]))
    assert parents(graph)[4] == STEP_ROW


@pytest.mark.parametrize("twice", [(STEP, 1, 44, 0, 9, -1, -1), (ENGINE, 1, 44, 0, 9, -1, -1)])
def test_one_of_several_main_or_backward_threads_is_not_chosen(twice: tuple[int, ...]) -> None:
    assert parents(graph_of(frame_of([*EVENTS, twice])))[ENGINE_ROW - 1] == -22


def test_device_work_on_stream_0_is_in_the_tree_of_its_launch() -> None:
    frame = frame_of()
    frame.loc[GEMM_ROW, "stream"] = 0
    graph = graph_of(frame)
    assert parents(graph)[GEMM_ROW - 1] == LAUNCH_ROW
    assert graph.get_csg_of_node(GEMM_ROW).identity.tid == 11


def test_host_rows_with_a_stream_are_in_a_thread_but_not_in_its_tree() -> None:
    frame = frame_of()
    frame.loc[MM_ROW, "stream"] = 0  # operators that launch Triton kernels have a stream, too
    graph = graph_of(frame)
    assert graph.get_csg_of_node(MM_ROW).identity.tid == 11
    assert graph.get_stack_of_node(MM_ROW).empty
    assert parents(graph)[LAUNCH_ROW - 1] == STEP_ROW


def test_device_work_without_a_launch_is_in_no_tree() -> None:
    graph = graph_of(frame_of([(*event[:6], min(event[6], 0)) for event in EVENTS]))
    assert parents(graph)[GEMM_ROW - 1] == -1
    with pytest.raises(ValueError, match=f"expected an event of a thread with a tree, found {GEMM_ROW} of rank 0"):
        graph.get_stack_of_node(GEMM_ROW)


def test_rows_around_and_inside_an_event() -> None:
    graph = graph_of(frame_of())
    assert graph.get_stack_of_node(MM_ROW).index.tolist() == [STEP_ROW, MM_ROW, LAUNCH_ROW, GEMM_ROW]
    assert graph.get_stack_of_node(MM_ROW, skip_ancestors=True).index.tolist() == [MM_ROW, LAUNCH_ROW, GEMM_ROW]
    assert graph.get_stack_of_node(LATER_ROW).index.tolist() == [STEP_ROW, PASS_ROW, ENGINE_ROW, AGAIN_ROW, LATER_ROW]
    assert graph.get_stack_of_node(LATER_ROW, skip_ancestors=True).index.tolist() == [LATER_ROW]
    assert graph.get_gpu_kernels().index.tolist() == [GEMM_ROW, LATER_ROW]


def test_a_rank_is_looked_at_until_another_is_asked_for() -> None:
    graph = graph_of(frame_of(), frame_of(EVENTS[:5]))
    assert len(graph.get_gpu_kernels()) == 2
    assert len(graph.get_gpu_kernels(1)) == 1
    assert len(graph.get_gpu_kernels()) == 1
    assert len(graph.get_gpu_kernels(0)) == 2


def test_unknown_ranks_and_events_are_refused() -> None:
    graph = graph_of(frame_of())
    assert graph.get_node_attributes(MM_ROW)["dur"] == 20
    with pytest.raises(ValueError, match="expected an event of rank 0, found 99"):
        graph.get_node_attributes(99)
    with pytest.raises(ValueError, match=r"expected one of the ranks \[0\], found 4"):
        graph.get_gpu_kernels(4)
    with pytest.raises(ValueError, match=r"expected some of the ranks \[0\], found \[4\]"):
        CallGraph(graph.trace_data, [4])


def test_a_frame_without_host_events_has_no_threads() -> None:
    graph = graph_of(frame_of([EVENTS[GEMM_ROW - 1]]))
    assert (len(graph.mapping), graph.call_stacks, parents(graph)) == (0, [], [-1])
    assert list(graph.mapping) == ["rank", "pid", "tid", "label", "stack_index", "stack_root", "count"]
