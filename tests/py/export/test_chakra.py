"""Linked traces as the graph that simulators read, decoded by protobuf's rules alone."""

from __future__ import annotations

import gzip
import json
import tarfile
from collections import Counter
from pathlib import Path

import kinetoscope as ks
import pytest
from kinetoscope._cli.main import main
from protobuf import Message, decoded
from support.graph import COLL, METADATA, attrs, et_node, graph, rows

pytestmark = pytest.mark.unit

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


def waits_for(nodes: list[Message], node: Message) -> set[int]:
    """Ids of all that is over before a node starts."""
    found: set[int] = set()
    rest = [node]
    while rest:
        new = {source for each in rest for source in [*each.control, *each.data]} - found
        found |= new
        rest = [nodes[source - 1] for source in new]
    return found


def test_times_are_those_of_an_iteration_without_the_observer(data: Path, tmp_path: Path) -> None:
    trace = ks.read(data / "transformer_cpu" / "kineto_trace_0.json.gz")
    (start,), (dur,) = (trace.iterations.to_arrow().column(name).to_pylist()[1:2] for name in ("start_ns", "dur_ns"))
    starts = [attrs(node)["start_ns"] for node in graph(trace, tmp_path) if "start_ns" in attrs(node)]
    assert len(starts) > 1600
    assert all(start <= time <= start + dur for time in starts)
    every = ks.read(data / "minimal_cpu" / "kineto_trace_0.json.gz", data / "minimal_cpu" / "torch_et_0.json.gz")
    messages = [row["message"] for row in rows(every.to_chakra(tmp_path / "every.et").health)]
    assert any("slows the host" in message for message in messages)


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
        assert len(node.control) == (event["operator_id"] is not None)
        for host in node.control:
            assert host in node.data
            assert attrs(nodes[host - 1])["is_cpu_op"]
        if event["launch_id"] is None:  # it began before the operator that it names, and comes behind it
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
        assert by_event[row["source_id"]].number in by_event[row["target_id"]].data


def test_waits_that_nothing_reports(cuda: ks.Trace, tmp_path: Path) -> None:
    """What a thread begins after a call to synchronize comes behind what that call waited for."""
    nodes = graph(cuda, tmp_path)
    by_event = {attrs(node)["event_id"]: node for node in nodes if "event_id" in attrs(node)}
    events = {row["id"]: row for row in rows(cuda.events)}
    syncs = [row for row in rows(cuda.links) if row["kind"] == "sync"]
    assert {(row["method"], events[row["target_id"]]["name"]) for row in syncs} == {
        ("ended_inside", "cudaDeviceSynchronize")
    }
    num_later = 0
    for row in syncs:
        end = events[row["target_id"]]["start_ns"] + events[row["target_id"]]["dur_ns"]
        later = [node for node in nodes if attrs(node)["is_cpu_op"] and attrs(node).get("start_ns", 0) >= end]
        num_later += len(later[:1])
        assert all(by_event[row["source_id"]].number in node.data for node in later[:1])
    assert num_later > 0


@pytest.mark.shared
def test_waits_for_streams_and_events(shared: Path, tmp_path: Path) -> None:
    """What the trace's own links say that work or a thread waited for, is waited for in the graph."""
    folder = shared / "facebookresearch__HolisticTraceAnalysis/tests/data/critical_path/cuda_event_sync"
    events = ks.read(folder / "event_sync_trace.json.gz")
    calls = [row for row in rows(events.events) if row["kind"] in ("operator", "annotation") and row["device"] is None]
    calls.sort(key=lambda row: (row["start_ns"], -row["dur_ns"]))
    made = [et_node(number, 1, row["name"], [], {}, number) for number, row in enumerate(calls, 2)]
    made.insert(0, et_node(1, 1, "[pytorch|profiler|execution_trace|process]", []))
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
        source = by_event[row["source_id"]].number
        if row["target_id"] in by_event:
            assert source in by_event[row["target_id"]].data
            continue
        later = [
            node
            for node in nodes
            if attrs(node)["is_cpu_op"] and attrs(node).get("start_ns", 0) >= ends[row["target_id"]]
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
    alone = tmp_path / "alone.json.gz"
    alone.write_bytes((data / "synthetic_cuda/kineto_trace_0.json.gz").read_bytes())
    assert main(["chakra", str(alone), "-o", str(tmp_path / "none.et")]) == 2


@pytest.mark.shared
@pytest.mark.parametrize("rank", range(8))
def test_a_rank_of_a_real_job(rank: int, shared: Path, tmp_path: Path) -> None:
    """Files without record ids: every node and every event of the device is in the graph, and no dependency is lost."""
    trace = ks.read(*(_member(shared, rank, kind) for kind in ("kineto", "pytorch_et")))
    nodes = graph(trace, tmp_path)
    assert all(0 < source < node.number for node in nodes for source in [*node.control, *node.data])
    work = [row for row in rows(trace.events) if row["kind"] in ("kernel", "copy", "fill")]
    assert len(nodes) == len(trace.nodes) + len(work)
    device = [node for node in nodes if "et_id" not in attrs(node)]
    assert sum(bool(node.control) for node in device) == sum(row["launch_id"] is not None for row in work)
    found = Counter(attrs(node)["collective"] for node in nodes if node.sort == COLL)
    assert found == {"all_to_allv": 4, "all_to_all": 1, "all_reduce": 3}
    written = trace.to_chakra(tmp_path / "again.et")
    counts = {row["kind"]: row["count"] for row in rows(written.health)}
    assert counts.pop("uneven_collective") == 1
    assert set(counts) <= {"device_event_without_node", "node_without_time"}


def _member(shared: Path, rank: int, kind: str) -> bytes:
    """A file out of the archives of eight ranks."""
    folder = shared / "facebookresearch__param/et_replay/tests/inputs"
    with tarfile.open(folder / f"dlrm_{kind}.tar.gz") as archive:
        (name,) = (name for name in archive.getnames() if f"worker{rank}_" in name or f"dlrm_eg_{rank}." in name)
        file = archive.extractfile(name)
        assert file
        return file.read()
