"""Sentences of replays and benchmarks about what is missing: libraries, devices, communications, arguments."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from kinetoscope._cli.main import main
from kinetoscope.replaying.operators.device_choice import replaced_device
from kinetoscope.replaying.operators.node_tree import above_themselves
from kinetoscope.replaying.recorded_sizes import MessageSizes, Sample
from kinetoscope.replaying.result import Replay

NOTHING: dict[str, Any] = {"values": [], "shapes": [], "types": [], "strides": []}


def written(folder: Path, *names: str, device: str = "cpu") -> Path:
    root = {"id": 1, "name": "[pytorch|profiler|execution_trace|process]", "ctrl_deps": 1, "attrs": []}
    values = [[7, 8, 0, 6, 4, device]]
    tensor = {"values": values, "shapes": [[2, 3]], "types": ["Tensor(float)"], "strides": [[3, 1]]}
    nodes: list[dict[str, Any]] = [{**root, "inputs": NOTHING, "outputs": NOTHING}]
    for at, name in enumerate(names, 2):
        schema = {"name": "op_schema", "type": "string", "value": f"{name}(Tensor self) -> Tensor"}
        nodes.append({"id": at, "name": name, "ctrl_deps": 1, "attrs": [schema], "inputs": tensor, "outputs": tensor})
    path = folder / "torch_et_0.json"
    path.write_text(json.dumps({"schema": "1.1.1-chakra.0.0.4", "pid": 1, "nodes": nodes}))
    return path


def test_a_dry_run_names_the_libraries_that_it_presumes(tmp_path: Path) -> None:
    names = ("aten::relu", "fbgemm::pack", "fbgemm::pack", "torchvision::nms", "mylib::scale")
    result = ks.replay(written(tmp_path, *names), dry_run=True)
    assert result.notes[-2:] == [
        "2 calls need fbgemm: the dry run does not look for it",
        "1 call needs torchvision: the dry run does not look for it",
    ]


def test_memory_is_on_the_chosen_device(tmp_path: Path) -> None:
    path = written(tmp_path, "aten::relu", device="cuda:5")
    assert ks.replay(path, dry_run=True).notes[0].startswith("memory on cuda:5: 24 B")
    assert ks.replay(path, dry_run=True, device="cpu").notes[0].startswith("memory on cpu (recorded on cuda:5): 24 B")
    assert replaced_device("cuda:1", ["cpu", "cuda:0"], "cpu") == "cpu"
    assert replaced_device("cuda:1", ["cpu"], "cpu") == "cuda:1"


@pytest.mark.torch
def test_memory_is_on_the_device_that_ran(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    path = written(tmp_path, "aten::relu", device="cuda:5")
    result = ks.replay(path, device="cpu", num_replays=1, warmup_iter=0)
    assert any(note.startswith("memory on cpu (recorded on cuda:5): 24 B") for note in result.notes)


def test_a_selection_without_operators_is_told(tmp_path: Path) -> None:
    lines = ks.replay(written(tmp_path), dry_run=True).lines
    assert lines[0] == "1 rank: the selection has no operators"


def test_circles_of_parents() -> None:
    assert above_themselves({1: 1, 2: 3, 3: 4, 4: 2, 5: 4, 6: None, 7: 99, 8: 1}) == {2, 3, 4}


def test_no_communications_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, "aten::relu")
    told = "1 rank: the selection has no communications, nothing replayed"
    assert repr(ks.replay_comms(path, dry_run=True)).startswith(told)
    for command in (["replay-comms", "--trace-path"], ["replay", "--mode", "comms"]):
        main([*command, str(path), "--dry-run"])
        assert told in capsys.readouterr().err


def test_a_dry_run_of_communications_replays_nothing() -> None:
    sample = Sample("all_reduce", "0", "float", MessageSizes(2, 4, 4, (None, None)), None, 1, [], [])
    assert repr(Replay([sample], 0, 2, [], is_run=False)).startswith("2 ranks planned, nothing replayed")
    assert repr(Replay([sample], 0, 2, [])).startswith("2 ranks replayed")


# --- benchmarks without an Execution Trace ------------------------------------------------------------------------


def event(folder: Path, name: str, types: list[str], concrete: list[str], shapes: list[Any]) -> ks.Trace:
    arguments = {"Input Dims": shapes, "Input type": types, "Concrete Inputs": concrete}
    recorded = {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": 1, "dur": 2, "args": arguments}
    path = folder / "kineto_trace_0.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": [recorded]}))
    return ks.read(path, False)


@pytest.mark.parametrize(
    ("name", "types", "shapes"),
    [
        ("aten::index", ["float", ""], [[6, 8], []]),
        ("aten::index_put_", ["float", "", "float", "Scalar"], [[6, 8], [], [6], []]),
        ("aten::einsum", ["", "TensorList", ""], [[], [[2, 3], [3, 2]], []]),
        ("aten::meshgrid", [""], [[]]),
    ],
)
def test_an_operator_without_its_arguments_has_no_script(
    tmp_path: Path, name: str, types: list[str], shapes: list[Any]
) -> None:
    trace = event(tmp_path, name, types, ["" for _ in types], shapes)
    with pytest.raises(ValueError, match="its arguments are not recorded"):
        trace.benchmark(name=name)


def test_the_head_lists_arguments_that_are_not_recorded(tmp_path: Path) -> None:
    types = ["float", "Scalar", "long int", "float", "", "Scalar"]
    shapes = [[6, 8], [], [6, 8], [6, 8], [], []]
    text = event(tmp_path, "aten::scatter_reduce", types, ["", "0", "", "", "", "True"], shapes).benchmark(
        name="aten::scatter_reduce"
    )
    assert "- values of the arguments 5 of 6: defaults here" in repr(text)
    compile(text.text, "script", "exec")


@pytest.mark.torch
def test_the_reason_of_a_script_that_cannot_run(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    names = {
        "aten::_cudnn_init_dropout_state": (["Scalar", "Scalar", "Scalar"], ["0.5", "True", "1"], "no kernel for cpu"),
        "aten::gelu": (["float", "Scalar"], ["", "[1]"], "no overload takes the recorded arguments"),
    }
    for name, (types, concrete, reason) in names.items():
        shapes = [[6] if kind == "float" else [] for kind in types]
        script = event(tmp_path, name, types, concrete, shapes).benchmark(name=name).save(tmp_path / "x.py")
        done = subprocess.run([sys.executable, script, "cpu"], capture_output=True, text=True, check=False)
        assert reason in done.stderr


def test_suggested_names_have_a_benchmark(tmp_path: Path) -> None:
    trace = event(tmp_path, "AddBackward0", ["float"], [""], [[6]])
    with pytest.raises(ValueError, match=r"^expected the name of a recorded operator; found aten::relu$"):
        trace.benchmark(name="aten::relu")
    with pytest.raises(ValueError, match="no shapes of c10d::allreduce_ are recorded; it communicates: replay all"):
        trace.benchmark(name="c10d::allreduce_")
