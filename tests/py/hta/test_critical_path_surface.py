"""HTA's names for the critical path: nodes, edges, the graph's constructor, its options and its overlay."""

from __future__ import annotations

import copy
import json
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import numpy
import pandas
import pytest
from kinetoscope.hta import TraceAnalysis
from kinetoscope.hta.analyzers import critical_path_analysis as module
from kinetoscope.hta.analyzers.critical_path_analysis import (
    BoundType,
    CPEdge,
    CPEdgeType,
    CPGraph,
    CPNode,
    CriticalPathAnalysis,
    restore_cpgraph,
)
from kinetoscope.hta.configs.env_options import HTAEnvOptions

HTA = "facebookresearch__HolisticTraceAnalysis/tests/data"
ALEXNET = "[param|pytorch.model.alex_net|0|0|0|measure|forward]"


def event(category: str, name: str, times: tuple[float, float], **args: Any) -> dict[str, Any]:
    place = {"pid": 0, "tid": 7} if category == "kernel" else {"pid": 1, "tid": 1}
    return {"ph": "X", "cat": category, "name": name, **place, "ts": times[0], "dur": times[1], "args": args}


# Two steps: the host loads data and launches two kernels, of which the second waits for the first.
EVENTS = [
    made
    for at in (0, 1000)
    for made in (
        event("user_annotation", "forward", (at, 300)),
        event("cpu_op", "enumerate(DataLoader)#next", (at + 5, 5)),
        event("cpu_op", "aten::mm", (at + 10, 50)),
        event("cuda_runtime", "cudaLaunchKernel", (at + 20, 10), correlation=at + 1),
        event("cuda_runtime", "cudaLaunchKernel", (at + 40, 10), correlation=at + 2),
        event("kernel", "void gemm<float>(int)", (at + 35, 100), correlation=at + 1, stream=7, device=0),
        event("kernel", "ncclDevKernel_AllReduce", (at + 138, 20), correlation=at + 2, stream=7, device=0),
    )
]
LOADER, MM, FIRST, GEMM, REDUCE = 1, 2, 3, 5, 6


def analyzer_of(folder: Path, events: list[dict[str, Any]]) -> TraceAnalysis:
    path = folder / "run.json"
    path.write_text(json.dumps({"traceEvents": [*events, {"ph": "M", "name": "process_name", "pid": 1, "args": {}}]}))
    return TraceAnalysis(trace_files={0: str(path)})


@pytest.fixture
def analyzer(tmp_path: Path) -> TraceAnalysis:
    return analyzer_of(tmp_path, EVENTS)


def path_of(analyzer: TraceAnalysis, **options: Any) -> CPGraph:
    found = CriticalPathAnalysis.critical_path_analysis(analyzer.t, 0, "forward", 0, **options)
    assert found is not None
    assert found[1] is True
    return found[0]


@pytest.fixture
def graph(analyzer: TraceAnalysis) -> CPGraph:
    return path_of(analyzer)


@pytest.fixture
def options(monkeypatch: pytest.MonkeyPatch) -> HTAEnvOptions:
    fresh = HTAEnvOptions()
    monkeypatch.setattr(HTAEnvOptions, "_instance", fresh)
    return fresh


# --- names --------------------------------------------------------------------------------------------------------


@pytest.mark.unit
def test_constants() -> None:
    assert frozenset({"cudaHostAlloc", "cudaLaunchKernel", "cudaMemcpyAsync"}) == module.CUDA_RUNTIME_EVENTS
    assert module.KERNEL_KERNEL_DELAY_THRESHOLD_US == 1500
    assert {edge.name for edge in module.DEFAULT_EDGE_TYPES_IN_VIZ} == {
        *("DEPENDENCY", "KERNEL_LAUNCH_DELAY", "SYNC_DEPENDENCY"),
    }
    assert BoundType("data_loading") is BoundType.DATA_LOADING
    assert len(BoundType) == 6
    assert isinstance(CPGraph.BLOCKING_SYNC_CALLS, list)
    assert CriticalPathAnalysis().cp_nodes == {}


@pytest.mark.unit
def test_nodes_compare_by_value() -> None:
    node = CPNode(ev_idx=3, ts=7, is_start=True)
    assert node == CPNode(-1, 3, 7, True, False)
    assert repr(node) == "CPNode(event: 3, node_id=-1, ts=7, is_start=True, is_blocking=False)"
    node.idx = 5
    assert node.idx == 5


