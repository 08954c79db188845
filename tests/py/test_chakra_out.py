"""Linked traces as the graph that simulators read, decoded by protobuf's rules alone."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kinetoscope.cli import main
from protobuf import Message, decoded

pytestmark = pytest.mark.unit

METADATA, COMP, SEND, RECV, COLL = 1, 4, 5, 6, 7
FIXTURES = ["minimal_cpu", "transformer_cpu", "synthetic_cuda", "mlp_gloo", "hostile"]
READ_BY_SIMULATORS = {
    "is_cpu_op": "bool",
    "comm_type": "int64",
    "comm_size": "int64",
    "pg_name": "string",
    "stream": "int64",
    **dict.fromkeys(("comm_src", "comm_dst", "comm_tag"), "int32"),
    **dict.fromkeys(("rf_id", "fw_parent", "seq_id", "scope", "tid", "fw_tid"), "int64"),
    "op_schema": "string",
}


@pytest.fixture(params=FIXTURES)
def trace(request: pytest.FixtureRequest, data: Path) -> ks.Trace:
    return ks.read(data / request.param / "kineto_trace_0.json.gz")


def graph(trace: ks.Trace, folder: Path) -> list[Message]:
    """The nodes of the file that is written, as another reader sees them."""
    trace.to_chakra(folder / "rank.et")
    return decoded((folder / "rank.et").read_bytes())[1:]


def attrs(node: Message) -> dict[str, Any]:
    return {attribute.name: attribute.value for attribute in node.attrs}


def rows(table: ks.Table) -> list[dict[str, Any]]:
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows()]


def waits_for(nodes: list[Message], node: Message) -> set[int]:
    """Ids of all that is over before a node starts."""
    found: set[int] = set()
    rest = [node]
    while rest:
        new = {source for each in rest for source in [*each.control, *each.data]} - found
        found |= new
        rest = [nodes[source - 1] for source in new]
    return found


def test_a_whole_graph_without_a_cycle(trace: ks.Trace, tmp_path: Path) -> None:
    nodes = graph(trace, tmp_path)
    assert [node.number for node in nodes] == list(range(1, len(nodes) + 1))
    for node in nodes:
        for sources in (node.control, node.data):
            assert all(0 < source < node.number for source in sources)
            assert sources == sorted(set(sources))
        types = {attribute.name: attribute.sort for attribute in node.attrs}
        assert len(types) == len(node.attrs)
        assert {name: sort for name, sort in types.items() if name in READ_BY_SIMULATORS}.items() <= (
            READ_BY_SIMULATORS.items()
        )
        assert {"is_cpu_op", "stream"} <= types.keys()


def test_nothing_is_left_out(trace: ks.Trace, tmp_path: Path) -> None:
    nodes = [attrs(node) for node in graph(trace, tmp_path)]
    expected = Counter(row["node_id"] for row in rows(trace.nodes))
    assert Counter(node["et_id"] for node in nodes if "et_id" in node) == expected
    work = {
        row["id"]
        for row in rows(trace.events)
        if row["kind"] in ("kernel", "copy", "fill") and row["device"] is not None
    }
    assert {node["event_id"] for node in nodes if "et_id" not in node} == work


def test_times_are_those_of_the_events(trace: ks.Trace, tmp_path: Path) -> None:
    events = {row["id"]: row for row in rows(trace.events)}
    first = min(event["start_ns"] for event in events.values())
    for node in graph(trace, tmp_path):
        known = attrs(node)
        if "start_ns" not in known:
            assert node.dur == 0
            assert node.start >= first // 1000
            continue
        event = events[known["event_id"]]
        assert known["start_ns"] == event["start_ns"]
        assert node.start == (known["start_ns"] + 500) // 1000
        assert known["inclusive_ns"] == event["dur_ns"]
        assert 0 <= known["duration_ns"] <= known["inclusive_ns"]
        assert node.dur == (known["duration_ns"] + 500) // 1000
        if not known["is_cpu_op"]:
            assert known["duration_ns"] == known["inclusive_ns"]


def test_time_along_a_thread_adds_up(data: Path, tmp_path: Path) -> None:
    """The outermost nodes and those inside them take as long as the outermost do."""
    trace = ks.read(data / "transformer_cpu/kineto_trace_0.json.gz")
    nodes = graph(trace, tmp_path)
    timed = {node.number: attrs(node) for node in nodes if "start_ns" in attrs(node)}
    outermost = [node for node in nodes if node.number in timed and not set(node.control) & timed.keys()]
    total = sum(known["duration_ns"] for known in timed.values())
    assert total == sum(timed[node.number]["inclusive_ns"] for node in outermost) > 0


def test_who_waits_for_whom(cuda: ks.Trace, tmp_path: Path) -> None:
    nodes = graph(cuda, tmp_path)
    by_event = {attrs(node)["event_id"]: node for node in nodes if "event_id" in attrs(node)}
    streams: dict[tuple[int, int], Message] = {}
    for event in sorted(rows(cuda.events), key=lambda event: event["start_ns"]):
        if event["kind"] not in ("kernel", "copy", "fill"):
            continue
        node = by_event[event["id"]]
        assert attrs(node)["stream"] == event["stream"]
        assert len(node.control) == (event["operator"] is not None)
        for host in node.control:
            assert host in node.data
            assert attrs(nodes[host - 1])["is_cpu_op"]
        if event["launch"] is None:  # it began before the operator that it names, and comes behind it
            continue
        if (before := streams.get((event["device"], event["stream"]))) is not None:
            assert before.number in waits_for(nodes, node)
        streams[event["device"], event["stream"]] = node
    for row in rows(cuda.dependencies):
        producer, consumer = (
            next(node for node in nodes if attrs(node).get("et_id") == row[end]) for end in ("producer", "consumer")
        )
        assert producer.number in consumer.data
    pairs = [row for row in rows(cuda.links) if row["kind"] == "forward_backward"]
    assert pairs
    for row in pairs:
        assert by_event[row["source"]].number in by_event[row["target"]].data


@pytest.mark.shared
def test_waits_for_streams_and_events(shared: Path, tmp_path: Path) -> None:
    """What the trace's own links say that work or a thread waited for, is waited for in the graph."""
    folder = shared / "facebookresearch__HolisticTraceAnalysis/tests/data/critical_path/cuda_event_sync"
    events = ks.read(folder / "event_sync_trace.json.gz")
    calls = [row for row in rows(events.events) if row["kind"] in ("operator", "annotation") and row["device"] is None]
    calls.sort(key=lambda row: (row["start_ns"], -row["dur_ns"]))
    made = [_node(number, 1, row["name"], [], {}, number) for number, row in enumerate(calls, 2)]
    made.insert(0, _node(1, 1, "[pytorch|profiler|execution_trace|process]", []))
    document = json.loads(gzip.decompress((folder / "event_sync_trace.json.gz").read_bytes()))
    for number, row in enumerate(calls, 2):
        document["traceEvents"][row["id"]].setdefault("args", {})["Record function id"] = number
    execution = {"schema": "1.1.1-chakra.0.0.4", "nodes": made}
    trace = ks.read(json.dumps(document).encode(), json.dumps(execution).encode())
    nodes = graph(trace, tmp_path)
    by_event = {attrs(node)["event_id"]: node for node in nodes if "event_id" in attrs(node)}
    syncs = [row for row in rows(trace.links) if row["kind"] == "sync"]
    assert syncs
    ends = {row["id"]: row["start_ns"] + row["dur_ns"] for row in rows(trace.events)}
    for row in syncs:
        source = by_event[row["source"]].number
        if row["target"] in by_event:
            assert source in by_event[row["target"]].data
            continue
        later = [
            node for node in nodes if attrs(node)["is_cpu_op"] and attrs(node).get("start_ns", 0) >= ends[row["target"]]
        ]
        assert not later or any(source in node.data for node in later)


