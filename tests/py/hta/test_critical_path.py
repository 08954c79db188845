"""The critical path as HTA has it: a graph that can be changed, asked again, saved and drawn."""

from __future__ import annotations

import gzip
import json
import pickle
import sys
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from kinetoscope.hta import TraceAnalysis
from kinetoscope.hta.analyzers.critical_path_analysis import CPEdge, CPEdgeType, CPGraph, restore_cpgraph

HTA = "facebookresearch__HolisticTraceAnalysis/tests/data"
ALEXNET = "[param|pytorch.model.alex_net|0|0|0|measure|forward]"
PARTS = {"cp_full": ("", None), "cp_step1": ("ProfilerStep", 1), "cp_alex": (ALEXNET, 1)}
TRACES = [
    *("amd_trace", "critical_path__alexnet", "critical_path__cuda_event_sync", "nccl_parser_config"),
    *("nccl_parser_config.inc", "ns_resolution_trace", "ns_resolution_trace.inc", "timeline_analysis"),
    *("trace_diff__control", "trace_diff__control.inc", "triton_example"),
]
# Their only step was looked at.
ONE_STEP = ("critical_path__cuda_event_sync", "triton_example")
# Which of the two holds a kernel back, HTA says by a sort that leaves events of one microsecond in any order.
QUEUED = ("KERNEL_LAUNCH_DELAY", "KERNEL_KERNEL_DELAY")


def event(category: str, name: str, thread: int, times: tuple[float, float], **args: Any) -> dict[str, Any]:
    process = 0 if category == "kernel" else 1
    ts, dur = times
    return {"ph": "X", "cat": category, "name": name, "pid": process, "tid": thread, "ts": ts, "dur": dur, "args": args}


# Two runs: a launch, then two kernels one after the other.
EVENTS = [
    *(
        made
        for at in (0, 1000)
        for made in (
            event("user_annotation", "forward", 1, (at, 300)),
            event("cpu_op", "aten::mm", 1, (at + 10, 50)),
            event("cuda_runtime", "cudaLaunchKernel", 1, (at + 20, 10), correlation=at + 1),
            event("cuda_runtime", "cudaLaunchKernel", 1, (at + 40, 10), correlation=at + 2),
            event("kernel", "void gemm<float>(int)", 7, (at + 35, 100), correlation=at + 1, stream=7),
            event("kernel", "ncclDevKernel_AllReduce", 7, (at + 138, 20), correlation=at + 2, stream=7),
        )
    ),
    {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "python"}},
]
MM, FIRST, GEMM, REDUCE = 1, 2, 4, 5


@pytest.fixture
def analyzer(tmp_path: Path) -> TraceAnalysis:
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"traceEvents": EVENTS}))
    return TraceAnalysis(trace_files={0: str(path)})


@pytest.fixture
def graph(analyzer: TraceAnalysis) -> CPGraph:
    found = analyzer.critical_path_analysis(0, "forward", 0)
    assert found is not None
    assert found[1]
    return found[0]


def edge_to(graph: CPGraph, kind: CPEdgeType) -> CPEdge:
    (found,) = (edge for edge in graph.critical_path_edges_set if edge.type is kind)
    return found


# --- the graph ----------------------------------------------------------------------------------------------------


@pytest.mark.unit
def test_the_path_of_an_annotation(graph: CPGraph) -> None:
    assert graph.critical_path_events_set == {MM, FIRST, GEMM, REDUCE}
    breakdown = graph.get_critical_path_breakdown()
    assert breakdown is not None
    assert breakdown.columns.tolist() == [
        *("event_idx", "duration", "type", "s_name", "cat", "pid", "tid", "stream", "index", "bound_by"),
    ]
    assert breakdown[["duration", "type", "bound_by"]].to_numpy().tolist() == [
        [10, "critical_path_operator", "cpu_bound"],
        [15, "critical_path_kernel_launch_delay", "gpu_kernel_launch_overhead"],
        [100, "critical_path_operator", "gpu_compute_bound"],
        [3, "critical_path_kernel_kernel_delay", "gpu_kernel_kernel_overhead"],
        [20, "critical_path_operator", "gpu_communication_bound"],
    ]
    assert breakdown["event_idx"].dropna().tolist() == breakdown["index"].dropna().tolist() == [MM, GEMM, GEMM, REDUCE]
    assert breakdown["s_name"].dropna().tolist() == ["aten::mm", "gemm", "gemm", "ncclDevKernel_AllReduce"]


