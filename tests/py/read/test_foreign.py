"""Files of other tools than Kineto are named for what they are, and become tables."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from kinetoscope._analysis.doctor import diagnosis
from kinetoscope._cli.main import main

pytestmark = pytest.mark.unit


def named(pid: int, name: str, tid: int | None = None) -> dict[str, Any]:
    kind = "process_name" if tid is None else "thread_name"
    return {"ph": "M", "name": kind, "pid": pid, "tid": tid or 0, "args": {"name": name}}


def event(pid: int, tid: int, name: str, start: int, dur: int, **other: Any) -> dict[str, Any]:
    return {"ph": "X", "name": name, "pid": pid, "tid": tid, "ts": start, "dur": dur, **other}


def read(content: Any) -> Any:
    return ks.read(json.dumps(content).encode())


ASCEND = [
    *(named(1, "Python"), named(2, "Ascend Hardware"), named(2, "Stream 4", 4)),
    event(1, 7, "aten::mm", 0, 90, cat="cpu_op"),
    {"ph": "s", "cat": "async_npu", "name": "async_npu", "id": "5", "pid": 1, "tid": 7, "ts": 0},
    event(2, 4, "MatMulV3", 150, 500, args={"Task Type": "AI_CORE"}),
    {"ph": "f", "bp": "e", "cat": "async_npu", "name": "async_npu", "id": "5", "pid": 2, "tid": 4, "ts": 150},
]
JAX = {
    "traceEvents": [
        *(named(1, "/device:GPU:0"), named(1, "Stream #20(Compute)", 20), named(701, "/host:CPU")),
        event(1, 20, "loop_fusion", 100, 500, args={"correlation_id": 3}),
        event(701, 1, "PjitFunction(step)", 0, 90),
    ]
}
VIZTRACER = {
    "traceEvents": [event(9, 9, "forward (/w/model.py:33)", 0, 50, cat="FEE")],
    "viztracer_metadata": {"version": "1.0"},
}


@pytest.mark.parametrize(
    ("content", "tool"),
    [(ASCEND, "Ascend"), (JAX, "JAX"), (VIZTRACER, "VizTracer")],
    ids=["ascend", "jax", "viztracer"],
)
def test_the_tool_is_named_and_no_advice_is_about_another(content: Any, tool: str) -> None:
    trace = read(content)
    told = str(diagnosis(trace))
    assert tool in told
    assert tool in repr(trace.summary())
    for word in ("cuda", "profileractivity", "ks.profile"):
        assert word not in told.lower()
    if tool != "Ascend":  # whose profiler has the options of PyTorch's
        assert "prof.step" not in told
        assert "record_shapes" not in told


def test_work_of_ascend_belongs_to_its_operator() -> None:
    trace = read(ASCEND)
    names = trace.events.select("name", "kind", "stream", "launch_id", "operator_id", "device_ns").rows()
    operator, task = names
    assert operator == ("aten::mm", "operator", None, None, None, 500_000)
    assert task[:3] == ("MatMulV3", "kernel", 4)
    assert task[3] == task[4] is not None
    assert trace.coverage["device_owners"]["num_linked"] == 1


ENTRY = {
    "record_id": 0,
    "pg_id": 0,
    "process_group": ["0", "default_pg"],
    "collective_seq_id": 1,
    "profiling_name": "nccl:all_reduce",
    "time_created_ns": 1,
    "input_sizes": [[1]],
    "state": "completed",
    "frames": [],
}
DUMP = {
    "version": "2.10",
    "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}},
    "entries": [ENTRY, {**ENTRY, "record_id": 1, "state": "scheduled"}],
}


@pytest.mark.parametrize("content", [json.dumps(DUMP).encode(), pickle.dumps(DUMP, 2), pickle.dumps(DUMP)])
def test_a_flight_recorder_becomes_a_table(content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "nccl_trace_rank_0"
    path.write_bytes(content)
    recorder = ks.read(path)
    assert isinstance(recorder, ks.FlightRecorder)
    assert recorder.entries.select("name", "state", "collective_seq").rows() == [
        ("nccl:all_reduce", "completed", 1),
        ("nccl:all_reduce", "scheduled", 1),
    ]
    assert recorder.groups.select("desc", "ranks").rows() == [("default_pg", "[0, 1]")]
    assert len(recorder.frames) == len(recorder.health) == 0
    assert recorder.metadata == {"version": "2.10"}
    assert main(["summary", str(path)]) == 0
    assert "a flight recorder" in capsys.readouterr().out


def test_a_pickle_of_a_flight_recorder_runs_no_code(tmp_path: Path) -> None:
    class Attack:
        def __reduce__(self) -> tuple[Any, tuple[str]]:
            return (exec, (f"open({str(tmp_path / 'ran')!r}, 'w')",))

    with pytest.raises(ks.TraceError, match="runs code"):
        ks.read(pickle.dumps({**DUMP, "entries": [Attack()]}))
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'{"planes": []}', "XSpace"),
        (b'[{"frame": {"name": "ROOT"}, "metrics": {"time (ns)": 1}, "children": []}]', "Proton"),
        (b'{"$schema": "x", "shared": {}, "profiles": []}', "speedscope"),
        (b'{"meta": {}, "libs": [], "threads": []}', "Firefox"),
        (b'{"rocprofiler-sdk-tool": []}', "rocprofv3"),
    ],
)
def test_files_that_cannot_be_read_are_named(content: bytes, words: str) -> None:
    with pytest.raises(ks.TraceError, match=words):
        ks.read(content)


NAME = "triton_poi_fused_add_0"


def compiled(kernel_file: str) -> bytes:
    args = {"kernel_file": kernel_file, "kernel_backend": "triton"}
    events = [
        event(1, 1, NAME, 0, 80, cat="cpu_op", args=args),
        event(1, 1, "cuLaunchKernel", 20, 10, cat="cuda_driver", args={"correlation": 2}),
        event(0, 7, NAME, 100, 900, cat="kernel", args={"correlation": 2, "device": 0, "stream": 7}),
    ]
    return json.dumps(events).encode()


SOURCE = f"""
# kernel path: /elsewhere/ow/cowpm.py
# Topologically Sorted Source Nodes: [add], Original ATen: [aten.add]
# File: /w/model.py:7 in forward, code: return a + b
def {NAME}(in_ptr0):
    pass