def test_collectives_of_a_device(cuda: ks.Trace, tmp_path: Path) -> None:
    nodes = graph(cuda, tmp_path)
    found = [attrs(node) | {"name": node.name} for node in nodes if node.sort == COLL]
    assert len(found) == sum("ncclDevKernel" in node.name for node in nodes) > 0
    for node in found:
        assert node["name"].startswith("ncclDevKernel_AllReduce")
        assert (node["comm_type"], node["comm_size"], node["pg_name"]) == (0, 262144 * 4, "0")
        assert (node["collective"], node["in_bytes"], node["out_bytes"]) == ("all_reduce", 262144 * 4, 262144 * 4)
        assert not node["is_cpu_op"]
    assert len({node["comm_tag"] for node in found}) == len(found)
    assert json.loads((tmp_path / "comm_group.json").read_text()) == cuda.comm_groups == {"0": [0, 1]}


def test_collectives_of_a_host(data: Path, tmp_path: Path) -> None:
    trace = ks.read(data / "mlp_gloo/kineto_trace_0.json.gz")
    nodes = graph(trace, tmp_path)
    found = [node for node in nodes if node.sort == COLL]
    assert [node.name for node in found] == ["gloo:all_reduce"] * len(rows(trace.collectives()))
    for node in found:
        known = attrs(node)
        assert (known["comm_type"], known["comm_size"], known["is_cpu_op"]) == (0, 10384 * 4, False)
        assert "c10d::allreduce_" in {nodes[source - 1].name for source in waits_for(nodes, node)}
    (groups,) = (node for node in nodes if node.sort == METADATA)
    listed = groups.inputs[0].removeprefix("['").removesuffix("']")
    assert json.loads(listed)[0]["pg_name"] == "0"
    assert json.loads((tmp_path / "comm_group.json").read_text()) == {"0": [0, 1]}


