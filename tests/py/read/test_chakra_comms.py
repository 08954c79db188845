"""Communications in the graph that simulators read, and graphs of files that are as no program writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from hypothesis import given
from hypothesis import strategies as st
from protobuf import decoded
from support.graph import COLL, COMP, RECV, SEND, TENSOR, attrs, comm, et_node, graph, rows, small

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("name", "kernel", "sort", "comm_type"),
    [
        ("allreduce", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(args)", COLL, 0),
        ("reduce", "ncclDevKernel_Reduce_Sum_f32_RING_LL(args)", COLL, 1),
        ("allgather", "ncclKernel_AllGather_RING_LL_Sum_int8_t(args)", COLL, 2),
        ("_allgather_base", "ncclDevKernel_Generic_5(args)", COLL, 2),
        ("gather", "ncclDevKernel_SendRecv(args)", COLL, 3),
        ("scatter", "ncclDevKernel_SendRecv(args)", COLL, 4),
        ("broadcast", "ncclDevKernel_Broadcast_RING_LL(args)", COLL, 5),
        ("all_to_allv", "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(args)", COLL, 6),
        ("reduce_scatter_tensor_coalesced", "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(args)", COLL, 7),
        ("barrier", "ncclDevKernel_AllReduce_Sum_i8_RING_LL(args)", COLL, 9),
        ("send", "ncclDevKernel_SendRecv(args)", SEND, None),
        ("recv", "ncclDevKernel_SendRecv(args)", RECV, None),
        ("something_new", "ncclDevKernel_Marvel_RING_LL(args)", COMP, None),
    ],
)
def test_every_name(name: str, kernel: str, sort: int, comm_type: int | None, tmp_path: Path) -> None:
    trace = small([{"name": kernel}], [comm(name)])
    chakra = trace.to_chakra(tmp_path / "rank.et")
    *_, node = decoded((tmp_path / "rank.et").read_bytes())
    assert (node.name, node.sort, attrs(node).get("comm_type")) == (kernel, sort, comm_type)
    counts = {kind: count for kind, count, *_ in chakra.health.rows()}
    assert counts.get("unknown_collective", 0) == (sort == COMP)
    if sort != COMP:
        assert (attrs(node)["comm_size"], attrs(node)["pg_name"]) == (4000, "5")
        assert (node.dur, attrs(node)["duration_ns"]) == (0, 400)


def test_both_ends_of_a_message(tmp_path: Path) -> None:
    """A record's rank counts in its group, `comm_src` and `comm_dst` among all; messages between two are counted."""
    kernel = {"name": "ncclDevKernel_SendRecv(args)"}
    trace = small([kernel] * 3, [comm("send", rank=1, seq=4), comm("recv", rank=1, seq=5), comm("send", rank=1, seq=6)])
    ends = [attrs(node) for node in graph(trace, tmp_path) if node.sort in (SEND, RECV)]
    assert [(end["comm_src"], end["comm_dst"], end["comm_tag"]) for end in ends] == [(3, 8, 0), (8, 3, 0), (3, 8, 1)]
    assert trace.comm_groups == {"5": [3, 8]}


def test_a_collective_is_known_by_its_number(tmp_path: Path) -> None:
    kernel = {"name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL(args)"}
    nodes = graph(small([kernel] * 2, [comm("allreduce", seq=41), comm("allreduce", seq=42)]), tmp_path)
    assert [attrs(node)["comm_tag"] for node in nodes if node.sort == COLL] == [41, 42]


