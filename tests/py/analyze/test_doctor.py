"""The health of a trace in words."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import kinetoscope as ks
import pytest
from kinetoscope._analysis.doctor import diagnosis

pytestmark = pytest.mark.unit


def marks(trace: ks.Trace) -> dict[str, str]:
    return {finding.message: finding.mark for finding in diagnosis(trace)}


def test_a_full_recording(transformer: ks.Trace) -> None:
    found = marks(transformer)
    for message in ("3 iterations", "input shapes", "Python stacks", "allocations", "no defects"):
        assert found[message] == "ok"
    assert found["no device events"] == "missing"


def test_a_bare_recording(data: Path) -> None:
    found = marks(ks.read(data / "mlp_gloo/kineto_trace_0.json.gz", et=False))
    assert found["no Python stacks"] == "missing"
    assert found["no allocations"] == "missing"
    assert found["no Execution Trace"] == "missing"


def test_a_device(cuda: ks.Trace) -> None:
    found = marks(cuda)
    device = cuda.coverage["device_events"]["count"]
    assert found[f"{device} kernels, copies and fills"] == "ok"
    assert found[f"{device - 1} of {device} device events have a known launch (74 by correlation)"] == "missing"


def test_an_execution_trace_alone(data: Path) -> None:
    found = marks(ks.read(data / "minimal_cpu/torch_et_0.json.gz"))
    assert found["no events: only an Execution Trace"] == "missing"


def test_record_ids_that_are_all_zero() -> None:
    event = b'{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":1,"args":{"Record function id":0}}'
    text = str(diagnosis(ks.read(b'{"traceEvents":[' + event + b"]}")))
    assert "record ids (all 0 or absent)" in text


def test_launches_without_device_events() -> None:
    def events(name: bytes, count: int) -> ks.Trace:
        event = b'{"ph":"X","cat":"cuda_runtime","name":"%b","pid":1,"tid":1,"ts":%d,"dur":1}'
        return ks.read(b"[" + b",".join(event % (name, start) for start in range(count)) + b"]")

    assert "no device events for 1 launch " in str(diagnosis(events(b"cudaLaunchKernel", 1)))
    assert "no device events for 2 launches " in str(diagnosis(events(b"hipMemcpyAsync", 2)))


@pytest.mark.parametrize("name", [b"cudaDeviceSynchronize", b"cudaLaunchHostFunc", b"cudaGraphAddMemcpyNode"])
def test_calls_that_enqueue_no_device_work(name: bytes) -> None:
    """The profiler itself waits for the device when it stops, also where nothing was recorded but the CPU."""
    event = b'{"ph":"X","cat":"cuda_runtime","name":"%b","pid":1,"tid":1,"ts":1,"dur":1}' % name
    found = str(diagnosis(ks.read(b"[" + event + b"]")))
    assert "no device events  " in found
    assert "launch" not in found.replace("LaunchHostFunc", "")


def test_defects_are_told() -> None:
    text = str(diagnosis(ks.read(b'[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1},')))
    assert "incomplete   the file is truncated: complete elements were read" in text
    assert text.count("truncated") == 1


def test_nodes_removed_from_an_execution_trace(data: Path) -> None:
    """Coverage counts them; so the diagnosis cannot say that there are no defects."""
    folder = data / "transformer_cpu"
    whole = json.loads(gzip.decompress((folder / "torch_et_0.json.gz").read_bytes()))
    linear = [node["id"] for node in whole["nodes"] if node["name"] == "aten::addmm"]
    removed = set(linear[1:-1:2])
    nodes = [node for node in whole["nodes"] if node["id"] not in removed]
    trace = ks.read(folder / "kineto_trace_0.json.gz", json.dumps(whole | {"nodes": nodes}).encode())
    text = str(diagnosis(trace))
    number = len(removed)
    assert number > 1
    assert f"{number} × aten::addmm" in text
    assert "no defects" not in text
    assert trace.verdict.state == "incomplete"
    counts = {
        kind: (count, severity) for kind, count, severity in trace.health.select("kind", "count", "severity").rows()
    }
    assert counts["operator_without_node"] == (number, "defect")
    operators = trace.coverage["operators"]
    linked = f"{operators['num_linked']:,} of {operators['count']:,}"
    assert f"{linked} operators and annotations have a known node" in text


def test_an_execution_trace_of_one_iteration_has_its_reason(data: Path) -> None:
    folder = data / "transformer_cuda"
    whole = json.loads(gzip.decompress((folder / "torch_et_0.json.gz").read_bytes()))
    ids = {
        node["id"]: {attr["name"]: attr["value"] for attr in node["attrs"]}.get("rf_id", 0) for node in whole["nodes"]
    }
    middle = sorted(ids.values())[len(ids) // 2]
    nodes = [node for node in whole["nodes"] if ids[node["id"]] < middle]
    trace = ks.read(folder / "kineto_trace_0.json.gz", json.dumps(whole | {"nodes": nodes}).encode())
    text = str(diagnosis(trace))
    assert "outside the time range of the other file" in text
    # calls inside the last one that both files have may lack their nodes
    assert dict(trace.health.select("kind", "count").rows()).get("operator_without_node", 0) <= 2