def test_the_first_message(data: Path, tmp_path: Path) -> None:
    ks.read(data / "mlp_gloo/kineto_trace_0.json.gz").to_chakra(tmp_path / "rank.et")
    first = decoded((tmp_path / "rank.et").read_bytes())[0]
    assert first.name == "0.0.4"
    assert [(each.name, each.sort) for each in first.attrs] == [
        *(("schema", "string"), ("pid", "uint64"), ("time", "string"), ("start_ts", "uint64"), ("finish_ts", "uint64")),
        *(("rank", "int64"), ("world_size", "int64")),
    ]
    assert attrs(first)["schema"] == "1.1.1-chakra.0.0.4"


def test_what_is_written_is_what_is_read(trace: ks.Trace, tmp_path: Path) -> None:
    written = trace.to_chakra(tmp_path / "rank.et")
    read = ks.read(tmp_path / "rank.et")
    assert isinstance(read, ks.Chakra)
    assert read.nodes.rows() == written.nodes.rows()
    assert read.dependencies.rows() == written.dependencies.rows()
    assert read.metadata == written.metadata
    assert len(read.health) == 0
    assert read.save(tmp_path / "again.et").read_bytes() == (tmp_path / "rank.et").read_bytes()


def test_an_execution_trace_alone(data: Path, tmp_path: Path) -> None:
    trace = ks.read(data / "mlp_gloo/torch_et_0.json.gz")
    nodes = graph(trace, tmp_path)
    assert len(nodes) == len(trace.nodes)
    assert {(node.start, node.dur) for node in nodes} == {(0, 0)}
    ids = [attrs(node)["et_id"] for node in nodes]
    assert ids == sorted(ids)
    assert sum(node.sort == COLL for node in nodes) == len(rows(trace.collectives())) > 0


def test_a_kineto_trace_alone(data: Path, tmp_path: Path) -> None:
    trace = ks.read(data / "mlp_gloo/kineto_trace_0.json.gz", False)
    with pytest.raises(ks.UnsupportedTraceError, match="expected an Execution Trace, with or without a Kineto trace"):
        trace.to_chakra(tmp_path / "rank.et")
    assert list(tmp_path.iterdir()) == []


