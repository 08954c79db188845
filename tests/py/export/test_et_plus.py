"""Execution Traces with times and device work: what `chakra_trace_link` writes, and where ours is better."""

from __future__ import annotations

import json
import tarfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from kinetoscope._cli.main import main
from support.documents import LAYOUTS, Document, document
from support.linker import Linker, dependencies

PARAM = "facebookresearch__param/et_replay/tests/inputs"


def pair(folder: Path) -> tuple[Document, Document]:
    return document(folder / "torch_et_0.json.gz"), document(folder / "kineto_trace_0.json.gz")


def read(execution: Document, kineto: Document) -> ks.Trace:
    return ks.read(json.dumps(kineto).encode(), json.dumps(execution).encode())


@pytest.mark.unit
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ["synthetic_cuda", "mlp_gloo", "minimal_cpu", "transformer_cpu"])
def test_like_chakra_is_byte_for_byte(data: Path, tmp_path: Path, name: str, layout: str) -> None:
    execution, kineto = pair(data / name)
    execution = LAYOUTS[layout](execution)
    linked = read(execution, kineto).to_et_plus(tmp_path / "linked.json", like_chakra=True)
    assert linked.path.read_text() == json.dumps(Linker(execution, kineto).linked(), indent=4)


@pytest.mark.unit
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_device_event_of_a_node_is_there(data: Path, tmp_path: Path, layout: str) -> None:
    execution, kineto = pair(data / "synthetic_cuda")
    trace = read(LAYOUTS[layout](execution), kineto)
    linked = trace.to_et_plus(tmp_path / "linked.json.gz")
    nodes = document(linked.path)["nodes"]
    assert [node["id"] for node in nodes] == list(range(len(nodes)))
    by_id = {node["id"]: node for node in nodes}
    names = dict(zip(*column(trace, "id", "name"), strict=True))
    rows = zip(*column(trace, "kind", "name", "operator_id"), strict=True)
    everything = [(name, operator) for kind, name, operator in rows if kind in {"kernel", "copy", "fill"}]
    owners = sorted((name, names[operator]) for name, operator in everything if operator is not None)
    added = [node for node in nodes if "cat" in node]
    assert {node["cat"] for node in added} >= {"kernel", "gpu_memcpy", "gpu_memset"}
    assert linked == (linked.path, 157, 151, len(owners), len(everything) - len(owners), 150)
    assert sorted((node["name"], by_id[node["ctrl_deps"]]["name"]) for node in added) == owners
    if layout == "1.0.1":
        assert all(node["parent"] == node["ctrl_deps"] for node in added)


@pytest.mark.unit
def test_what_waited_says_what_for(data: Path, tmp_path: Path) -> None:
    """Of each wait, the first node with times that its thread began later; and a converter finds no circle."""
    execution, kineto = pair(data / "synthetic_cuda")
    trace = read(execution, kineto)
    nodes = document(trace.to_et_plus(tmp_path / "linked.json").path)["nodes"]
    events = {row["id"]: row for row in table(trace.events)}
    timed = (row for row in events.values() if row["node_id"] is not None and "ProfilerStep" not in row["name"])
    begun = sorted((row["start_ns"], row["name"]) for row in timed)
    expected: list[tuple[str, str]] = []
    for row in table(trace.links):
        if row["kind"] == "sync":
            call = events[row["target_id"]]
            assert call["name"] == "cudaDeviceSynchronize"
            assert row["method"] == "ended_inside"
            later = [name for start, name in begun if start >= call["start_ns"] + call["dur_ns"]]
            expected += [(later[0], events[row["source_id"]]["name"])] if later else []
    waits = [(node["name"], nodes[source]["name"]) for node in nodes for source in node.get("sync_dep", [])]
    assert sorted(waits) == sorted(expected)
    assert waits
    assert_acyclic(nodes)
    like_chakra = trace.to_et_plus(tmp_path / "linked.json", like_chakra=True)
    assert not any("sync_dep" in node for node in document(like_chakra.path)["nodes"])


@pytest.mark.unit
def test_times_are_exact(data: Path, tmp_path: Path) -> None:
    execution, kineto = pair(data / "mlp_gloo")
    trace = read(execution, kineto)
    text = trace.to_et_plus(tmp_path / "linked.json").path.read_text()
    starts = {str(start) for start in trace.events.to_arrow().column("start_ns").to_pylist()}
    base_ns = kineto.get("baseTimeNanoseconds", 0)
    for node in json.loads(text, parse_float=str)["nodes"]:
        if "ts" in node:
            assert str(int(node["ts"].replace(".", "")) + base_ns) in starts
    oracle = Linker(execution, kineto).linked()["nodes"]
    for ours, theirs in zip(json.loads(text)["nodes"], oracle, strict=True):
        assert ours.pop("exclusive_dur", None) == pytest.approx(theirs.pop("exclusive_dur", None), abs=0.01)
        assert [attr for attr in ours.pop("attrs") if attr["name"] != "fw_parent"] == [
            attr for attr in theirs.pop("attrs") if attr["name"] != "fw_parent"
        ]
        assert ours == theirs