@pytest.mark.unit
def test_edges_are_values() -> None:
    edge = CPEdge(1, 2, CPEdgeType.DEPENDENCY)
    assert edge.weight == 0
    assert {edge, CPEdge(begin=1, end=2, weight=0, type=CPEdgeType.DEPENDENCY)} == {edge}
    assert edge != CPEdge(1, 2, CPEdgeType.SYNC_DEPENDENCY)
    with pytest.raises(FrozenInstanceError):
        edge.weight = 3  # pyright: ignore[reportAttributeAccessIssue] - what the test is about
    with pytest.raises(TypeError):
        CPEdge(1, 2)  # pyright: ignore[reportCallIssue] - as above


@pytest.mark.unit
def test_timeit_remembers_the_duration() -> None:
    @module.timeit
    def doubled(value: int) -> int:
        return 2 * value

    assert doubled(3) == 6
    assert 0 <= module.PROFILE_TIMES["doubled"] < 10


# --- what is looked at --------------------------------------------------------------------------------------------


@pytest.mark.unit
@pytest.mark.parametrize("instance", ["0", 1.0, [0, 1]])
def test_other_instances_than_integers_have_no_path(analyzer: TraceAnalysis, instance: Any) -> None:
    assert analyzer.critical_path_analysis(0, "forward", instance) is None
    assert analyzer.critical_path_analysis(0, "", instance) is None


@pytest.mark.unit
def test_numbers_of_numpy_are_instances(analyzer: TraceAnalysis) -> None:
    found = analyzer.critical_path_analysis(0, "forward", numpy.int64(1))  # pyright: ignore[reportArgumentType] - HTA takes it
    assert found is not None
    assert found[0].node_list[0].ts == 1005


@pytest.mark.unit
def test_a_symbol_without_events_has_no_instances(analyzer: TraceAnalysis) -> None:
    with pytest.raises(ValueError, match="expected one of the 0 instances of cpu_op, counted from 0, found 0"):
        analyzer.critical_path_analysis(0, "cpu_op", 0)


@pytest.mark.unit
def test_an_unknown_rank_is_refused(analyzer: TraceAnalysis) -> None:
    with pytest.raises(ValueError, match="3"):
        analyzer.critical_path_analysis(3, "backward", 0)


@pytest.mark.unit
def test_the_frame_has_what_is_looked_at(graph: CPGraph, analyzer: TraceAnalysis) -> None:
    assert graph.trace_df.index.tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert graph.t is not None
    assert graph.t.get_trace(0) is graph.trace_df
    assert graph.full_trace_df is analyzer.t.get_trace(0)
    assert len(graph.full_trace_df) == len(EVENTS)
    assert (graph.t_full, graph.rank, graph.data_load_events) == (analyzer.t, 0, None)
    assert graph.symbol_table is analyzer.t.symbol_table
    graph.summary()
    assert graph.trace_df["s_name"].tolist()[-2:] == ["gemm", "ncclDevKernel_AllReduce"]
    assert "s_name" not in graph.full_trace_df


@pytest.mark.unit
def test_the_maps_lead_to_nodes_and_events(graph: CPGraph) -> None:
    start, end = graph.event_to_start_node_map[GEMM], graph.event_to_end_node_map[GEMM]
    assert (graph.node_list[start], graph.node_list[end]) == graph.get_nodes_for_event(GEMM)
    assert graph.edge_to_event_map[start, end] == GEMM
    assert graph.edges[start, end]["object"] == CPEdge(start, end, CPEdgeType.OPERATOR_KERNEL, 100)
    with_owner = {CPEdgeType.OPERATOR_KERNEL, CPEdgeType.KERNEL_KERNEL_DELAY}
    assert {place for place in graph.edges if graph.edges[place]["object"].type in with_owner} == set(
        graph.edge_to_event_map
    )


# --- the constructor ----------------------------------------------------------------------------------------------


@pytest.mark.unit
def test_the_constructor_makes_the_graph_of_a_frame(graph: CPGraph, analyzer: TraceAnalysis) -> None:
    made = CPGraph(graph.t, analyzer.t, 0)
    assert made.node_list == graph.node_list
    assert made.edge_to_event_map == graph.edge_to_event_map
    assert list(made.edge_objects()) == list(graph.edge_objects())
    assert made.trace_df is graph.trace_df
    assert (made.critical_path_nodes, made.get_critical_path_breakdown()) == ([], None)
    assert made.critical_path()
    assert made.critical_path_edges_set == graph.critical_path_edges_set
    assert module.PROFILE_TIMES["_construct_graph"] > 0