@pytest.mark.unit
def test_the_summary_is_printed_and_returned(graph: CPGraph, capsys: pytest.CaptureFixture[str]) -> None:
    summary = graph.summary()
    assert summary.to_dict() == pytest.approx(
        {
            "cpu_bound": 1000 / 148,
            "gpu_communication_bound": 2000 / 148,
            "gpu_compute_bound": 10000 / 148,
            "gpu_kernel_kernel_overhead": 300 / 148,
            "gpu_kernel_launch_overhead": 1500 / 148,
        }
    )
    assert "boundedness" in capsys.readouterr().out


@pytest.mark.unit
def test_instances_of_an_annotation(analyzer: TraceAnalysis) -> None:
    starts: dict[Any, tuple[float, int]] = {}
    for instance in (None, 0, 1, (0, 1)):
        found = analyzer.critical_path_analysis(0, "forward", instance)
        assert found is not None
        starts[instance] = found[0].node_list[0].ts, len(found[0].node_list)
    assert starts == {None: (10, 10), 0: (10, 10), 1: (1010, 10), (0, 1): (10, 20)}
    assert analyzer.critical_path_analysis(0, "backward", 0) is None
    with pytest.raises(ValueError, match="expected one of the 2 instances of forward, counted from 0, found 2"):
        analyzer.critical_path_analysis(0, "forward", 2)


@pytest.mark.unit
def test_events_and_edges_know_each_other(graph: CPGraph) -> None:
    launch = edge_to(graph, CPEdgeType.KERNEL_LAUNCH_DELAY)
    gap = edge_to(graph, CPEdgeType.KERNEL_KERNEL_DELAY)
    assert graph.get_events_for_edge(launch) == (FIRST, GEMM)
    assert graph.get_event_attribution_for_edge(launch) is None
    assert graph.get_events_for_edge(gap) == (GEMM, REDUCE)
    assert graph.get_event_attribution_for_edge(gap) == GEMM
    assert [edge.weight for edge in graph.get_edges_attributed_to_event(GEMM)] == [100, 3]
    start, end = graph.get_nodes_for_event(GEMM)
    assert start is not None
    assert end is not None
    assert (start.ts, start.is_start, end.ts, end.is_start) == (35, True, 135, False)
    assert (graph.node_list[start.idx], graph.get_nodes_for_event(0)) == (start, (None, None))


@pytest.mark.unit
def test_host_events_may_load_data(analyzer: TraceAnalysis) -> None:
    found = analyzer.critical_path_analysis(0, "forward", 0, data_load_events=["^aten::m+$"])
    assert found is not None
    assert "data_loading" in found[0].summary()
    assert "cpu_bound" not in found[0].summary()


@pytest.mark.unit
def test_without_operators_there_is_no_path(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"traceEvents": [event("user_annotation", "forward", 1, (0, 9))]}))
    found = TraceAnalysis(trace_files={0: str(path)}).critical_path_analysis(0, "forward", 0)
    assert found is not None
    assert (found[1], found[0].get_critical_path_breakdown()) == (False, None)
    with pytest.raises(AssertionError, match="expected a critical path, found none: call critical_path"):
        found[0].summary()


# --- what-if ------------------------------------------------------------------------------------------------------


@pytest.mark.unit
def test_weights_may_be_changed_and_the_path_found_anew(graph: CPGraph) -> None:
    networkx = pytest.importorskip("networkx")
    before = list(graph.critical_path_nodes)
    assert networkx.dag_longest_path(graph, weight="weight") == before
    assert (len(graph), graph.number_of_edges()) == (10, len(graph.edges))
    gemm = edge_of(graph, GEMM)
    graph.edges[gemm.begin, gemm.end]["weight"] = 1
    assert graph.edges[gemm.begin, gemm.end]["object"] is gemm
    assert graph.critical_path()
    breakdown = graph.get_critical_path_breakdown()
    assert breakdown is not None
    # the kernel takes 1 µs, so what the host did is longer than what it waited for
    assert breakdown["duration"].sum() < 148
    assert graph.critical_path_nodes != before


def edge_of(graph: CPGraph, event_id: int) -> CPEdge:
    return next(edge for edge in graph.get_edges_attributed_to_event(event_id) if edge.weight == 100)


@pytest.mark.unit
def test_a_graph_may_be_saved_and_restored(graph: CPGraph, analyzer: TraceAnalysis, tmp_path: Path) -> None:
    name = graph.save(str(tmp_path / "some/graph"))
    assert name == str(tmp_path / "some/graph.zip")
    restored = restore_cpgraph(name, analyzer.t, 0)
    assert restored.node_list == graph.node_list
    assert restored.critical_path_nodes == graph.critical_path_nodes
    assert restored.critical_path_edges_set == graph.critical_path_edges_set
    assert restored.summary().equals(graph.summary())