@pytest.mark.unit
def test_times_are_those_of_an_iteration_without_the_observer(data: Path, tmp_path: Path) -> None:
    execution, kineto = pair(data / "transformer_cpu")
    trace = read(execution, kineto)
    linked = trace.to_et_plus(tmp_path / "linked.json")
    observed = trace.to_et_plus(tmp_path / "observed.json", like_chakra=True)
    assert (linked.num_linked, linked.num_observed) == (1613, 0)
    assert (observed.num_linked, observed.num_observed) == (1613, 1613)
    assert "too long" in str(observed)
    assert "too long" not in str(linked)
    first = next(row for row in table(trace.iterations) if not row["is_observed"])
    base_ns = kineto.get("baseTimeNanoseconds", 0)
    times = [(node["ts"], node["inclusive_dur"]) for node in document(linked.path)["nodes"] if "ts" in node]
    for start, duration in times:
        assert first["start_ns"] - 1000 <= start * 1000 + base_ns
        assert (start + duration) * 1000 + base_ns <= first["start_ns"] + first["dur_ns"] + 1000
    slow = [node["inclusive_dur"] for node in document(observed.path)["nodes"] if "ts" in node]
    assert sum(duration for _, duration in times) < 0.7 * sum(slow)
    assert trace.relink(iteration=3).to_et_plus(tmp_path / "third.json").num_observed == 0


