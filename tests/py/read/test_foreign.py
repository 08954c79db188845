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


def rows(content: Any, *columns: str) -> list[tuple[Any, ...]]:
    return read(content).events.select(*columns).rows()


def spent(content: Any, *columns: str) -> tuple[Any, ...]:
    (row,) = read(content).breakdown().select(*columns).rows()
    return row


def timeline(*lines: tuple[str, list[tuple[str, int, int]]]) -> list[dict[str, Any]]:
    """A timeline of TensorFlow: processes with their events by name, start and duration."""
    events = []
    for pid, (process, work) in enumerate(lines, 1):
        events.append(named(pid, f"{process} Compute"))
        events += [event(pid, 0, name, start, dur, cat="Op", args={"op": name}) for name, start, dur in work]
    return events


MATMUL, SECOND, COPY = ("MatMul", 120, 40), ("MatMul", 120, 40), ("MEMCPYHtoD", 200, 500)
TENSORFLOW = timeline(
    ("/device:GPU:0/memcpy", [COPY]),
    ("/device:GPU:0/stream:all", [MATMUL, SECOND, ("Lost", 800, 9)]),
    ("/device:GPU:0/stream:14", [MATMUL]),
    ("/device:GPU:0/stream:16", [SECOND]),
    ("/device:GPU:0/stream:15<MemcpyH2D>", [COPY]),
    ("/device:GPU:0/sync", [("cuStreamSynchronize", 100, 700)]),
    ("/job:localhost/replica:0/task:0/device:GPU:0", [("MatMul", 100, 10)]),
)


def test_work_of_tensorflow_counts_once_on_its_stream() -> None:
    found = sorted(rows(TENSORFLOW, "name", "kind", "process", "device", "stream", "dur_ns"), key=str)
    work = [row for row in found if row[1] in ("kernel", "copy", "fill")]
    assert work == [
        ("Lost", "kernel", "2", 0, None, 9_000),
        ("MEMCPYHtoD", "copy", "5", 0, 15, 500_000),
        ("MatMul", "kernel", "3", 0, 14, 40_000),
        ("MatMul", "kernel", "4", 0, 16, 40_000),
    ]
    others = [(name, kind) for name, kind, *_ in found if kind not in ("kernel", "copy", "fill")]
    assert others == [
        ("MEMCPYHtoD", "annotation"),
        ("MatMul", "annotation"),
        ("MatMul", "annotation"),
        ("MatMul", "operator"),
        ("cuStreamSynchronize", "launch"),
    ]
    assert spent(TENSORFLOW, "compute_ns", "copy_ns") == (49_000, 500_000)


def test_a_timeline_of_tensorflow_without_streams_keeps_its_work() -> None:
    content = timeline(("/gpu:1/stream:all", [MATMUL]), ("/gpu:1/memcpy", [("unknown", 200, 500)]))
    assert rows(content, "kind", "device", "stream") == [("kernel", 1, None), ("copy", 1, None)]


def onnx(name: str, start: int, dur: int, **args: str) -> dict[str, Any]:
    return event(-1, -1, name, start, dur, cat="Kernel", args={"stream": "7", **args})


def shape(grid: str, block: str) -> dict[str, str]:
    return {f"{key}_{axis}": size for key, size in (("grid", grid), ("block", block)) for axis in "xyz"}


def test_copies_and_launch_shapes_of_onnx_runtime() -> None:
    content = [
        event(77, 78, "model_run", 0, 900, cat="Session"),
        onnx("gemm", 50, 70, **{**shape("1", "1"), "grid_x": "4", "block_x": "128"}),
        onnx("gemm", 150, 70, grid_x="4"),
        onnx("MemcpyHostToDevice", 250, 200, **shape("-1", "-1")),
        onnx("MemcpyDeviceToHost", 450, 10),
        onnx("Memcpy_kernel", 470, 10),
    ]
    assert rows(content, "name", "kind", "grid", "block")[1:] == [
        ("gemm", "kernel", "[4,1,1]", "[128,1,1]"),
        ("gemm", "kernel", None, None),
        ("MemcpyHostToDevice", "copy", None, None),
        ("MemcpyDeviceToHost", "copy", None, None),
        ("Memcpy_kernel", "kernel", None, None),
    ]


PROTON = Path(__file__).parents[2] / "data/proton_cuda"


def test_a_trace_of_proton_is_named() -> None:
    trace = ks.read(PROTON / "trace.chrome_trace")
    told = str(diagnosis(trace))
    assert "Proton" in told
    assert "Proton" in repr(trace.summary())
    for word in ("record_shapes", "ks.profile", "prof.step"):
        assert word not in told
    assert {kind for (kind,) in trace.events.select("kind").rows()} == {"kernel"}


def test_rows_of_a_later_proton_are_streams_and_threads() -> None:
    def row(tid: int, name: str, category: str, start: int, dur: int) -> dict[str, Any]:
        return event(0, tid, name, start, dur, cat=category, args={"call_stack": ["ROOT", name]})

    content = [
        *(named(0, "Trace"), named(0, "CPU Thread 5", 5), named(0, "GPU Stream 7", 200_007)),
        *(row(5, "step", "scope", 0, 90), row(200_007, "gemm", "kernel", 50, 20)),
    ]
    columns = ("name", "kind", "device", "stream")
    assert rows(content, *columns) == [("step", "annotation", None, None), ("gemm", "kernel", None, 7)]


@pytest.mark.parametrize("size", [40, 200, 2000, None])
def test_a_tree_of_proton_is_named_even_if_it_was_cut(size: int | None) -> None:
    with pytest.raises(ks.TraceError, match=r"Proton as a tree"):
        ks.read((PROTON / "tree.hatchet").read_bytes()[:size])


def unknown(category: str, start: int, dur: int, **place: int) -> dict[str, Any]:
    return event(0, 8, "big", start, dur, cat=category, args=place)


KNOWN = [
    event(10, 10, "aten::mm", 0, 1000, cat="cpu_op"),
    event(10, 10, "cudaLaunchKernel", 5, 5, cat="cuda_runtime", args={"correlation": 1}),
    event(0, 7, "k", 10, 20, cat="kernel", args={"device": 0, "stream": 7, "correlation": 1}),
]


@pytest.mark.parametrize("category", ["npu_kernel", "hpu_op"])
@pytest.mark.parametrize("stream", [7, 8])
def test_work_of_an_unknown_kind_is_reported_and_no_idle_time(category: str, stream: int) -> None:
    content = [*KNOWN, *(unknown(category, 40 + 90 * at, 90, device=0, stream=stream) for at in range(10))]
    trace = read(content)
    (problem,) = trace.verdict.problems.select("problem", "state", "count").rows()
    assert problem == ("unknown_kind", "incomplete", 10)
    assert trace.verdict.state == "incomplete"
    assert spent(content, "compute_ns", "idle_ns", "unknown_ns") == (20_000, 80_000, 900_000)
    gaps = trace.idle().select("category", "total_ns").rows()
    assert gaps == ([("unknown", 900_000)] if stream == 7 else [])


@pytest.mark.parametrize("place", [{}, {"device": 0}, {"stream": 8}, {"device": 0, "stream": -1}])
def test_an_unknown_category_without_a_stream_changes_nothing(place: dict[str, int]) -> None:
    content = [*KNOWN, unknown("npu_kernel", 40, 900, **place)]
    trace = read(content)
    assert (trace.verdict.state, len(trace.verdict.problems)) == ("complete", 0)
    assert spent(content, "idle_ns", "unknown_ns") == (980_000, 0)


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