def test_an_execution_trace_that_was_linked_before(tmp_path: Path) -> None:
    record = comm("allreduce", seq=7)
    cpu = {"ts": 1000.5, "inclusive_dur": 20.25, "exclusive_dur": 20.25}
    device = {"cat": "kernel", "ph": "X", "stream": 7}
    nodes = [
        et_node(0, 0, "[pytorch|profiler|execution_trace|process]", []),
        et_node(1, 0, "[pytorch|profiler|execution_trace|thread]", []),
        et_node(2, 1, "record_param_comms", record["inputs"], record["attrs"], 5) | cpu,
        et_node(3, 2, "ncclDevKernel_AllReduce", [])
        | device
        | {"ts": 1010.0, "inclusive_dur": 90.125, "exclusive_dur": 90.125},
        et_node(4, 2, "Memset", []) | device | {"cat": "gpu_memset", "ts": 1102.0, "inclusive_dur": 1},
        et_node(5, 1, "aten::add", []) | {"ts": 1200.0, "inclusive_dur": 5, "inter_thread_dep": 2, "sync_dep": [3]},
        et_node(6, 1, "aten::mul", []) | {"ts": 1300.0, "inclusive_dur": 5, "sync_dep": [99]},
    ]
    trace = ks.read(json.dumps({"schema": "1.1.1-chakra.0.0.4", "nodes": nodes}).encode())
    found = {node.name: node for node in graph(trace, tmp_path)}
    kernel, fill, add = found["ncclDevKernel_AllReduce"], found["Memset"], found["aten::add"]
    call = found["record_param_comms"]
    assert (kernel.sort, fill.sort, call.sort) == (COLL, COMP, COMP)
    assert (attrs(kernel)["comm_size"], attrs(kernel)["stream"], attrs(kernel)["kind"]) == (4000, 7, "kernel")
    assert (kernel.start, kernel.dur, attrs(kernel)["duration_ns"]) == (1010, 90, 90_125)
    assert (call.start, attrs(call)["start_ns"], attrs(call)["duration_ns"]) == (1001, 1_000_500, 20_250)
    assert {call.number, kernel.number} <= {*fill.data} | {*fill.control}
    assert {call.number, kernel.number} <= {*add.data}


NUMBERS = st.integers(0, 12)
ANY_NODE = st.tuples(
    NUMBERS, NUMBERS, NUMBERS, st.sampled_from(["a", "record_param_comms", "c10d::send", "nccl:recv 0<-1"])
)
ANY_EVENT = st.tuples(
    NUMBERS, NUMBERS, NUMBERS, NUMBERS, st.sampled_from(["cpu_op", "kernel", "cuda_runtime", "gpu_memcpy"])
)


@given(st.lists(ANY_NODE, min_size=1, max_size=12), st.lists(ANY_EVENT, max_size=24))
def test_no_files_make_a_cycle(
    tmp_path_factory: pytest.TempPathFactory, nodes: list[tuple[Any, ...]], events: list[tuple[Any, ...]]
) -> None:
    """Ids twice, parents in circles, kernels before their launches: every node and no dependency on a later one."""
    folder = tmp_path_factory.mktemp("graph", numbered=True)
    execution = [
        et_node(number, parent, name, [TENSOR, 1, 0, 1, "send"], {}, record) for number, parent, record, name in nodes
    ]
    kineto = [
        {
            "ph": "X",
            "cat": category,
            "name": "a" if category == "cpu_op" else "ncclKernel_SendRecv",
            "pid": 1,
            "tid": start % 3,
            "ts": start,
            "dur": dur,
            "args": {"Record function id": record, "correlation": correlation}
            | ({"stream": 7, "device": 0} if category in ("kernel", "gpu_memcpy") else {}),
        }
        for start, dur, record, correlation, category in events
    ]
    trace = ks.read(
        json.dumps(kineto).encode(), json.dumps({"schema": "1.1.1-chakra.0.0.4", "nodes": execution}).encode()
    )
    written = trace.to_chakra(folder / "rank.et")
    found = decoded((folder / "rank.et").read_bytes())[1:]
    assert [node.number for node in found] == list(range(1, len(found) + 1))
    assert all(0 < source < node.number for node in found for source in [*node.control, *node.data])
    outside = sum(count for kind, count, *_ in written.health.rows() if kind == "device_event_outside")
    work = sum(row["kind"] in ("kernel", "copy") for row in rows(trace.events))
    assert len(found) == len(nodes) + work - outside