@pytest.mark.unit
def test_names_and_steps_do_not_matter(tmp_path: Path) -> None:
    """No ProfilerStep, a kernel and a launch that no list has, a record id of 0, a parent that is not in the file."""
    host = {"ph": "X", "pid": 1, "tid": 1}
    kineto: Document = {
        "traceEvents": [
            host | {"cat": "cpu_op", "name": "c10d::x", "ts": 0, "dur": 9, "args": {"Record function id": 5}},
            host | {"cat": "cpu_op", "name": "none", "ts": 10, "dur": 9, "args": {"Record function id": 0}},
            host | {"cat": "cuda_runtime", "name": "newLaunch", "ts": 2, "dur": 1, "args": {"correlation": 3}},
            {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_Other", "pid": 0, "tid": 7, "ts": 5.5, "dur": 2}
            | {"args": {"correlation": 3, "device": 0, "stream": 7, "Process Group Name": "1"}},
        ]
    }
    nodes = [
        {"id": 1, "name": "root", "ctrl_deps": 1, "rf_id": 0},
        {"id": 4, "name": "c10d::x", "ctrl_deps": 3, "rf_id": 5},
    ]
    linked = read({"schema": "9.9", "nodes": nodes}, kineto).to_et_plus(tmp_path / "linked.json")
    times = {"inclusive_dur": 9, "exclusive_dur": 9, "ts": 0, "inter_thread_dep": None}
    kernel = {"name": "ncclDevKernel_Other", "inclusive_dur": 2, "exclusive_dur": 2, "ts": 5.5}
    assert document(linked.path)["nodes"] == [
        {"id": 0, "name": "root", "ctrl_deps": 0, "rf_id": 0},
        {"id": 1, "name": "c10d::x", "ctrl_deps": 3, "rf_id": 5} | times,
        {"id": 2, "ctrl_deps": 1, "rf_id": 5, "inter_thread_dep": None, "cat": "kernel", "ph": "X", "stream": 7}
        | {"pg_name": "1"}
        | kernel,
    ]
    assert str(linked).endswith("1 of 2 nodes with times, 1 device events added, 0 left out")


@pytest.mark.unit
def test_by_command(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = data / "mlp_gloo"
    files = ["--et", str(folder / "torch_et_1.json.gz"), "--kineto", str(folder / "kineto_trace_1.json.gz")]
    target = tmp_path / "linked.json"
    assert main(["link", *files, "--rank", "1", "-o", str(target)]) == 0
    times = "600 of 606 nodes with times (600 of them in an observed iteration: too long)"
    assert capsys.readouterr().out == f"{target}: {times}, 0 device events added, 0 left out\n"
    by_folder = tmp_path / "again.json"
    assert main(["link", "--kineto", str(folder), "--rank", "1", "-o", str(by_folder)]) == 0
    assert by_folder.read_bytes() == target.read_bytes()
    assert main(["link", *files, "--like-chakra", "-o", str(target)]) == 0
    assert target.read_text().startswith('{\n    "schema"')


@pytest.mark.unit
def test_what_cannot_be_linked_says_so(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "linked.json"
    kineto = data / "mlp_gloo/kineto_trace_1.json.gz"
    assert main(["link", "--kineto", str(kineto), "--rank", "3", "-o", str(target)]) == 2
    assert main(["link", "--kineto", str(data / "mlp_gloo"), "-o", str(target)]) == 2
    alone = tmp_path / "alone.json.gz"
    alone.write_bytes(kineto.read_bytes())
    assert main(["link", "--kineto", str(alone), "-o", str(target)]) == 2
    assert capsys.readouterr().err.splitlines() == [
        "kinetoscope: expected one trace of rank 3, found rank 1",
        "kinetoscope: expected one trace, or --rank to select one, found ranks 0, 1",
        "kinetoscope: expected an Execution Trace, found a trace without an Execution Trace",
    ]
    assert not target.exists()


def archived(path: Path) -> list[Document]:
    with tarfile.open(path) as archive:
        files = (archive.extractfile(member) for member in archive)
        return [json.loads(file.read()) for file in files if file]


def with_record_ids(execution: Document, kineto: Document) -> int:
    """Gives host events the record ids of the nodes at the same places; how many."""
    threads: dict[Any, list[Document]] = defaultdict(list)
    for event in kineto["traceEvents"]:
        if event.get("cat") in {"cpu_op", "user_annotation"} and "ProfilerStep" not in event["name"]:
            threads[event["tid"]].append(event)
    nodes: dict[Any, list[Document]] = defaultdict(list)
    for node in execution["nodes"]:
        if node["rf_id"]:
            nodes[node["tid"]].append(node)
    count = 0
    for calls in nodes.values():
        calls.sort(key=lambda node: node["rf_id"])
        for events in threads.values():
            events.sort(key=lambda event: event["args"]["External id"])
            if [event["name"] for event in events] == [node["name"] for node in calls]:
                for event, node in zip(events, calls, strict=True):
                    event["args"]["Record function id"] = node["rf_id"]
                count += len(calls)
    return count


@pytest.fixture(scope="module")
def dlrm(shared: Path) -> list[tuple[Document, Document]]:
    """Eight ranks, with record ids."""
    executions = {document["pid"]: document for document in archived(shared / PARAM / "dlrm_pytorch_et.tar.gz")}
    kinetos = sorted(
        archived(shared / PARAM / "dlrm_kineto.tar.gz"), key=lambda document: document["distributedInfo"]["rank"]
    )
    pairs = [(executions[pid], kineto) for pid, kineto in zip(sorted(executions), kinetos, strict=True)]
    assert {with_record_ids(*found) for found in pairs} == {1672}
    return pairs


@pytest.mark.shared
def test_dlrm_like_chakra(dlrm: list[tuple[Document, Document]], tmp_path: Path) -> None:
    kept: list[int] = []
    for execution, kineto in dlrm:
        linked = read(execution, kineto).to_et_plus(tmp_path / "linked.json", like_chakra=True)
        assert linked.path.read_text() == json.dumps(Linker(execution, kineto).linked(), indent=4)
        kept.append(linked.num_device_events)
    assert kept == [261, 262, 262, 267, 267, 261, 262, 262]


@pytest.mark.shared
def test_dlrm_differs_where_it_is_documented(dlrm: list[tuple[Document, Document]], tmp_path: Path) -> None:
    for execution, kineto in dlrm:
        trace = read(execution, kineto)
        linked = trace.to_et_plus(tmp_path / "linked.json")
        launched = sum(
            1 for kind, launch in zip(*column(trace, "kind", "launch_id"), strict=True) if launch and kind != "sync"
        )
        assert (linked.num_linked, linked.num_device_events) == (1672, launched)
        ours = document(linked.path)["nodes"]
        theirs = Linker(execution, kineto).linked()["nodes"]
        assert hosts(ours) == hosts(theirs)
        assert any("sync_dep" in node for node in ours)
        assert_acyclic(ours)
        is_known = [node for node in ours if node.get("cat") != "gpu_memset"]
        assert work(is_known) == work(theirs)
        num_other = sum(one != other for one, other in zip(exclusive(ours), exclusive(theirs), strict=True))
        assert num_other < 0.02 * len(ours)


def assert_acyclic(nodes: list[Document]) -> None:
    waits = dependencies(nodes)
    assert all(source < node for node, sources in waits.items() for source in sources)
    assert all(set(node.get("sync_dep", [])) <= waits[node["id"]] for node in nodes)


def table(found: ks.Table) -> list[Document]:
    return [dict(zip(found.columns, row, strict=True)) for row in found.rows()]


def column(trace: ks.Trace, *names: str) -> list[list[Any]]:
    return [trace.events.to_arrow().column(name).to_pylist() for name in names]


def hosts(nodes: list[Document]) -> list[tuple[Any, ...]]:
    """What a host node has, with what it waited for by record id."""
    by_id = {node["id"]: node for node in nodes}
    keys = ("name", "rf_id", "inclusive_dur", "ts")
    waits = {node["id"]: by_id[wait]["rf_id"] for node in nodes if (wait := node.get("inter_thread_dep")) is not None}
    return [(*(node.get(key) for key in keys), waits.get(node["id"])) for node in nodes if "cat" not in node]


def work(nodes: list[Document]) -> list[tuple[Any, ...]]:
    """What device work has, but for its node."""
    keys = ("ts", "name", "cat", "ph", "inclusive_dur", "exclusive_dur", "stream")
    return sorted(tuple(node[key] for key in keys) for node in nodes if "cat" in node)


def exclusive(nodes: list[Document]) -> list[Any]:
    return [node.get("exclusive_dur") for node in nodes if "cat" not in node]
