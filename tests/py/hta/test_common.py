"""Filters, symbols and call graphs of `kinetoscope.hta.common`, on the frames."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas
import pytest
from kinetoscope.hta import TraceAnalysis
from kinetoscope.hta.common import trace_filter as filters
from kinetoscope.hta.common.trace_call_graph import CallGraph
from kinetoscope.hta.common.trace_symbol_table import TraceSymbolTable, decode_symbol_id_to_symbol_name

if TYPE_CHECKING:
    from kinetoscope.hta.common.trace import Trace

HTA = "facebookresearch__HolisticTraceAnalysis/tests/data"
COPY = "Memcpy HtoD (Pinned -> Device)"


def event(category: str, name: str, thread: int, times: tuple[float, float], **args: Any) -> dict[str, Any]:
    process = 0 if category in {"kernel", "gpu_memcpy", "cuda_sync"} else 1
    ts, dur = times
    return {"ph": "X", "cat": category, "name": name, "pid": process, "tid": thread, "ts": ts, "dur": dur, "args": args}


# A forward pass, whose operator launches a kernel and a copy; and a backward pass on a thread of its own.
EVENTS = [
    event("user_annotation", "ProfilerStep#4", 1, (0, 100)),
    event("cpu_op", "aten::linear", 1, (1, 40)),
    event("cpu_op", "aten::addmm", 1, (2, 20)),
    event("cuda_runtime", "cudaLaunchKernel", 1, (3, 2), correlation=1),
    event("kernel", "gemm", 7, (20, 30), correlation=1, stream=7),
    event("cuda_runtime", "cudaMemcpyAsync", 1, (30, 2), correlation=2),
    event("gpu_memcpy", COPY, 7, (52, 8), correlation=2, stream=7),
    event("cpu_op", "autograd::engine::evaluate_function: MmBackward0", 2, (60, 30)),
    event("cuda_runtime", "cudaLaunchKernel", 2, (65, 2), correlation=3),
    event("kernel", "gemm_backward", 7, (80, 10), correlation=3, stream=7),
    event("user_annotation", "ProfilerStep#5", 1, (100, 10)),
    event("cpu_op", "aten::add", 1, (101, 0)),
]
STEP, LINEAR, ADDMM, LAUNCH, GEMM, COPYING, COPIED, BACKWARD, AGAIN, LATER = range(10)


@pytest.fixture
def traces(tmp_path: Path) -> Trace:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"traceEvents": EVENTS}))
    return TraceAnalysis(trace_files={0: str(path)}, include_last_profiler_step=True).t


# --- filters ------------------------------------------------------------------------------------------------------


@pytest.mark.unit
@pytest.mark.parametrize(
    ("chosen", "labels"),
    [
        (filters.IterationFilter(5), [10, 11]),
        (filters.IterationFilter([4, 5]), list(range(12))),
        (filters.IterationIndexFilter([1, 7]), [10, 11]),
        (filters.FirstIterationFilter(), list(range(10))),
        (filters.TimeRangeFilter((1, 32)), [2, 3, 5]),
        (filters.NameFilter("aten::a"), [2, 11]),
        (filters.NameIdColumnFilter("add"), []),
        (filters.QueryFilter("dur >= 40"), [0, 1]),
        (filters.GPUKernelFilter(), [4, 6, 9]),
        (filters.CPUOperatorFilter(), [0, 1, 2, 3, 5, 7, 8, 10, 11]),
        (filters.MemCopyEventFilter(COPY), [6]),
        (filters.CompositeFilter([filters.GPUKernelFilter(), filters.NameFilter("gemm$")]), [4]),
    ],
)
def test_filters(traces: Trace, chosen: filters.Filter, labels: list[int]) -> None:
    found = chosen(traces.get_trace(0), traces.symbol_table)
    assert sorted(found.index) == labels


@pytest.mark.unit
def test_rows_that_last(traces: Trace) -> None:
    assert 11 not in filters.ZeroDurationFilter(traces.get_trace(0)).index


@pytest.mark.unit
def test_texts_are_filtered_where_there_are_some(traces: Trace) -> None:
    traces.decode_symbol_ids(use_shorten_name=False)
    frame = traces.get_trace(0)
    assert filters.NameStringColumnFilter("aten::a")(frame).index.tolist() == [2, 11]
    assert filters.NameFilter("cpu", name_column="s_cat")(frame).index.tolist() == [1, 2, 7, 11]
    assert filters.MemCopyEventFilter(COPY)(frame).empty  # needs symbols, as in HTA
    assert sorted(filters.RankFilter([0, 2])(frame.assign(rank=frame["index"] % 3)).index) == [0, 2, 3, 5, 6, 8, 9, 11]


@pytest.mark.shared
def test_filters_choose_what_those_of_hta_choose(shared: Path) -> None:
    traces = TraceAnalysis(trace_dir=str(shared / HTA / "timeline_analysis"), include_last_profiler_step=True).t
    asked = [
        *(filters.IterationIndexFilter(1), filters.FirstIterationFilter(), filters.TimeRangeFilter((1000, 30000))),
        *(filters.NameFilter("aten::a"), filters.GPUKernelFilter(), filters.MemCopyEventFilter(COPY)),
    ]
    found = [chosen(traces.get_trace(0), traces.symbol_table)["index"] for chosen in asked]
    assert [(len(index), int(index.astype("int64").sum())) for index in found] == [
        *((2407, 6543142), (2403, 5022503), (295, 563823), (163, 299075), (1204, 4340420), (8, 23926)),
    ]


# --- symbols ------------------------------------------------------------------------------------------------------


@pytest.mark.unit
def test_symbols_are_found() -> None:
    table = TraceSymbolTable()
    table.add_symbols(["aten::add", "aten::add_", "a.b", "kernel"])
    assert table.find_matches(["add", "a.b"]) == [0, 1, 2]
    assert table.find_matched_symbols(["a.*d"]) == []
    assert table.get_symbol_names([3, 99]) == {3: "kernel"}
    assert table.get_sym_index_series()["a.b"] == 2
    assert table.get_sym_table_series()[2] == "a.b"


@pytest.mark.unit
def test_tables_of_symbols_are_made_of_others() -> None:
    table = TraceSymbolTable.create_from_symbol_id_map({"y": 1, "x": 0})
    more = TraceSymbolTable.clone(table)
    more.add_symbols(["z"])
    assert (table.sym_table, more.sym_table) == (["x", "y"], ["x", "y", "z"])
    assert TraceSymbolTable.combine_symbol_tables([more, table]).sym_table == ["x", "y", "z"]
    assert TraceSymbolTable.create_from_symbol_id_map({"x": 1}).sym_table == ["Undefined-0", "x"]


@pytest.mark.unit
def test_texts_become_ids_and_ids_texts() -> None:
    frame = pandas.DataFrame({"name": ["f<int>(a)", "y"], "cat": ["k", "k"]})
    table = TraceSymbolTable.create_from_df(frame)
    table.encode_df(frame)
    assert frame.to_dict("list") == {"name": [0, 1], "cat": [2, 2]}
    decode_symbol_id_to_symbol_name(frame, table, use_shorten_name=True)
    assert frame["s_name"].tolist() == ["f", "y"]
    table.decode_df(frame)
    assert frame["s_name"].tolist() == ["f<int>(a)", "y"]
    table.decode_df(frame, create_new_columns=False)
    assert frame["cat"].tolist() == ["k", "k"]


# --- call graphs --------------------------------------------------------------------------------------------------


@pytest.mark.unit
def test_a_call_graph_adds_columns(traces: Trace) -> None:
    graph = CallGraph(traces)
    frame = traces.get_trace(0)
    columns = ["depth", "height", "parent", "num_kernels"]
    assert frame.loc[list(range(10)), columns].to_numpy().tolist() == [
        [0, 4, -1, 3],
        [1, 3, STEP, 2],
        [2, 2, LINEAR, 1],
        [3, 1, ADDMM, 1],
        [4, 0, LAUNCH, 1],
        [2, 1, LINEAR, 1],
        [3, 0, COPYING, 1],
        [1, 2, STEP, 1],  # the backward pass of the step
        [2, 1, BACKWARD, 1],
        [3, 0, AGAIN, 1],
    ]
    times = ["kernel_dur_sum", "kernel_span", "first_kernel_start", "last_kernel_end"]
    assert frame.loc[[LINEAR, STEP, 10], times].to_numpy().tolist() == [
        [38, 40, 20, 60],
        [48, 70, 20, 90],
        [0, 0, -1, -1],
    ]
    assert graph.mapping["label"].tolist() == ["main", "bwd"]
    assert graph.get_gpu_kernels().index.tolist() == [GEMM, COPIED, LATER]


@pytest.mark.unit
def test_what_is_around_and_inside(traces: Trace) -> None:
    graph = CallGraph(traces, ranks=[0])
    stack = graph.get_csg_of_node(LINEAR)
    assert stack.identity == (0, 1, 1)
    assert stack.get_path_to_root(ADDMM) == [ADDMM, LINEAR, STEP, -1]
    assert (stack.get_root(ADDMM), stack.get_parent(LINEAR), stack.get_children(LINEAR)) == (-1, STEP, [ADDMM, COPYING])
    assert stack.get_descendants(LINEAR) == [LINEAR, ADDMM, LAUNCH, COPYING]
    assert stack.get_descendants(LINEAR, include_gpu_kernel=True) == [LINEAR, ADDMM, LAUNCH, GEMM, COPYING, COPIED]
    assert stack.get_leaf_nodes(LINEAR) == [LAUNCH, COPYING]
    assert stack.get_leaf_nodes(LINEAR, include_gpu_kernel=True) == [GEMM, COPIED]
    assert stack.get_paths_to_leaves(LINEAR) == [[LINEAR, ADDMM, LAUNCH], [LINEAR, COPYING]]
    assert graph.get_stack_of_node(ADDMM).index.tolist() == [STEP, LINEAR, ADDMM, LAUNCH, GEMM]
    assert graph.get_stack_of_node(ADDMM, skip_ancestors=True).index.tolist() == [ADDMM, LAUNCH, GEMM]
    assert graph.get_node_attributes(ADDMM)["depth"] == 2


@pytest.mark.unit
def test_threads_are_trees(traces: Trace) -> None:
    graph = CallGraph(traces)
    (stack,) = graph.get_call_stacks(rank=0, tid=1)
    assert [found.root_index for found in graph.get_call_stacks()] == [-1, -1]  # the backward pass is in the step
    assert stack.get_dataframe().index.tolist() == [0, 1, 2, 3, 5, 10, 11]
    assert stack.get_depth()[ADDMM] == 2
    seen: list[tuple[str, int]] = []
    stack.dfs_traverse(lambda idx, _: seen.append(("in", idx)), lambda idx, _: seen.append(("out", idx)))
    assert seen[:3] == [("in", -1), ("in", STEP), ("in", LINEAR)]
    assert seen[-1] == ("out", -1)
    assert len(seen) == 2 * len(stack.get_nodes())


@pytest.mark.shared
@pytest.mark.parametrize(
    ("folder", "rows"),
    [
        # what HTA says: depth, height, parent, num_kernels, kernel_dur_sum, first_kernel_start
        ("timeline_analysis", {2900: [7, 0, 2901, 1, 10, 168137], 2912: [6, 0, 2913, 1, 6, 168755]}),
        ("call_stack", {0: [0, 6, -3914, 1, 45, 395309], 2: [2, 4, 1, 1, 45, 395309], 6: [5, 1, 4, 1, 45, 395309]}),
        ("critical_path/alexnet", {65: [1, 4, 0, 2, 21, 30429352]}),
    ],
)
def test_call_graphs_are_those_of_hta(shared: Path, folder: str, rows: dict[int, list[float]]) -> None:
    traces = TraceAnalysis(trace_dir=str(shared / HTA / folder), include_last_profiler_step=True).t
    CallGraph(traces)
    columns = ["depth", "height", "parent", "num_kernels", "kernel_dur_sum", "first_kernel_start"]
    assert traces.get_trace(0).loc[list(rows), columns].to_numpy().tolist() == list(rows.values())