@pytest.mark.unit
def test_the_constructor_takes_the_whole_trace(analyzer: TraceAnalysis) -> None:
    found = analyzer.critical_path_analysis(0, "", None)
    assert found is not None
    assert CPGraph(analyzer.t, analyzer.t, 0).node_list == found[0].node_list
    assert len(found[0].node_list) == 24


@pytest.mark.unit
def test_a_frame_without_host_events_has_an_empty_graph(analyzer: TraceAnalysis) -> None:
    device = copy.copy(analyzer.t)
    device.traces = {0: analyzer.t.get_trace(0).loc[[GEMM, REDUCE]]}
    made = CPGraph(device, analyzer.t, 0)
    assert (made.node_list, bool(made), made.critical_path(), str(made)) == (
        [],
        False,
        False,
        "CPGraph with 0 nodes and 0 edges",
    )


@pytest.mark.unit
def test_a_frame_with_gaps_gets_the_rows_of_all_nodes(
    analyzer: TraceAnalysis, caplog: pytest.LogCaptureFixture
) -> None:
    gapped = copy.copy(analyzer.t)
    gapped.traces = {0: analyzer.t.get_trace(0).drop([GEMM, MM])}
    made = CPGraph(gapped, analyzer.t, 0)
    assert "found one without 2 events" in caplog.text
    assert {GEMM, MM} <= set(made.trace_df.index)
    assert made.critical_path()
    assert made.summary().sum() == pytest.approx(100)


@pytest.mark.unit
def test_a_given_graph_comes_first(graph: CPGraph, analyzer: TraceAnalysis) -> None:
    networkx = pytest.importorskip("networkx")
    given = networkx.DiGraph([("a", "b")])
    alone = CPGraph(None, analyzer.t, 0, given)
    assert (alone.t, alone.node_list, list(alone.edges)) == (None, [], [("a", "b")])
    both = CPGraph(graph.t, analyzer.t, 0, G=given)
    assert len(both.edges) == len(graph.edges) + 1
    assert list(given.edges) == [("a", "b")]


# --- networkx -----------------------------------------------------------------------------------------------------


@pytest.mark.unit
def test_it_is_a_digraph_to_networkx(graph: CPGraph) -> None:
    networkx = pytest.importorskip("networkx")
    assert isinstance(graph, networkx.DiGraph)
    assert isinstance(graph, CPGraph)
    assert type(graph) is CPGraph
    before = str(graph)
    assert before == f"CPGraph with {len(graph)} nodes and {len(graph.edges)} edges" == str(graph)
    assert networkx.is_directed_acyclic_graph(graph)
    assert isinstance(graph.copy(), networkx.DiGraph)
    start, end = graph.critical_path_nodes[0], graph.critical_path_nodes[-1]
    assert networkx.has_path(graph, start, end)
    assert list(graph.successors(end)) == []
    assert sum(1 for _ in networkx.topological_sort(graph)) == len(graph)


@pytest.mark.unit
def test_a_copy_can_be_changed_alone(graph: CPGraph) -> None:
    pytest.importorskip("networkx")
    start, end = (node.idx for node in graph.get_nodes_for_event(GEMM) if node)
    before = graph.summary()
    changed = copy.deepcopy(graph)
    assert changed.t_full is graph.t_full
    changed.edges[start, end]["weight"] = 1
    assert changed.critical_path()
    assert not changed.summary().equals(before)
    assert graph.edges[start, end]["weight"] == 100
    assert graph.summary().equals(before)


@pytest.mark.unit
def test_an_edge_may_be_added(graph: CPGraph) -> None:
    pytest.importorskip("networkx")
    source, target = graph.critical_path_nodes[0], graph.critical_path_nodes[-1]
    added = CPEdge(source, target, CPEdgeType.SYNC_DEPENDENCY, 500)
    graph.add_edge(source, target, weight=500, object=added)
    assert graph.critical_path()
    assert added in graph.critical_path_edges_set
    breakdown = graph.get_critical_path_breakdown()
    assert breakdown is not None
    assert breakdown["duration"].max() == 500


@pytest.mark.unit
def test_a_cycle_has_no_longest_path(graph: CPGraph, caplog: pytest.LogCaptureFixture) -> None:
    pytest.importorskip("networkx")
    nodes = list(graph.critical_path_nodes)
    graph.add_edge(nodes[-1], nodes[0], weight=0, object=CPEdge(nodes[-1], nodes[0], CPEdgeType.DEPENDENCY))
    assert not graph.critical_path()
    assert "expected a graph without cycles" in caplog.text
    assert graph.critical_path_nodes == nodes


