"""Benchmarks of one operator: scripts that run, say what they assume, and contain nothing of a trace but values."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from kinetoscope._cli.main import main
from kinetoscope.replaying.operators.benchmark import of_recorded
from kinetoscope.replaying.operators.recorded import operators
from kinetoscope.replaying.operators.script import MAX_LINES
from kinetoscope.replaying.operators.value import RefusedValueError

FOLDERS = ("transformer_cpu", "mlp_gloo", "minimal_cpu")
NOT_OPERATORS = ("autograd::", "Optimizer", "enumerate")


def traces(data: Path, name: str) -> ks.Trace:
    return ks.read_dir(data / name)[0]


def run(text: str, path: Path) -> str:
    """Runs a script in this process, with few repetitions."""
    path.write_text(text)
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        runpy.run_path(str(path))
    return said.getvalue()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    timer = pytest.importorskip("torch.utils.benchmark").Timer
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch, "get_num_threads", lambda: 1)
    monkeypatch.setattr(timer, "blocked_autorange", lambda self, **_: self.timeit(1))
    monkeypatch.setattr(sys, "argv", ["benchmark"])


@pytest.mark.torch
@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("folder", FOLDERS)
def test_every_operator_of_a_recording_runs(data: Path, tmp_path: Path, folder: str) -> None:
    trace = traces(data, folder)
    num_run = 0
    first = {each.name: each for each in reversed(operators(trace))}
    for recorded in first.values():
        try:
            found = of_recorded(trace, recorded)
        except RefusedValueError:
            continue
        assert found.text.count("\n") <= MAX_LINES, recorded.name
        said = run(found.text, tmp_path / found.file_name)
        assert [line.split()[0] for line in said.splitlines()] == ["recorded", "measured", "with", "roofline"]
        num_run += 1
    assert num_run >= {"transformer_cpu": 75, "mlp_gloo": 30, "minimal_cpu": 20}[folder]


@pytest.mark.torch
@pytest.mark.usefixtures("quick")
def test_events_without_an_execution_trace_find_their_overload(data: Path, tmp_path: Path) -> None:
    trace = ks.read(data / "transformer_cpu/kineto_trace_0.json.gz", False)
    names = ["aten::bmm", "aten::addmm", "aten::_softmax", "aten::native_layer_norm", "aten::mm", "aten::gelu"]
    for name in [name for name in names if name in {each.name for each in operators(trace)}]:
        found = trace.benchmark(name=name)
        assert "the overload, storages, devices" in found.text
        assert "measured" in run(found.text, tmp_path / found.file_name), name


@pytest.mark.torch
def test_the_script_of_the_command(data: Path, tmp_path: Path) -> None:
    folder = tmp_path / "scripts"
    assert (
        main(["bench", str(data / "transformer_cpu"), "--operator", "aten::bmm", "--top", "2", "-o", str(folder)]) == 0
    )
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["01_aten_bmm.py", "02_aten_bmm.py"]
    done = subprocess.run([sys.executable, folder / names[0]], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert [line[0] for line in lines] == ["recorded", "measured", "with", "roofline"]
    assert float(lines[1][-2].replace(",", "")) > 0


def test_shared_storages_and_layouts_are_kept(data: Path) -> None:
    trace = traces(data, "transformer_cpu")
    bmm = trace.benchmark(name="aten::bmm").text
    assert "make(torch.float32, (32, 16, 8), (8, 256, 1), offset=8192)" in bmm, "a part of a projection"
    rows = trace.benchmark(name="aten::cat", shapes=[[[16]] * 8]).text
    assert "STORAGE_0.view(torch.int64).as_strided((16,), (1,), 144)" in rows
    lookup = trace.benchmark(name="aten::embedding").text
    assert "random whole numbers below 64" in lookup
    assert "end=64" in lookup


def test_a_call_is_chosen_by_event_node_or_shapes(data: Path) -> None:
    trace = traces(data, "transformer_cpu")
    event_id, name, shapes, node_id = next(
        row
        for row in trace.events.select("id", "name", "input_shapes", "node_id").rows()
        if row[1] == "aten::mm" and row[3]
    )
    by_event = trace.benchmark(event_id)
    assert by_event.text == trace.benchmark(node_id=node_id).text
    assert (by_event.name, by_event.shapes) == (name, shapes)
    assert by_event.shapes == trace.benchmark(name="aten::mm", shapes=json.loads(shapes)).shapes
    with pytest.raises(ValueError, match="expected one of event_id, node_id and name, found none"):
        trace.benchmark()
    with pytest.raises(ValueError, match="such as aten::bmm"):
        trace.benchmark(name="aten::bmmm")
    with pytest.raises(ValueError, match="expected shapes of aten::mm as recorded"):
        trace.benchmark(name="aten::mm", shapes=[[1, 2], [2, 1]])
    with pytest.raises(ValueError, match="found no node 123456789"):
        trace.benchmark(node_id=123456789)


def test_times_and_roofline_of_a_device(data: Path) -> None:
    trace = traces(data, "transformer_cuda")
    found = trace.benchmark(name="aten::addmm")
    assert found.recorded_ns is not None
    assert found.roofline_ns is not None
    assert f"RECORDED_NS = {found.recorded_ns:.0f}\nROOFLINE_NS = {found.roofline_ns:.0f}\n" in found.text
    assert "on the device, NVIDIA H100" in found.text
    assert '"cuda" if torch.cuda.is_available() else "cpu"' in found.text
    assert "flush.zero_()" in found.text


def test_a_generated_kernel_has_its_stored_source(data: Path, tmp_path: Path) -> None:
    trace = traces(data, "inference_cuda/compiled")
    found = trace.benchmark(name="triton_poi_fused_mul_silu_1")
    ast.parse(found.text)
    assert "def triton_poi_fused_mul_silu_1(" in found.text
    assert "triton_poi_fused_mul_silu_1.run(*ARGUMENTS, stream=" in found.text
    arguments = found.text.partition("ARGUMENTS = [")[2].partition("]")[0]
    assert arguments.count("make(torch.float16, (64, 1024))") == 2
    assert arguments.rstrip(",\n").endswith(" 65536"), "without the stream, which the trace recorded as 0"
    alone = tmp_path / "torch_et_0.json.gz"
    alone.write_bytes((data / "inference_cuda/compiled/torch_et_0.json.gz").read_bytes())
    with pytest.raises(ValueError, match="the source of the kernel is not beside the trace"):
        ks.read(alone).benchmark(name="triton_poi_fused_mul_silu_1")


# --- hostile traces -----------------------------------------------------------------------------------------------


def written(folder: Path, **changes: Any) -> ks.Trace:
    """An Execution Trace of one operator."""
    tensor = {"values": [[7, 8, 0, 6, 4, "cpu"]], "shapes": [[2, 3]], "types": ["Tensor(float)"], "strides": [[3, 1]]}
    schema = changes.pop("schema", "aten::relu(Tensor self) -> Tensor")
    name = changes.pop("name", "aten::relu")
    inputs = {**tensor, **changes}
    attrs = [{"name": "op_schema", "type": "string", "value": schema}, {"name": "rf_id", "type": "uint64", "value": 1}]
    attrs.append({"name": "scope", "type": "uint64", "value": 0})
    empty: dict[str, list[object]] = {"values": [], "shapes": [], "types": [], "strides": []}
    root = {"id": 1, "name": "[pytorch|profiler|execution_trace|process]", "ctrl_deps": 1, "attrs": []}
    nodes = [
        {**root, "inputs": empty, "outputs": empty},
        {"id": 2, "name": name, "ctrl_deps": 1, "attrs": attrs, "inputs": inputs, "outputs": tensor},
    ]
    folder.mkdir(exist_ok=True)
    path = folder / "torch_et_0.json"
    path.write_text(json.dumps({"schema": "1.1.1-chakra.0.0.4", "pid": 1, "nodes": nodes}))
    return ks.read(path)


CODE = "__import__('os').system('touch broken')"
HOSTILE = {
    "negative": ({"shapes": [[-2, 3]]}, "negative shape"),
    "backwards": ({"strides": [[-3, 1]]}, "negative strides"),
    "huge": ({"shapes": [[1 << 40, 3]]}, "tensor of more than"),
    "spread": ({"strides": [[1 << 50, 1]]}, "tensor of more than"),
    "type": ({"types": [f"Tensor({CODE})"]}, "unknown type of tensor"),
    "device": ({"values": [[7, 8, 0, 6, 4, CODE]]}, "unknown device"),
    "shape": ({"shapes": [[CODE, 3]]}, "the shape of a tensor is not recorded"),
    "name": ({"name": f"aten::relu {CODE}", "schema": f"aten::relu {CODE}(Tensor self) -> Tensor"}, "not readable"),
    "parameter": ({"schema": f"aten::relu(Tensor {CODE}) -> Tensor"}, "not readable"),
    "other": ({"schema": "aten::from_file(Tensor self) -> Tensor"}, "differ"),
    "library": ({"name": "torch::relu", "schema": "torch::relu(Tensor self) -> Tensor"}, "not on the list"),
    "file": (
        {"name": "image::write_file", "schema": "image::write_file(Tensor self) -> Tensor"},
        "the library image is not on the list",
    ),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_calls_are_refused(tmp_path: Path, case: str) -> None:
    changes, why = HOSTILE[case]
    trace = written(tmp_path, **changes)
    with pytest.raises(ValueError, match=why):
        trace.benchmark(node_id=2)


def test_operators_that_touch_files_are_refused(tmp_path: Path) -> None:
    text = {
        "values": ["x", True, 8],
        "types": ["String", "Bool", "Int"],
        "shapes": [[], [], []],
        "strides": [[], [], []],
    }
    schema = "aten::from_file(str filename, bool? shared=None, int? size=0) -> Tensor"
    with pytest.raises(ValueError, match="it does not only compute"):
        written(tmp_path, name="aten::from_file", schema=schema, **text).benchmark(node_id=2)
    schema = "fbgemm::load(str file_path, bool? shared=None, int? size=0) -> Tensor"
    with pytest.raises(ValueError, match="it names a file"):
        written(tmp_path, name="fbgemm::load", schema=schema, **text).benchmark(node_id=2)


def test_texts_of_a_trace_stay_texts(tmp_path: Path) -> None:
    text = f'"\n{CODE}\n"""\\'
    values = {"values": [text, [[7, 8, 0, 6, 4, "cpu"]]], "shapes": [[], [[2, 3]]], "strides": [[], [[3, 1]]]}
    types = ["String", "GenericList[Tensor(float)]"]
    schema = "aten::einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor"
    trace = written(tmp_path, name="aten::einsum", schema=schema, types=types, **values)
    tree = ast.parse(trace.benchmark(node_id=2).text)
    constants = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    assert text in constants
    calls = [ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)]
    assert not {name for name in calls if "__import__" in name}