def test_by_command(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["chakra", str(data / "mlp_gloo"), "-o", str(tmp_path / "job.et")]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["comm_group.json", "job.0.et", "job.1.et"]
    assert capsys.readouterr().out.startswith(f"{tmp_path}/job.0.et: ")
    source = str(data / "synthetic_cuda/kineto_trace_0.json.gz")
    assert main(["chakra", source, "-o", str(tmp_path / "one.et.gz")]) == 0
    assert decoded(gzip.decompress((tmp_path / "one.et.gz").read_bytes()))
    assert main(["chakra", source, "--no-et", "-o", str(tmp_path / "none.et")]) == 2


# --- communications -----------------------------------------------------------------------------------------------


def small(kernels: list[dict[str, Any]], comms: list[dict[str, Any]]) -> ks.Trace:
    """A rank whose every record of a communication launches a kernel, of the name and the arguments that are given."""
    events: list[dict[str, Any]] = []
    nodes: list[dict[str, Any]] = [_node(1, 1, "[pytorch|profiler|execution_trace|process]", [])]
    nodes.append(_node(2, 1, "[pytorch|profiler|execution_trace|thread]", []))
    for at, (kernel, comm) in enumerate(zip(kernels, comms, strict=True)):
        record, start = at + 10, 100 * at
        own = {"pid": 1, "tid": 1, "args": {"Record function id": record, "External id": record}}
        events.append({"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "ts": start, "dur": 20.5} | own)
        launch = {"args": {"correlation": record}, "pid": 1, "tid": 1}
        events.append(
            {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": start + 1, "dur": 2} | launch
        )
        args = {"device": 0, "stream": 7, "correlation": record} | kernel.get("args", {})
        place = {"pid": 0, "tid": 7, "ts": start + 5, "dur": 0.4}
        events.append({"ph": "X", "cat": "kernel", "name": kernel["name"], "args": args} | place)
        nodes.append(_node(record, 2, "record_param_comms", comm["inputs"], comm.get("attrs", {}), record))
    groups = [{"pg_name": "5", "pg_size": 2, "ranks": [3, 8]}]
    kineto = {"distributedInfo": {"rank": 3, "world_size": 16, "pg_config": groups}, "traceEvents": events}
    execution = {"schema": "1.1.1-chakra.0.0.4", "pid": 1, "nodes": nodes}
    return ks.read(json.dumps(kineto).encode(), json.dumps(execution).encode())


def _node(
    number: int, parent: int, name: str, inputs: list[Any], more: dict[str, Any] | None = None, record: int = 0
) -> dict[str, Any]:
    attributes = {"rf_id": record, "fw_parent": 0, "seq_id": -1, "scope": 0, "tid": 1, "fw_tid": 0, "op_schema": ""}
    types = [
        "Tensor(float)"
        if isinstance(value, list) and len(value) == 6
        else "String"
        if isinstance(value, str)
        else "Int"
        for value in inputs
    ]
    return {
        "id": number,
        "name": name,
        "ctrl_deps": parent,
        "inputs": {"values": inputs, "shapes": [[] for _ in inputs], "types": types},
        "outputs": {"values": [], "shapes": [], "types": []},
        "attrs": [{"name": key, "type": "", "value": value} for key, value in (attributes | (more or {})).items()],
    }


TENSOR = [1, 2, 0, 1000, 4, "cuda:0"]


def comm(name: str, rank: int = 0, seq: int = 9) -> dict[str, Any]:
    attributes = {"collective_name": name, "pg_name": "5", "pg_size": 2, "dtype": "Float", "in_msg_nelems": 1000}
    return {"inputs": [TENSOR, seq, ["5", "some"], rank, name, [], []], "attrs": attributes}


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


# --- what was linked before, and what is wrong ------------------------------------------------------------------------


def test_an_execution_trace_that_was_linked_before(tmp_path: Path) -> None:
    record = comm("allreduce", seq=7)
    cpu = {"ts": 1000.5, "inclusive_dur": 20.25, "exclusive_dur": 20.25}
    device = {"cat": "kernel", "ph": "X", "stream": 7}
    nodes = [
        _node(0, 0, "[pytorch|profiler|execution_trace|process]", []),
        _node(1, 0, "[pytorch|profiler|execution_trace|thread]", []),
        _node(2, 1, "record_param_comms", record["inputs"], record["attrs"], 5) | cpu,
        _node(3, 2, "ncclDevKernel_AllReduce", [])
        | device
        | {"ts": 1010.0, "inclusive_dur": 90.125, "exclusive_dur": 90.125},
        _node(4, 2, "Memset", []) | device | {"cat": "gpu_memset", "ts": 1102.0, "inclusive_dur": 1},
        _node(5, 1, "aten::add", []) | {"ts": 1200.0, "inclusive_dur": 5, "inter_thread_dep": 2, "sync_dep": [3]},
        _node(6, 1, "aten::mul", []) | {"ts": 1300.0, "inclusive_dur": 5, "sync_dep": [99]},
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
        _node(number, parent, name, [TENSOR, 1, 0, 1, "send"], {}, record) for number, parent, record, name in nodes
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