# --- what bounds it -----------------------------------------------------------------------------------------------


@pytest.mark.unit
@pytest.mark.parametrize(
    ("row", "bound"),
    [
        ({"type": "critical_path_dependency", "s_name": None, "stream": numpy.nan}, ""),
        ({"type": "critical_path_sync_dependency", "s_name": None, "stream": numpy.nan}, ""),
        ({"type": "critical_path_kernel_kernel_delay", "s_name": "gemm", "stream": 7}, "gpu_kernel_kernel_overhead"),
        ({"type": "critical_path_kernel_launch_delay", "s_name": None, "stream": 7}, "gpu_kernel_launch_overhead"),
        ({"type": "critical_path_operator", "s_name": "aten::mm", "stream": -1}, "cpu_bound"),
        ({"type": "critical_path_operator", "s_name": "load_batch", "stream": -1}, "data_loading"),
        ({"type": "critical_path_operator", "s_name": "gemm", "stream": 7}, "gpu_compute_bound"),
        ({"type": "critical_path_operator", "s_name": "ncclKernel_Broadcast", "stream": 7}, "gpu_communication_bound"),
    ],
)
def test_rows_are_bound_by(analyzer: TraceAnalysis, row: dict[str, Any], bound: str) -> None:
    graph = path_of(analyzer, data_load_events=["^load_"])
    assert graph.bound_by(row) == bound
    if row["s_name"]:
        assert graph.bound_by(pandas.Series(row)) == bound  # pyright: ignore[reportArgumentType] - as DataFrame.apply has it


@pytest.mark.unit
def test_time_of_an_event_needs_its_name(graph: CPGraph) -> None:
    with pytest.raises(AssertionError, match="expected the name of an event as s_name, found none"):
        graph.bound_by({"type": "critical_path_operator", "s_name": None, "stream": 7})


@pytest.mark.unit
def test_loading_is_found_by_what_short_names_lack(analyzer: TraceAnalysis) -> None:
    patterns = [r"enumerate\(DataLoader\)"]
    # the graph begins with the loader, which lasts 5 of 153 µs
    assert (
        path_of(analyzer, data_load_events=patterns).bound_by(
            {"type": "critical_path_operator", "s_name": "enumerate#next", "stream": -1, "index": LOADER}
        )
        == BoundType.DATA_LOADING.value
    )
    assert path_of(analyzer, data_load_events=patterns).summary()["data_loading"] == pytest.approx(500 / 153)


# --- options ------------------------------------------------------------------------------------------------------


@pytest.mark.unit
def test_strict_checks_refuse_negative_weights(
    graph: CPGraph, options: HTAEnvOptions, caplog: pytest.LogCaptureFixture
) -> None:
    pytest.importorskip("networkx")
    source, target = graph.critical_path_nodes[:2]
    options.set_critical_path_strict_negative_weight_check(True)
    assert graph.critical_path()
    graph.add_edge(source, target, weight=-2, object=CPEdge(source, target, CPEdgeType.OPERATOR_KERNEL, -2))
    assert not graph.critical_path()
    assert "expected weights of at least -1 µs" in caplog.text
    options.set_critical_path_strict_negative_weight_check(False)
    assert graph.critical_path()
    assert graph.edges[source, target]["weight"] == 0


@pytest.mark.unit
def test_launch_edges_without_weight_may_be_shown(
    graph: CPGraph, analyzer: TraceAnalysis, options: HTAEnvOptions, tmp_path: Path
) -> None:
    pytest.importorskip("networkx")
    source, target = graph.event_to_start_node_map[FIRST], graph.event_to_start_node_map[REDUCE]
    graph.add_edge(source, target, weight=0, object=CPEdge(source, target, CPEdgeType.KERNEL_LAUNCH_DELAY))
    counts: list[int] = []
    for is_shown in (False, True):
        options.set_critical_path_show_zero_weight_launch_edges(is_shown)
        name = analyzer.overlay_critical_path_analysis(0, graph, str(tmp_path), False, True)
        counts.append(sum(e["ph"] == "s" for e in json.loads(Path(name).read_text())["traceEvents"]))
    assert counts == [len(graph.edges) - 1, len(graph.edges)]


# --- the overlay --------------------------------------------------------------------------------------------------