"""


def test_a_kernel_leads_to_the_source_beside_the_trace(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(compiled("/elsewhere/ow/cowpm.py"))
    trace = ks.read(path)
    columns = ("kernel", "device_ns", "source", "node", "target", "python_file", "python_line", "code", "reason")
    (row,) = trace.kernel_sources().select(*columns).rows()
    assert row == (NAME, 900_000, None, None, None, None, None, None, "no file cowpm.py beside the trace")
    (tmp_path / "ow").mkdir()
    (tmp_path / "ow/cowpm.py").write_text(SOURCE)
    (row,) = trace.kernel_sources().select(*columns).rows()
    assert row == (NAME, 900_000, "ow/cowpm.py", "add", "aten.add", "/w/model.py", 7, "return a + b", None)
    assert ks.read(compiled("cowpm.py")).kernel_sources(tmp_path).rows() != []
    with pytest.raises(ValueError, match="expected folder="):
        ks.read(compiled("cowpm.py")).kernel_sources()
    with pytest.raises(NotADirectoryError):
        trace.kernel_sources(tmp_path / "none")


def test_no_path_of_a_trace_is_opened(tmp_path: Path) -> None:
    secret = tmp_path / "secret.py"
    secret.write_text(SOURCE)
    folder = tmp_path / "traces"
    folder.mkdir()
    (folder / "link.py").symlink_to(secret)
    for kernel_file in (str(secret), "../secret.py", "link.py", f"file://{secret}"):
        path = folder / "trace.json"
        path.write_bytes(compiled(kernel_file))
        assert ks.read(path).kernel_sources().select("source").rows() == [(None,)]