@pytest.mark.unit
def test_changed_weights_are_saved(graph: CPGraph, analyzer: TraceAnalysis, tmp_path: Path) -> None:
    pytest.importorskip("networkx")
    gemm = edge_of(graph, GEMM)
    graph.edges[gemm.begin, gemm.end]["weight"] = 7
    graph.critical_path()
    restored = restore_cpgraph(graph.save(str(tmp_path / "graph")), analyzer.t, 0)
    assert restored.edges[gemm.begin, gemm.end]["weight"] == 7
    assert restored.critical_path_nodes == graph.critical_path_nodes
    assert restored.critical_path()
    assert restored.critical_path_nodes == graph.critical_path_nodes


class Stranger:
    """What a pickle of a stranger's would do."""

    def __reduce__(self) -> tuple[Any, ...]:
        return pytest.fail, ("a pickle was loaded",)


@pytest.mark.unit
def test_nothing_of_a_strangers_file_is_run(analyzer: TraceAnalysis, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs.zip"
    for name, content in (("cp_graph.pkl", pickle.dumps(Stranger())), ("cp_graph.json", b'{"format": 1}')):
        with zipfile.ZipFile(theirs, "w") as archive:
            archive.writestr(name, content)
        with pytest.raises(ValueError, match=r"expected a file that CPGraph\.save wrote, found"):
            restore_cpgraph(str(theirs), analyzer.t, 0)


@pytest.mark.unit
@pytest.mark.parametrize("key", ["nodes", "edges", "weights", "path"])
def test_a_file_that_contradicts_itself_is_refused(graph: CPGraph, tmp_path: Path, key: str) -> None:
    path = Path(graph.save(str(tmp_path / "graph")))
    with zipfile.ZipFile(path) as archive:
        content = json.loads(archive.read("cp_graph.json"))
    content[key] = [[99] * 5] if key == "edges" else [-1] if key == "path" else content[key][1:]
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("cp_graph.json", json.dumps(content))
    with pytest.raises(ValueError, match=r"expected a file that CPGraph\.save wrote, found another file"):
        restore_cpgraph(str(path), graph.t_full, 0)


# --- the overlay --------------------------------------------------------------------------------------------------


@pytest.mark.unit
@pytest.mark.parametrize("args", ["text", 7, None])
def test_arguments_that_are_no_object_give_way_to_the_mark(args: Any, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    events = [made | {"args": args} if "mm" in str(made["name"]) else made for made in EVENTS]
    path.write_text(json.dumps({"traceEvents": events}))
    analyzer = TraceAnalysis(trace_files={0: str(path)})
    found = analyzer.critical_path_analysis(0, "forward", 0)
    assert found is not None
    drawn = json.loads(Path(analyzer.overlay_critical_path_analysis(0, found[0], str(tmp_path))).read_text())
    assert {"critical": 1} in [made.get("args") for made in drawn["traceEvents"] if "mm" in made["name"]]


@pytest.mark.unit
def test_the_path_is_drawn_into_the_trace(graph: CPGraph, analyzer: TraceAnalysis, tmp_path: Path) -> None:
    name = analyzer.overlay_critical_path_analysis(0, graph, str(tmp_path / "out"))
    assert name == str(tmp_path / "out/overlaid_critical_path_run.json")
    events = json.loads(Path(name).read_text())["traceEvents"]
    spans = [(e["name"], e.get("args", {}).get("critical")) for e in events if e["ph"] == "X"]
    assert spans == [
        ("forward", None),
        ("aten::mm", 1),
        ("cudaLaunchKernel", 1),
        ("void gemm<float>(int)", 1),
        ("ncclDevKernel_AllReduce", 1),
        ("forward", None),
    ]
    assert [e["ph"] for e in events].count("M") == 1
    (start, end) = [e for e in events if e["ph"] in "sf"]
    assert (start["cat"], start["name"]) == ("critical_path", "critical_path")
    assert start["args"] == {"weight": 15, "critical": True, "type": "critical_path_kernel_launch_delay"}
    assert [(e["ph"], e["pid"], e["tid"], e["ts"], e["id"]) for e in (start, end)] == [
        ("s", 1, 1, 20, 0),
        ("f", 0, 7, 35, 0),
    ]


@pytest.mark.unit
def test_all_events_and_edges_may_be_drawn(graph: CPGraph, analyzer: TraceAnalysis, tmp_path: Path) -> None:
    name = analyzer.overlay_critical_path_analysis(0, graph, str(tmp_path), False, True)
    events = json.loads(Path(name).read_text())["traceEvents"]
    assert [e["name"] for e in events[: len(EVENTS)]] == [e["name"] for e in EVENTS]
    flows = [e for e in events if e["ph"] in "sf"]
    assert len(flows) == 2 * len(graph.edges)
    gap = next(e for e in flows if e["args"]["type"] == "critical_path_kernel_kernel_delay")
    assert gap["ts"] == 134  # within the kernel, which ends at 135


# --- HTA's answers ------------------------------------------------------------------------------------------------


@pytest.mark.shared
@pytest.mark.parametrize("name", TRACES)
def test_every_golden_path_is_found(shared: Path, name: str) -> None:
    golden = json.loads((shared.parent / f"golden/hta/{name}.json").read_text())
    folder = shared / HTA / name.removesuffix(".inc").replace("__", "/")
    rank = golden["ranks"][0]
    (file,) = (path for path in sorted(folder.iterdir()) if path.name.endswith((".json", ".json.gz")))
    analyzer = TraceAnalysis({rank: str(file)}, include_last_profiler_step=name.endswith(".inc"))
    for part, (annotation, place) in PARTS.items():
        instance = 0 if part == "cp_step1" and name in ONE_STEP else place
        if "v" not in golden.get(part, {}):
            continue
        found, expected = analyzer.critical_path_analysis(rank, annotation, instance), golden[part]["v"]
        if found is None or expected is None:
            assert found is expected is None, part
        else:
            compare(found[0], expected)
            assert found[1] == expected["ok"]


def compare(graph: CPGraph, expected: dict[str, Any]) -> None:
    edges = list(graph.edge_objects())
    assert len(graph.node_list) == expected["nodes"]
    assert len({node for edge in edges for node in (edge.begin, edge.end)}) == expected["gnodes"]
    assert len(edges) == expected["edges"]
    assert len(graph.critical_path_nodes) == expected["cpn"]
    assert queued_together(Counter(edge.type.name for edge in edges)) == queued_together(Counter(expected["etypes"]))
    breakdown = graph.get_critical_path_breakdown()
    assert breakdown is not None
    assert breakdown["duration"].clip(lower=0).sum() == expected["cp_len"]
    assert graph.summary().to_dict() == pytest.approx(expected["summary"])


def queued_together(kinds: Counter[str]) -> dict[str, int]:
    apart = {kind: count for kind, count in kinds.items() if kind not in QUEUED}
    return {**apart, "queued": sum(kinds[kind] for kind in QUEUED)}


@pytest.mark.shared
def test_networkx_finds_the_same_path(shared: Path) -> None:
    pytest.importorskip("networkx")
    analyzer = TraceAnalysis(trace_dir=str(shared / HTA / "ns_resolution_trace"))
    found = analyzer.critical_path_analysis(0, "", None)
    assert found is not None
    graph, before = found[0], list(found[0].critical_path_nodes)
    assert graph.digraph.number_of_edges() == len(graph.edges)
    assert graph.critical_path()
    assert graph.critical_path_nodes == before


@pytest.mark.shared
def test_the_overlay_of_a_real_trace(shared: Path, tmp_path: Path) -> None:
    analyzer = TraceAnalysis(trace_dir=str(shared / HTA / "critical_path/alexnet"))
    found = analyzer.critical_path_analysis(0, ALEXNET, 1)
    assert found is not None
    name = analyzer.overlay_critical_path_analysis(0, found[0], str(tmp_path))
    assert name.endswith(".json.gz")
    events = json.loads(gzip.decompress(Path(name).read_bytes()))["traceEvents"]
    # as HTA has it
    assert sum(e.get("args", {}).get("critical") == 1 and e["ph"] == "X" for e in events) == 77
    assert len(events) == 637


@pytest.mark.shared
@pytest.mark.parametrize("name", ["cupti_profiler", "mtia_inference_trace"])
def test_there_is_a_path_where_hta_gives_up(shared: Path, name: str) -> None:
    found = TraceAnalysis(trace_dir=str(shared / HTA / name)).critical_path_analysis(0, "", None)
    assert found is not None
    assert found[1]


@pytest.mark.unit
def test_without_networkx_only_its_methods_are_missing(
    graph: CPGraph, analyzer: TraceAnalysis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    assert graph.critical_path()
    assert len(graph.summary()) == 5
    assert restore_cpgraph(graph.save(str(tmp_path / "graph")), analyzer.t, 0).critical_path_nodes
    assert analyzer.overlay_critical_path_analysis(0, graph, str(tmp_path))
    with pytest.raises(ImportError):
        graph.number_of_edges()
    with pytest.raises(AttributeError, match="expected an attribute of CPGraph, found _repr_html_"):
        getattr(graph, "_repr_html_")  # noqa: B009 - what a notebook asks for