@pytest.mark.unit
def test_types_of_edges_may_be_chosen(graph: CPGraph, analyzer: TraceAnalysis, tmp_path: Path) -> None:
    name = CriticalPathAnalysis.overlay_critical_path_analysis(
        analyzer.t, 0, graph, str(tmp_path), False, False, edge_types_to_viz={CPEdgeType.KERNEL_KERNEL_DELAY}
    )
    flows = [e for e in json.loads(Path(name).read_text())["traceEvents"] if e["ph"] == "s"]
    assert [flow["args"] for flow in flows] == [
        {"weight": 3, "critical": True, "type": "critical_path_kernel_kernel_delay"},
    ]


@pytest.mark.unit
def test_an_output_that_is_a_file_is_refused(
    graph: CPGraph, analyzer: TraceAnalysis, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert analyzer.overlay_critical_path_analysis(0, graph, str(tmp_path / "run.json")) == ""
    assert "expected a folder as output_dir" in caplog.text


@pytest.mark.unit
def test_the_traces_write_the_overlay(
    graph: CPGraph, analyzer: TraceAnalysis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[Any] = []
    monkeypatch.setattr(analyzer.t, "write_raw_trace", lambda path, document: written.append((path, document)))
    name = analyzer.overlay_critical_path_analysis(0, graph, str(tmp_path))
    assert [path for path, _ in written] == [name]
    assert written[0][1]["traceEvents"]
    assert not Path(name).exists()


# --- files --------------------------------------------------------------------------------------------------------


@pytest.mark.unit
def test_a_saved_graph_keeps_its_frame_and_patterns(analyzer: TraceAnalysis, tmp_path: Path) -> None:
    graph = path_of(analyzer, data_load_events=["DataLoader"])
    restored = restore_cpgraph(graph.save(str(tmp_path / "graph")), analyzer.t, 0)
    assert restored.t is None
    assert restored.trace_df.index.equals(graph.trace_df.index)
    assert restored.data_load_events == ["DataLoader"]
    assert restored.edge_to_event_map == graph.edge_to_event_map
    assert restored.summary().equals(graph.summary())
    assert restored.critical_path()
    assert restored.critical_path_nodes == graph.critical_path_nodes


@pytest.mark.unit
def test_the_graph_of_another_trace_is_refused(graph: CPGraph, tmp_path: Path) -> None:
    other = analyzer_of(tmp_path, EVENTS[:3])
    with pytest.raises(ValueError, match="expected the trace that the graph was saved of, found one without 4 of"):
        restore_cpgraph(graph.save(str(tmp_path / "graph")), other.t, 0)


@pytest.mark.unit
def test_the_path_is_printed(graph: CPGraph, capsys: pytest.CaptureFixture[str]) -> None:
    graph.show_critical_path()
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(graph.critical_path_nodes)
    last = graph.node_list[graph.critical_path_nodes[-1]]
    assert lines[-1] == f"Critical {last}, ev_id = {REDUCE} ev_name = ncclDevKernel_AllReduce"


# --- HTA's answers ------------------------------------------------------------------------------------------------


@pytest.mark.shared
def test_alexnet_waits_between_streams(shared: Path) -> None:
    found = TraceAnalysis(trace_dir=str(shared / HTA / "critical_path/alexnet")).critical_path_analysis(0, ALEXNET, 1)
    assert found is not None
    graph = found[0]
    assert (len(graph), len(graph.edges), len(graph.critical_path_nodes)) == (418, 421, 149)
    source, target = graph.event_to_end_node_map[1109], graph.event_to_start_node_map[1161]
    assert graph.edges[source, target]["object"] == CPEdge(source, target, CPEdgeType.SYNC_DEPENDENCY)
    assert graph.summary().round(6).to_dict() == {
        "": 0,
        "cpu_bound": 89.417871,
        "gpu_compute_bound": 10.358877,
        "gpu_kernel_kernel_overhead": 0.139532,
        "gpu_kernel_launch_overhead": 0.083719,
    }


@pytest.mark.shared
def test_the_host_waits_for_an_event(shared: Path) -> None:
    folder = shared / HTA / "critical_path/cuda_event_sync"
    found = TraceAnalysis(trace_dir=str(folder)).critical_path_analysis(0, "ProfilerStep", 0)
    assert found is not None
    graph = found[0]
    kernel, event_sync, device_sync = (graph.event_to_end_node_map[number] for number in (33, 41, 51))
    for target in (event_sync, device_sync):
        assert graph.edges[kernel, target]["object"] == CPEdge(kernel, target, CPEdgeType.SYNC_DEPENDENCY)
