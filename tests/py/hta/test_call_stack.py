"""Trees of the calls of a thread, of frames alone: `hta.common.trace_call_stack` and the older `call_stack`."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from itertools import pairwise, permutations
from typing import Any

import numpy
import pandas
import pytest
from kinetoscope.hta.common import call_stack as older
from kinetoscope.hta.common.trace_call_stack import (
    CLOSE_END,
    NON_EXISTENT_NODE_INDEX,
    NULL_NODE_INDEX,
    OPEN_END,
    CallStackGraph,
    CallStackIdentity,
    CallStackNode,
    is_events_sorted,
    sort_events,
)
from kinetoscope.hta.common.trace_filter import ZeroDurationFilter
from kinetoscope.hta.common.trace_symbol_table import TraceSymbolTable
from kinetoscope.hta.common.types import DeviceType

pytestmark = pytest.mark.unit

IDENTITY = CallStackIdentity(0, 1, 7)
ROOT = -7
OUTER, INNER, LAUNCH, LATER, KERNEL, COPY = 10, 11, 12, 13, 14, 15
STACK_COLUMNS = {"parent": -1.0, "depth": -1.0, "height": -1.0}
KERNEL_COLUMNS = dict.fromkeys(
    ["num_kernels", "kernel_dur_sum", "kernel_span", "first_kernel_start", "last_kernel_end"], 0.0
)


def rows(times: Sequence[tuple[float, float]], **columns: Any) -> pandas.DataFrame:
    """Rows of a host thread, labelled from 0 unless told otherwise."""
    frame = pandas.DataFrame(times, columns=["ts", "dur"]).assign(stream=-1, pid=1, tid=7, index_correlation=-1)
    frame = frame.assign(index=range(len(times))).assign(**columns)
    return frame.set_index("index", drop=False).rename_axis(None)


def thread() -> pandas.DataFrame:
    """An operator with another inside, which launches a kernel and a copy; and a later operator."""
    times = [(0, 100), (10, 50), (20, 5), (200, 10), (40, 30), (80, 10)]
    streams, launches = [-1] * 4 + [3, 3], [-1, -1, KERNEL, -1, LAUNCH, LAUNCH]
    labels = [OUTER, INNER, LAUNCH, LATER, KERNEL, COPY]
    return rows(times, index=labels, stream=streams, index_correlation=launches)


def graph_of(frame: pandas.DataFrame, **options: Any) -> CallStackGraph:
    host = frame.loc[frame["stream"] == -1]
    links = frame.loc[frame["stream"] >= 0, ["index_correlation", "index"]].set_axis(["cpu_index", "gpu_index"], axis=1)
    return CallStackGraph(host, IDENTITY, links, frame, TraceSymbolTable(), **options)


def parents_of(times: Sequence[tuple[float, float]], **columns: Any) -> dict[int, int]:
    nodes = graph_of(rows(times, **columns)).get_nodes()
    return {idx: max(node.parent, -1) for idx, node in sorted(nodes.items()) if idx >= 0}


def older_parents_of(times: Sequence[tuple[float, float]]) -> dict[int, int]:
    nodes = older.CallStackGraph(rows(times), older.CallStackIdentity()).get_nodes()
    return {idx: node.parent for idx, node in sorted(nodes.items()) if idx >= 0}


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> pytest.LogCaptureFixture:
    monkeypatch.setattr(logging.getLogger("hta"), "propagate", True)
    return caplog


# --- nesting ------------------------------------------------------------------------------------------------------


def test_events_are_nested_with_the_device_work_they_launched() -> None:
    cpu, gpu = DeviceType.CPU, DeviceType.GPU
    assert graph_of(thread()).get_nodes() == {
        ROOT: CallStackNode(NULL_NODE_INDEX, -1, 4, cpu, [OUTER, LATER]),
        OUTER: CallStackNode(ROOT, 0, 3, cpu, [INNER]),
        INNER: CallStackNode(OUTER, 1, 2, cpu, [LAUNCH]),
        LAUNCH: CallStackNode(INNER, 2, 1, cpu, [KERNEL, COPY]),
        KERNEL: CallStackNode(LAUNCH, 3, 0, gpu, []),
        COPY: CallStackNode(LAUNCH, 3, 0, gpu, []),
        LATER: CallStackNode(ROOT, 0, 1, cpu, []),
    }


@pytest.mark.parametrize("parents", [parents_of, older_parents_of])
@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ([(5, 2), (0, 10), (5, 5)], {0: 2, 1: -1, 2: 1}),  # the frame need not be sorted
        ([(0, 10), (0, 10), (0, 10)], {0: -1, 1: 0, 2: 1}),  # of equal events the first is outside
        ([(0, 5), (5, 5)], {0: -1, 1: -1}),  # one begins as the other ends
        ([(0, 5), (5, 0)], {0: -1, 1: 0}),  # an instant at the end
        ([(5, 0), (5, 5)], {0: 1, 1: -1}),  # an instant at the start
        ([(0, 5), (5, 0), (5, 5)], {0: -1, 1: 2, 2: -1}),  # between both: inside what begins
        ([(0, 10), (4, -1), (5, 2)], {0: -1, 1: 0, 2: 0}),  # a negative duration counts as none
        ([(0.25, 1.5), (0.5, 0.25)], {0: -1, 1: 0}),
        ([], {}),
    ],
)
def test_parents(parents: Any, times: list[tuple[float, float]], expected: dict[int, int]) -> None:
    assert parents(times) == expected


def test_instants_of_one_time_are_inside_one_another_or_in_the_older_form_side_by_side() -> None:
    times = [(0, 10), (5, 0), (5, 0), (5, 0)]
    assert parents_of(times) == {0: -1, 1: 0, 2: 1, 3: 2}
    assert older_parents_of(times) == {0: -1, 1: 0, 2: 0, 3: 0}


def test_parents_of_random_trees() -> None:
    numbers = numpy.random.default_rng(1)
    for _ in range(20):
        open_events: list[int] = []
        times: list[list[int]] = []
        expected: dict[int, int] = {}
        for time in range(100):
            if open_events and numbers.random() < 0.5:
                event = open_events.pop()
                times[event][1] = time - times[event][0]
            else:
                expected[len(times)] = open_events[-1] if open_events else -1
                open_events.append(len(times))
                times.append([time, 1000 - 2 * time])
        assert parents_of([(start, dur) for start, dur in times]) == expected


def test_calls_may_be_nested_to_any_depth() -> None:
    depth = 20_000
    frame = rows([(level, 2 * (depth - level)) for level in range(depth)]).assign(**STACK_COLUMNS, **KERNEL_COLUMNS)
    graph = graph_of(frame)
    seen: list[int] = []
    graph.dfs_traverse(lambda idx, _: seen.append(idx), lambda idx, _: seen.append(idx))
    assert frame["depth"].tolist() == list(range(depth))
    assert graph.get_nodes()[0].height == depth
    assert graph.get_leaf_nodes(0) == [depth - 1]
    assert len(graph.get_path_to_root(depth - 1)) == depth + 1
    assert len(seen) == 2 * (depth + 1)
    assert len(older_parents_of(frame[["ts", "dur"]].to_numpy().tolist())) == depth


def test_ends_are_sorted_whatever_their_order() -> None:
    ends = [(1, 5, OPEN_END, 0), (1, 5, CLOSE_END, 5), (2, 0, OPEN_END, 5), (2, 0, CLOSE_END, 5), (3, 4, OPEN_END, 0)]
    for order in permutations([*ends, (3, 4, CLOSE_END, 4)]):
        events = numpy.array(order)
        sort_events(events)
        assert events[:, [0, 2]].tolist() == [[1, -1], [3, -1], [3, 1], [2, -1], [2, 1], [1, 1]]
        assert is_events_sorted(events)
        assert not is_events_sorted(events[::-1])


# --- walks --------------------------------------------------------------------------------------------------------


def test_walks_leave_out_device_work_unless_asked_for() -> None:
    graph = graph_of(thread())
    assert graph.get_path_to_root(LAUNCH) == [LAUNCH, INNER, OUTER, ROOT]
    assert (graph.get_root(KERNEL), graph.get_root(ROOT)) == (ROOT, NULL_NODE_INDEX)
    assert graph.get_descendants(INNER) == [INNER, LAUNCH]
    assert graph.get_descendants(INNER, include_gpu_kernel=True) == [INNER, LAUNCH, KERNEL, COPY]
    assert graph.get_leaf_nodes(OUTER) == [LAUNCH]
    assert graph.get_leaf_nodes(ROOT, include_gpu_kernel=True) == [KERNEL, COPY, LATER]
    assert graph.get_paths_to_leaves(INNER, include_cuda_kernel=True) == [
        [INNER, LAUNCH, KERNEL],
        [INNER, LAUNCH, COPY],
    ]
    assert graph.get_leaf_nodes(KERNEL) == []
    assert "    14: CallStackNode(parent=12, depth=3" in repr(graph)


@pytest.mark.parametrize(
    "graph", [graph_of(thread()), older.CallStackGraph(thread().head(4), older.CallStackIdentity())]
)
def test_unknown_events_are_nowhere(graph: Any, log: pytest.LogCaptureFixture) -> None:
    assert graph.get_parent(99) == NON_EXISTENT_NODE_INDEX
    assert "found 99" in log.text
    walks = (graph.get_children, graph.get_path_to_root, graph.get_paths_to_leaves, graph.get_leaf_nodes)
    assert [walk(99) for walk in walks] == [[]] * 4


# --- columns ------------------------------------------------------------------------------------------------------


def test_columns_that_the_frame_has_are_filled() -> None:
    frame = thread().assign(**STACK_COLUMNS, **KERNEL_COLUMNS)
    graph = graph_of(frame)
    columns = [*STACK_COLUMNS, *KERNEL_COLUMNS]
    assert dict(zip(frame.index, frame[columns].to_numpy().tolist(), strict=True)) == {
        OUTER: [ROOT, 0, 3, 2, 40, 50, 40, 90],
        INNER: [OUTER, 1, 2, 2, 40, 50, 40, 90],
        LAUNCH: [INNER, 2, 1, 2, 40, 50, 40, 90],
        LATER: [ROOT, 0, 1, 0, 0, 0, -1, -1],
        KERNEL: [LAUNCH, 3, 0, 1, 30, 30, 40, 70],
        COPY: [LAUNCH, 3, 0, 1, 10, 10, 80, 90],
    }
    assert frame["end"].tolist() == [100, 60, 25, 210, 70, 90]
    assert graph.get_depth().to_dict() == {OUTER: 0, INNER: 1, LAUNCH: 2, LATER: 0}


def test_nullable_columns_stay_so() -> None:
    frame = thread().assign(parent=pandas.array([-1] * 6, "Int64"), depth=pandas.array([-1] * 6, "Int16"))
    frame = frame.assign(height=pandas.array([-1] * 6, "Int16"), num_kernels=pandas.array([0] * 6, "Int64"))
    graph = graph_of(frame.assign(**{name: pandas.array([0] * 6, "Int64") for name in list(KERNEL_COLUMNS)[1:]}))
    found = graph.full_df
    assert [str(found[name].dtype) for name in ("parent", "depth", "last_kernel_end")] == ["Int64", "Int16", "Int64"]
    assert found["last_kernel_end"].tolist() == [90, 90, 90, -1, 70, 90]


def test_missing_columns_are_told_and_not_added(log: pytest.LogCaptureFixture) -> None:
    frame = thread()
    graph = graph_of(frame)
    assert {"end"} == set(frame.columns) - set(thread().columns)
    assert "expected the column num_kernels" in log.text
    assert "expected the column parent" in log.text
    assert graph.get_depth().to_dict() == {OUTER: 0, INNER: 1, LAUNCH: 2, LATER: 0}


def test_the_tree_is_read_from_filled_columns() -> None:
    frame = thread().assign(**STACK_COLUMNS, **KERNEL_COLUMNS)
    nodes = graph_of(frame).get_nodes()
    frame["ts"] = 0  # no longer looked at
    assert graph_of(frame).get_nodes() == nodes
    assert graph_of(frame, use_existing_stack_columns=False).get_nodes() != nodes


def test_without_saving_heights_are_unknown_until_they_are_saved() -> None:
    graph = graph_of(thread(), save_call_stack_to_df=False)
    assert graph.get_nodes()[OUTER].height == -1
    graph.save_call_stack_to_dataframe()
    assert graph.get_nodes()[OUTER].height == 3


# --- several threads ----------------------------------------------------------------------------------------------


def two_threads() -> tuple[CallStackGraph, CallStackGraph]:
    """A main thread with two passes; and a thread whose events lie in the first, the second and neither."""
    main = rows([(0, 100), (10, 20), (50, 20)], index=[1, 2, 3], tid=7)
    other = rows([(12, 5), (55, 5), (60, 20)], index=[4, 5, 6], tid=8)
    frame, nodes = pandas.concat([main, other]), {}
    links = pandas.DataFrame(columns=["cpu_index", "gpu_index"])
    identities = (CallStackIdentity(0, 1, 7), CallStackIdentity(0, 1, 8))
    graphs = [
        CallStackGraph(part, identity, links, frame, TraceSymbolTable(), nodes)
        for part, identity in zip((main, other), identities, strict=True)
    ]
    return graphs[0], graphs[1]


def test_outermost_events_move_into_an_event_around_them_in_time() -> None:
    main, other = two_threads()
    other.update_parent_of_first_layer_nodes(2)
    other.update_parent_of_first_layer_nodes(3)
    assert [other.get_parent(idx) for idx in (4, 5, 6)] == [2, 3, -8]
    assert (main.get_children(2), other.get_children(-8), other.root_index) == ([4], [6], -8)


def test_a_root_without_events_is_replaced_by_that_of_their_new_parent() -> None:
    main, other = two_threads()
    other.update_parent_of_first_layer_nodes(1)
    assert (other.root_index, -8 in other.get_nodes()) == (-7, False)
    other.update_parent_of_first_layer_nodes(1)  # an event does not move into itself
    assert main.get_parent(1) == -7
    main.save_call_stack_to_dataframe(apply_whole_graph=True)
    assert main.get_nodes()[6].depth == 1


def test_events_move_only_into_known_events() -> None:
    with pytest.raises(ValueError, match="expected an event with a node and a row, found 99"):
        two_threads()[0].update_parent_of_first_layer_nodes(99)


def test_an_event_that_is_in_the_tree_already_is_told_and_left_out(log: pytest.LogCaptureFixture) -> None:
    nodes = {LATER: CallStackNode(depth=5)}
    graph = graph_of(thread(), nodes=nodes, save_call_stack_to_df=False)
    assert (graph.get_nodes()[LATER].depth, graph.get_children(ROOT)) == (5, [OUTER])
    assert "found 1 again" in log.text


def test_threads_without_a_number_of_63_bits_get_a_free_root() -> None:
    frame, nodes = thread(), {}
    for place, name in enumerate(("loader", 2**70)):
        host = frame.loc[[[OUTER, INNER], [LATER]][place]]
        links = pandas.DataFrame(columns=["cpu_index", "gpu_index"])
        identity: Any = CallStackIdentity(0, 1, name)  # type: ignore[arg-type] - as some files have it
        CallStackGraph(host, identity, links, frame, TraceSymbolTable(), nodes)
    roots = [idx for idx in nodes if idx < 0]
    assert len(roots) == 2
    assert not {NULL_NODE_INDEX, NON_EXISTENT_NODE_INDEX, -(2**70)} & set(roots)


def test_rows_of_a_device_give_an_empty_graph(log: pytest.LogCaptureFixture) -> None:
    frame = thread()
    graph = CallStackGraph(frame.tail(2), IDENTITY, pandas.DataFrame(), frame, TraceSymbolTable())
    assert (graph.device_type, graph.get_nodes()) == (DeviceType.GPU, {})
    assert "expected the rows of a host thread" in log.text


def test_frames_without_launches_are_refused() -> None:
    frame = thread().drop(columns="index_correlation")
    with pytest.raises(ValueError, match="expected the column index_correlation"):
        CallStackGraph(frame.head(4), IDENTITY, pandas.DataFrame(), frame, TraceSymbolTable())
    with pytest.raises(ValueError, match="expected the column index_correlation"):
        older.CallStackGraph(frame, older.CallStackIdentity())


# --- the older form -----------------------------------------------------------------------------------------------


class Frames:
    """As much of a trace as the older graph needs."""

    def __init__(self, frame: pandas.DataFrame) -> None:
        self.frame = frame

    def get_all_traces(self) -> dict[int, pandas.DataFrame]:
        return {0: self.frame}

    def get_trace(self, rank: int) -> pandas.DataFrame:
        return self.get_all_traces()[rank]


def older_graph(frame: pandas.DataFrame, **options: Any) -> older.CallGraph:
    traces: Any = Frames(frame)
    return older.CallGraph(traces, **options)


def test_the_older_graph_adds_depths_and_parents() -> None:
    frame = thread().assign(tid=[7] * 4 + [3] * 2)
    graph = older_graph(frame)
    assert frame["parent"].tolist() == [-1, OUTER, INNER, -1, LAUNCH, LAUNCH]
    assert frame["depth"].tolist() == [0, 1, 2, 0, -1, -1]
    assert graph.mapping["csg_index"].to_dict() == {(0, 1, 3): 0, (0, 1, 7): 1}
    assert graph.call_stacks[0].get_nodes() == {}
    assert graph.call_stacks[1].get_nodes()[OUTER] == (-1, 0, [INNER])
    assert graph.get_stack_of_node(INNER, 0).index.tolist() == [LAUNCH, INNER, OUTER, -1, KERNEL]
    assert graph.get_stack_of_node(KERNEL, 0, skip_ancestors=True).index.tolist() == [LAUNCH, KERNEL]


def test_the_older_graph_filters_rows_and_joins_threads() -> None:
    frame = rows([(0, 10), (2, 0), (3, 2)], tid=[7, 7, 8])
    graph = older_graph(frame, filter_func=ZeroDurationFilter, remapped_tids={0: {8: 7}})
    assert set(graph.call_stacks[0].get_nodes()) == {-1, 0, 2}
    assert frame["parent"].to_dict()[2] == 0
    assert frame["tid"].tolist() == [7, 7, 8]


def test_calls_of_python_end_with_the_calls_around_them() -> None:
    frame = rows([(0, 10), (2, 20), (4, 20), (5, 20)], tid=[7, 7, 7, 8])
    frame = frame.assign(python_id=[1, 2, 3, 4], python_parent_id=[-1, 1, 2, 3])
    older_graph(frame, pre_process_trace_data=True)
    assert frame["dur"].tolist() == [10, 8, 6, 20]  # the last is of another thread


def test_ends_are_compared_as_they_are_sorted() -> None:
    ends = [
        (1, 0, 9, 1),
        (2, 0, 4, 1),
        (3, 2, 0, 1),
        (3, 2, 0, -1),
        (2, 4, 4, -1),
        (4, 4, 5, 1),
        (4, 9, 5, -1),
        (1, 9, 9, -1),
    ]
    events = [older.Event(*end) for end in ends]
    assert all(older.compare_events(x, y) < 0 < older.compare_events(y, x) for x, y in pairwise(events))


@pytest.mark.parametrize(
    ("streams", "device"), [([1, 2], "GPU"), ([-1, -1], "CPU"), ([-1, 1], "UNKNOWN"), ([], "UNKNOWN")]
)
def test_devices_are_told_by_streams(streams: list[int], device: str) -> None:
    assert older.infer_device_type(pandas.DataFrame({"stream": streams})).name == device
