"""Work and time that a replay lacks or adds: graphs of the device, its own bookkeeping, and memory."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from kinetoscope.replaying.operators.coverage import OperatorSample
from kinetoscope.replaying.operators.launches import launch_notes
from kinetoscope.replaying.operators.result import OperatorReplay
from support.observed_steps import written

GRAPH = "the Execution Trace has no operators of a graph"


def planned(job: Any, **options: Any) -> OperatorReplay:
    found = ks.replay(job, dry_run=True, **options)
    assert isinstance(found, OperatorReplay)
    return found


# --- device work outside of operators -----------------------------------------------------------------------------


def test_work_of_graphs_does_not_run(data: Path) -> None:
    result = planned(data / "graph_cuda")
    rows = {row[0]: row[1:] for row in result.select("name", "num_calls", "num_run", "recorded_ns", "reason").rows()}
    events = ks.read_dir(data / "graph_cuda")[0].events.select("kind", "dur_ns").rows()
    kernels = sum(dur_ns for kind, dur_ns in events if kind == "kernel")
    copies = sum(dur_ns for kind, dur_ns in events if kind == "copy")
    assert rows["cudaGraphLaunch"] == (3, 0, kernels, GRAPH)
    assert result.coverage == 1.0, "a launch is no operator"
    assert result.time_coverage == pytest.approx(copies / (kernels + copies))
    assert result.notes[0] == f"3 launches (cudaGraphLaunch) with 426.3 µs on the device do not run: {GRAPH}"


def test_a_compiled_region_with_a_graph_has_the_right_reason(data: Path) -> None:
    result = planned(data / "inference_cuda/replayed")
    assert result.notes[0] == f"1 launch (cudaGraphLaunch) with 24.74 µs on the device does not run: {GRAPH}"
    assert not any("C++ kernels" in note for note in result.notes)
    assert result.time_coverage is not None
    assert result.time_coverage < 0.1


def test_only_the_work_inside_of_a_choice_counts(data: Path) -> None:
    trace = ks.read_dir(data / "graph_cuda")[0]
    nodes = trace.nodes.select("node_id", "name").rows()
    copy = next(node_id for node_id, name in nodes if name == "aten::copy_")
    assert planned(trace, node_id=copy).time_coverage == 1.0
    step = planned(trace, subgraph="ProfilerStep#3")
    assert ("cudaGraphLaunch", 1) in step.select("name", "num_calls").rows()


def test_work_without_a_graph_is_that_of_operators(data: Path) -> None:
    for name in ("transformer_cuda", "nccl_cuda", "memory_cuda"):
        assert planned(data / name).time_coverage == 1.0


def launched(folder: Path, *, is_linked: bool) -> ks.Trace:
    """A kernel whose launch lies in an operator without an own unit, which may have a node."""
    written(folder, [("aten::relu", 4, 40)])
    path = folder / "kineto_trace_0.json"
    events = json.loads(path.read_text())["traceEvents"]
    common = {"ph": "X", "pid": 1, "tid": 1}
    arguments = {"Record function id": 77 if is_linked else 0}
    function = {"cat": "cpu_op", "name": "MyFunction", "ts": 200, "dur": 50, "args": arguments}
    launch = {"cat": "cuda_runtime", "name": "cuLaunchKernel", "ts": 210, "dur": 5, "args": {"correlation": 5}}
    place = {"correlation": 5, "device": 0, "stream": 7}
    work = {"ph": "X", "pid": 0, "tid": 7, "cat": "kernel", "name": "mine", "ts": 300, "dur": 9, "args": place}
    events += [{**common, **function}, {**common, **launch}, work]
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    if is_linked:
        path = folder / "torch_et_0.json"
        found = json.loads(path.read_text())
        bare = {**found["nodes"][0], "id": 9, "name": "MyFunction"}
        bare["attrs"] = [{"name": "rf_id", "type": "uint64", "value": 77}]
        found["nodes"].append(bare)
        path.write_text(json.dumps(found))
    return ks.read_dir(folder)[0]


def test_work_of_code_without_operators_is_told(tmp_path: Path) -> None:
    result = planned(launched(tmp_path, is_linked=True))
    assert ("cuLaunchKernel", 1, 0, 9000) in result.select("name", "num_calls", "num_run", "recorded_ns").rows()
    assert result.time_coverage == 0
    told = "1 launch (cuLaunchKernel) with 9 µs on the device does not run: no replayed operator makes such a launch"
    assert result.notes[0] == told


def test_work_of_an_unknown_operator_does_not_count(tmp_path: Path) -> None:
    result = planned(launched(tmp_path, is_linked=False))
    assert result.select("name").rows() == [("aten::relu",)]


def test_launches_are_counted_over_ranks() -> None:
    samples = [
        OperatorSample(name, 2, 0, 1000, None, None, GRAPH, is_operator=False)
        for name in ("cudaGraphLaunch", "cudaGraphLaunch", "hip\x1bGraphLaunch", "aGraphLaunch", "bGraphLaunch")
    ]
    names = "aGraphLaunch, bGraphLaunch, cudaGraphLaunch and 1 more"
    assert launch_notes(samples) == [f"10 launches ({names}) with 5 µs on the device do not run: {GRAPH}"]


# --- memory and passes --------------------------------------------------------------------------------------------


def test_recorded_memory_says_what_it_counts(data: Path) -> None:
    notes = {note.partition(":")[0]: note for note in planned(data / "transformer_cuda").notes}
    assert "older parameters and optimizer states are missing" in notes["recorded memory on cpu"]
    assert "all that the allocator held" in notes["recorded memory on cuda"]


@pytest.mark.torch
def test_the_time_of_a_pass_beside_that_of_its_operators(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    trace = written(tmp_path, [("aten::relu", 4, 40), ("aten::neg", 4, 40)])
    result = ks.replay(trace, warmup_iter=0, num_replays=2)
    assert isinstance(result, OperatorReplay)
    assert [0 < own < whole for own, whole in zip(result.operators_ns, result.step_ns, strict=True)] == [True, True]
    replayed = sum(row[0] for row in result.select("replayed_ns").rows())
    assert sum(result.operators_ns) / 2 == pytest.approx(replayed, abs=2)
    assert result.lines[1].startswith("mean time of a pass: ")
    assert result.lines[1].endswith(" of it in operators, the rest in the replay's own work")
    assert not any("mean time of a pass" in line for line in planned(trace).lines)


def test_an_operator_that_launches_kernels_beside_its_parts_runs_as_a_whole(data: Path) -> None:
    result = planned(data / "decode_cuda")
    run = {name: number for name, number in result.select("name", "num_run").rows() if name}
    assert run["aten::_fused_rms_norm"] == 15
    (launches,) = [note for note in result.notes if "do not run" in note]
    assert launches.startswith("3 launches (cudaGraphLaunch)")


# --- sources of kernels -------------------------------------------------------------------------------------------


def test_a_source_is_parsed_once(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []
    parse = ast.parse

    def counted(source: Any, *arguments: Any, **options: Any) -> Any:
        parsed.extend([source] if "@triton.jit" in str(source) else [])
        return parse(source, *arguments, **options)

    monkeypatch.setattr(ast, "parse", counted)
    result = planned(data / "inference_cuda/compiled", kernel_sources=True)
    calls = [row[0] for row in result.select("num_calls", "name").rows() if row[1].startswith("triton_")]
    assert (result.coverage, sum(calls)) == (1.0, 4)
    assert len(parsed) == len(set(parsed)) == 2
