"""Training steps that were recorded here, run again from their Execution Traces."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from kinetoscope._cli.main import main
from kinetoscope.replaying.operators.engine import ANNOTATION
from kinetoscope.replaying.operators.result import OperatorReplay
from kinetoscope.replaying.operators.storage import storage_plan
from kinetoscope.replaying.operators.unit import Unit, UnitChoice, units
from support.models import MODELS, growth, record, without_collector
from support.ranks import launched

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

QUICK = ("--num-replays", "1", "--warmup-iter", "0")
FEW: dict[str, Any] = {"warmup_iter": 0, "num_replays": 1}


@pytest.fixture(scope="session")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Path]]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("recordings")
    yield {name: record(name, folder / name) for name in MODELS}
    torch.set_num_threads(threads)


def replayed(job: Any, **options: Any) -> OperatorReplay:
    found = ks.replay(job, **{**FEW, **options})
    assert isinstance(found, OperatorReplay)
    return found


def only(folder: Path) -> ks.Trace:
    return ks.read_dir(folder)[0]


Sequence = list[tuple[str, list[tuple[int, ...]], list[tuple[int, ...]]]]


def sequence(found: list[Unit]) -> Sequence:
    """Names and shapes of operators."""
    return [(each.name, [v.shape for v in each.inputs], [v.shape for v in each.outputs]) for each in found]


def linked(trace: ks.Trace) -> dict[int, Unit]:
    """Operators of a replay's own trace by the recorded node that their annotation names."""
    nodes = {row[0]: row[1:] for row in trace.nodes.select("node_id", "parent_id", "name").rows()}
    found: dict[int, Unit] = {}
    for unit in units(trace, UnitChoice()):
        name = nodes[nodes[unit.node_id][0]][1]
        if name.startswith(ANNOTATION):
            found[int(name.removeprefix(ANNOTATION))] = unit
    return found


@pytest.mark.parametrize("name", MODELS)
def test_a_training_step_runs_again(recordings: dict[str, Path], tmp_path: Path, name: str) -> None:
    with without_collector():
        result = replayed(recordings[name], profile=tmp_path / "again")
    assert result.coverage == result.time_coverage == 1.0
    assert not any("another shape" in note for note in result.notes)
    original, again = only(recordings[name]), only(tmp_path / "again")
    recorded, own = units(original, UnitChoice()), linked(again)
    assert list(own) == [unit.node_id for unit in recorded]
    assert sequence(list(own.values())) == sequence(recorded)
    # Python holds some results longer than operators use them.
    assert growth(again) == pytest.approx(growth(original), rel=0.1)
    assert result.peak_bytes == pytest.approx(sum(result.planned_bytes.values()), rel=0.05)


def test_times_are_beside_the_recorded_ones(recordings: dict[str, Path]) -> None:
    result = replayed(recordings["mlp"], warmup_iter=1, num_replays=3)
    rows = {row[0]: row[1:] for row in result.select(*result.columns).rows()}
    num_calls, num_run, recorded_ns, recorded_run_ns, replayed_ns, ratio, reason = rows["aten::addmm"]
    assert num_calls == num_run == 2
    assert recorded_ns == recorded_run_ns > 0
    assert ratio == pytest.approx(replayed_ns / recorded_run_ns)
    assert reason is None
    assert len(result.step_ns) == 3
    assert "100.0% of the operators run" in repr(result)
    assert "aten::addmm" in result._repr_html_()


def test_comparison_with_the_original(recordings: dict[str, Path], tmp_path: Path) -> None:
    replayed(recordings["mlp"], profile=tmp_path / "again")
    changes = ks.diff(only(recordings["mlp"]), only(tmp_path / "again"))
    operators = {row[0]: row[1:] for row in changes.tables["diff_operators"].select("name", "status").rows()}
    assert operators["aten::addmm"] == ("both",)
    nodes = {row[0]: row[1:] for row in changes.tables["diff_nodes"].select("name", "status", "change_count").rows()}
    assert "aten::addmm" not in nodes, "as often as before"
    assert nodes["aten::linear"][0] == "removed", "its parts ran"
    recorded = dict(changes.tables["diff_recorded"].select("kind", "is_compared").rows())
    assert recorded["Execution Trace nodes"]
    of_folders = ks.diff(recordings["mlp"], tmp_path / "again").tables["diff_nodes"]
    assert {row[0]: row[1:] for row in of_folders.select("name", "status", "change_count").rows()} == nodes


def test_folders_of_execution_traces_alone_are_compared_by_node(recordings: dict[str, Path], tmp_path: Path) -> None:
    for name in ("mlp", "convolution"):
        path = next(recordings[name].glob("torch_et*"))
        (tmp_path / name).mkdir()
        (tmp_path / name / path.name).write_bytes(path.read_bytes())
    found = ks.diff(tmp_path / "mlp", tmp_path / "convolution")
    assert found.name == "diff_nodes"
    assert "aten::convolution" in {name for (name,) in found.select("name").rows()}
    assert ks.diff(tmp_path / "mlp", tmp_path / "mlp").reason == "the Execution Traces have the same operators"


def test_execution_traces_alone_are_compared_by_node(recordings: dict[str, Path], data: Path) -> None:
    path = next(recordings["mlp"].glob("torch_et*"))
    assert ks.diff(path, path).reason == "the Execution Traces have the same operators"
    found = ks.diff(path, data / "minimal_cpu/torch_et_0.json.gz")
    assert found.name == "diff_nodes"
    assert {row[0] for row in found.select("status").rows()} >= {"added", "removed"}
    rows = found.select("name", "status", "before_count", "after_count", "change_count").rows()
    assert ("aten::mse_loss", "removed", 1, 0, -1) in rows


def test_a_part_by_annotation_or_node(recordings: dict[str, Path]) -> None:
    whole = replayed(recordings["mlp"], dry_run=True)
    part = replayed(recordings["mlp"], subgraph="Optimizer.step#SGD.step")
    assert part.coverage == 1.0
    assert 0 < len(part) < len(whole)
    assert {row[0] for row in part.select("name").rows()} <= {row[0] for row in whole.select("name").rows()}
    trace = only(recordings["mlp"])
    node_id = next(row[0] for row in trace.nodes.select("node_id", "name").rows() if row[1] == "aten::linear")
    assert "aten::addmm" in {row[0] for row in replayed(trace, node_id=node_id).select("name").rows()}
    with pytest.raises(ValueError, match="expected the name of a recorded annotation, found nothing"):
        replayed(trace, subgraph="nothing")


def test_operators_are_left_out_and_counted(recordings: dict[str, Path]) -> None:
    result = replayed(recordings["mlp"], skip=["aten::relu"])
    assert ("aten::relu", 1, 0, "left out (skip)") in result.select("name", "num_calls", "num_run", "reason").rows()
    assert result.coverage is not None
    assert 0.9 < result.coverage < 1
    whole = replayed(recordings["mlp"], skip=["aten::linear"])
    reasons = {row[0]: row[1:] for row in whole.select("name", "num_calls", "num_run", "reason").rows()}
    assert reasons["aten::linear"] == (2, 0, "left out (skip)"), "with its parts"
    assert "aten::addmm" not in reasons
    for is_dry in (True, False):
        with pytest.raises(ValueError, match=r"run as a whole \(aten::relu\b.*\), found aten::rellu"):
            replayed(recordings["mlp"], skip=["aten::rellu"], dry_run=is_dry)


# --- replacements -------------------------------------------------------------------------------------------------


def test_a_candidate_runs_instead_and_is_compared(recordings: dict[str, Path]) -> None:
    calls: list[int] = []

    def mine(bias: Any, a: Any, b: Any, **_: Any) -> Any:
        calls.append(1)
        return a @ b + bias

    result = replayed(recordings["mlp"], replace={"aten::addmm": mine}, num_replays=2)
    assert result.checks == ["aten::addmm replaced: compared 2 calls, all results agree"]
    assert len(calls) == 2 * 2 + 2 * 2, "compared on two kinds of values, and measured twice"
    wrong = replayed(recordings["mlp"], replace={"aten::addmm": lambda bias, a, b, **_: a @ b + bias + 1})
    assert "compared 2 calls, results differ in 2, first at node" in wrong.checks[0]
    assert "aten::addmm replaced" in repr(wrong)
    with pytest.raises(TypeError):
        replayed(recordings["mlp"], replace={"aten::addmm": lambda: None})
    with pytest.raises(ValueError, match=r"expected names of operators that run as a whole .* found aten::linear"):
        replayed(recordings["mlp"], replace={"aten::linear": mine})


# --- without torch, and the command --------------------------------------------------------------------------------


def test_a_dry_run_needs_no_torch(data: Path) -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "import kinetoscope as ks\n"
        f"found = ks.replay({str(data / 'transformer_cuda')!r}, dry_run=True)\n"
        "print(found.coverage, len(found) > 40, found.planned_bytes['cuda:0'] > 1 << 26)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "1.0 True True\n"), done.stderr


def test_the_command(recordings: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(recordings["convolution"]), "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert "1 rank: 100.0% of the operators run; of the recorded time, 100.0%" in said
    assert "recorded memory on cpu" in said
    output = tmp_path / "replayed.json"
    assert main(["replay", str(recordings["mlp"]), "--num-replays", "1", "-o", str(output)]) == 0
    assert {"aten::addmm", "aten::relu"} <= {row["name"] for row in json.loads(output.read_text())}


@pytest.mark.shared
def test_public_execution_traces_of_gpus(shared: Path) -> None:
    inputs = shared / "facebookresearch__param/et_replay/tests/inputs"
    names = ("dlrm_pytorch_et.tar.gz", "linear_et.json.gz", "va883ec1__resnet_et.json.gz")
    for path in [*(inputs / name for name in names), inputs / "1.1.0-chakra.0.0.4/resnet_2gpu_et.json.gz"]:
        result = replayed(path, dry_run=True)
        assert result.coverage is not None
        assert result.coverage > 0.97, path
        assert any(note.startswith("memory on cuda") for note in result.notes)


# --- ranks --------------------------------------------------------------------------------------------------------

DDP = """
import gc, sys
import kinetoscope as ks, torch, torch.distributed as dist
import torch.distributed.nn  # imported later, it keeps the process group and its threads
from torch import nn
dist.init_process_group("gloo")
model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 16)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
with ks.profile(sys.argv[1], wait=1, warmup=1, active=1, execution_trace="same") as prof:
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.randn(32, 64)).square().mean().backward()
        optimizer.step()
        prof.step()
dist.barrier()
del model
gc.collect()
dist.destroy_process_group()
"""


def test_two_ranks_with_their_communications(tmp_path: Path) -> None:
    script = tmp_path / "ddp.py"
    script.write_text(DDP)
    done = launched(2, script, tmp_path / "job")
    assert done.returncode == 0, done.stderr
    output = tmp_path / "replayed.json"
    command = ("-m", "kinetoscope", "replay", tmp_path / "job", "--timeout", "20", *QUICK, "-o", output)
    done = launched(2, *command)
    assert done.returncode == 0, done.stderr
    assert "2 ranks: 100.0% of the operators run" in done.stderr
    rows = {row["name"]: row for row in json.loads(output.read_text())}
    assert rows["c10d::allreduce_"]["num_run"] == rows["c10d::allreduce_"]["num_calls"] >= 2
    assert rows["c10d::allreduce_"]["replayed_ns"] is None, "that of a launch is recorded"
    assert rows["aten::addmm"]["num_calls"] == 4
    found = units(only(tmp_path / "job"), UnitChoice())
    places = [each for unit, each in zip(found, storage_plan(found).places, strict=True) if "allreduce" in unit.name]
    assert places
    for each in places:  # the result is the argument, in no memory of its own
        assert {placed.life for placed in each.outputs} == {placed.life for placed in each.inputs}
    alone = replayed(tmp_path / "job")
    assert ("communications need a process per rank (torchrun)",) in alone.select("reason").rows()
    only_compute = replayed(tmp_path / "job", mode="compute")
    assert ("communications are left out (mode)",) in only_compute.select("reason").rows()


# --- hostile traces -----------------------------------------------------------------------------------------------


NOTHING: dict[str, list[Any]] = {"values": [], "shapes": [], "types": [], "strides": []}


def written(folder: Path, nodes: list[dict[str, Any]]) -> Path:
    root = {"id": 1, "name": "[pytorch|profiler|execution_trace|process]", "ctrl_deps": 1, "attrs": []}
    listed = [{**root, "inputs": NOTHING, "outputs": NOTHING}, *nodes]
    path = folder / "torch_et_0.json"
    path.write_text(json.dumps({"schema": "1.1.1-chakra.0.0.4", "pid": 1, "nodes": listed}))
    return path


def node(name: str, schema: str, shape: list[int], at: int = 2) -> dict[str, Any]:
    num_elems = 1
    for size in shape:
        num_elems *= size
    tensor = {
        "values": [[7, 8, 0, num_elems, 4, "cpu"]],
        "shapes": [shape],
        "types": ["Tensor(float)"],
        "strides": [[]],
    }
    attrs = [{"name": "op_schema", "type": "string", "value": schema}, {"name": "scope", "type": "uint64", "value": 0}]
    return {"id": at, "name": name, "ctrl_deps": 1, "attrs": attrs, "inputs": tensor, "outputs": tensor}


RELU = "aten::relu(Tensor self) -> Tensor"


def test_what_cannot_run_is_counted_with_its_reason(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        [
            node("aten::relu", RELU, [2, 3]),
            node("aten::relu", RELU, [-2, 3], 3),
            node("aten::relu", RELU, [1 << 40, 3], 4),
            node("aten::no_such", "aten::no_such(Tensor self) -> Tensor", [2, 3], 5),
            node("os::system", "os::system(Tensor self) -> Tensor", [2, 3], 6),
            node("aten::relu", "aten::relu(Tensor __import__('os')) -> Tensor", [2, 3], 7),
        ],
    )
    result = replayed(path)
    reasons = {row[0]: row[1:] for row in result.select("name", "num_run", "reason").rows()}
    assert reasons["aten::relu"][0] == 1
    assert "negative shape of a tensor (1)" in reasons["aten::relu"][1]
    assert "tensor of more than 1,099,511,627,776 bytes (1)" in reasons["aten::relu"][1]
    assert "the signature of the operator is not readable (1)" in reasons["aten::relu"][1]
    assert reasons["aten::no_such"] == (0, "this torch has no such operator")
    assert "the library os is not on the list" in reasons["os::system"][1]


def test_too_much_memory_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    path = written(tmp_path, [node("aten::relu", RELU, [1 << 37])])
    with pytest.raises(ValueError, match=r"found one that needs 512 GiB: .*raise max_memory_bytes"):
        replayed(path)
    small = written(tmp_path, [node("aten::relu", RELU, [1 << 10])])
    with pytest.raises(ValueError, match="expected a trace that needs 1 KiB at most, found one that needs 4 KiB"):
        replayed(small, max_memory_bytes=1 << 10)


def test_sizes_among_the_arguments_count_as_memory(tmp_path: Path) -> None:
    schema = "aten::ones(SymInt[] size, *, ScalarType? dtype=None) -> Tensor"
    ones = node("aten::ones", schema, [2, 3])
    ones["inputs"] = {**NOTHING, "values": [[1 << 37], 6], "shapes": [[[]], []], "types": ["GenericList[Int]", "Int"]}
    with pytest.raises(ValueError, match="found one that needs 512 GiB"):
        replayed(written(tmp_path, [ones]))
    assert "memory on cpu: 512 GiB at the peak" in replayed(written(tmp_path, [ones]), dry_run=True).notes[0]
    arange = node("aten::arange", "aten::arange(Scalar end) -> Tensor", [2, 3])
    arange["inputs"] = {**NOTHING, "values": [1 << 40], "shapes": [[]], "types": ["Int"]}
    result = replayed(written(tmp_path, [arange]), max_memory_bytes=1 << 20)
    ((reason,),) = result.select("reason").rows()
    assert reason.startswith("expected ")
    assert reason.endswith("found 8 TiB")


def test_a_layout_that_cannot_be_made_is_the_reason_of_its_operator(tmp_path: Path) -> None:
    schema = "aten::ones(SymInt[] size, *, Layout? layout=None) -> Tensor"
    ones = node("aten::ones", schema, [2])
    ones["inputs"] = {**NOTHING, "values": [[2], 1], "shapes": [[[]], []], "types": ["GenericList[Int]", "Int"]}
    path = written(tmp_path, [ones, node("aten::relu", RELU, [2], 3)])
    for is_dry in (True, False):
        rows = replayed(path, dry_run=is_dry).select("name", "num_run", "reason").rows()
        assert ("aten::ones", 0, "expected a strided layout, found sparse_coo") in rows
        assert ("aten::relu", 1, None) in rows


def test_strides_that_no_trace_records_are_those_of_torch(tmp_path: Path) -> None:
    one, other = [7, 8, 0, 6, 4, "cpu"], [9, 8, 0, 6, 4, "cpu"]
    turned = node("aten::t", "aten::t(Tensor(a) self) -> Tensor(a)", [2, 3])
    turned["outputs"] = {**turned["inputs"], "values": [other], "shapes": [[3, 2]]}
    product = node("aten::mm", "aten::mm(Tensor self, Tensor mat2) -> Tensor", [3, 3], 3)
    product["inputs"] = {
        "values": [other, one],
        "shapes": [[3, 2], [2, 3]],
        "types": ["Tensor(float)"] * 2,
        "strides": [[], []],
    }
    product["outputs"] = {**product["outputs"], "values": [[10, 11, 0, 9, 4, "cpu"]]}
    seen: list[Any] = []

    def mm(one: Any, other: Any) -> Any:
        seen.append((one.stride(), other.stride()))
        return one @ other

    result = replayed(written(tmp_path, [turned, product]), replace={"aten::mm": mm})
    assert (result.coverage, result.checks) == (1.0, ["aten::mm replaced: compared 1 call, all results agree"])
    assert seen[-1] == ((1, 3), (3, 1))
    assert not any("another shape" in note for note in result.notes)


def test_compiled_regions_without_kernels_are_told(tmp_path: Path) -> None:
    region = node("## Call CompiledFxGraph fabc ##", "", [2])
    inside = {**node("aten::relu", RELU, [2], 3), "ctrl_deps": 2}
    told = "1 run of compiled graphs without recorded kernels"
    path = written(tmp_path, [region, inside])
    for is_dry in (True, False):
        assert replayed(path, dry_run=is_dry).notes[0].startswith(told)
    assert not any(told in note for note in replayed(path, node_id=3, dry_run=True).notes)
    kernel: dict[str, Any] = {**node("triton_add_0", "", [2], 4), "ctrl_deps": 2}
    kernel["attrs"] = [*kernel["attrs"], {"name": "kernel_backend", "type": "string", "value": "triton"}]
    assert not any(told in note for note in replayed(written(tmp_path, [region, inside, kernel]), dry_run=True).notes)


def test_nodes_that_are_their_own_ancestors_end(tmp_path: Path) -> None:
    first, second = node("aten::relu", RELU, [2], 2), node("aten::relu", RELU, [2], 3)
    first["ctrl_deps"], second["ctrl_deps"] = 3, 2
    path = written(tmp_path, [first, second])
    for is_dry in (True, False):
        result = replayed(path, dry_run=is_dry)
        assert result.select("num_calls", "num_run").rows() == [(2, 2)]
        assert result.notes[0] == "2 nodes (2, 3) had themselves above: taken without parents"


def test_nodes_with_the_id_of_another_are_told(tmp_path: Path) -> None:
    again = [node("aten::relu", RELU, [2], 1), node("aten::relu", RELU, [2], 1)]
    notes = replayed(written(tmp_path, again), dry_run=True).notes
    assert notes[0] == "left out 2 nodes: other nodes have the same ids"


def test_a_deep_chain_of_composite_operators_ends(tmp_path: Path) -> None:
    schema = "aten::relu6(Tensor self) -> Tensor"
    chain = [{**node("aten::relu6", schema, [2], at), "ctrl_deps": at - 1} for at in range(2, 2000)]
    result = replayed(written(tmp_path, chain), dry_run=True)
    assert result.select("name", "num_calls").rows() == [("aten::relu6", 1)]


def test_options_are_checked(tmp_path: Path) -> None:
    path = written(tmp_path, [node("aten::relu", RELU, [2])])
    with pytest.raises(ValueError, match="expected mode of full, compute, comms, found half"):
        replayed(path, mode="half")
    with pytest.raises(ValueError, match="expected num_replays of at least 1, found 0"):
        replayed(path, num_replays=0)
    for device in ("zzz", "cuda:99", "meta"):
        with pytest.raises(ValueError, match=rf"expected a device of this machine \(cpu.*\), found {device}"):
            replayed(path, device=device)
    with pytest.raises(ValueError, match="expected an Execution Trace, found none"):
        replayed(kineto(tmp_path))


def kineto(folder: Path) -> ks.Trace:
    path = folder / "kineto_trace_0.json"
    path.write_text(
        '{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 0, "dur": 1}]}'
    )
    return ks.read(path, False)


# --- plans --------------------------------------------------------------------------------------------------------


def test_composite_operators_are_those_of_torch() -> None:
    from kinetoscope.replaying.operators import composite

    listed = composite._composite()
    registry = vars(torch._C)
    known = {name for name in registry["_dispatch_get_all_op_names"]() if name.startswith("aten::")}
    has_kernel = registry["_dispatch_has_kernel_for_dispatch_key"]
    wrong = {name for name in listed & known if not has_kernel(name, "CompositeImplicitAutograd")}
    assert len(wrong) < 10, "run scripts/composite_operators.py with a newer torch"


def test_a_storage_lives_until_its_last_use(recordings: dict[str, Path]) -> None:
    found = units(only(recordings["mlp"]), UnitChoice())
    plan = storage_plan(found)
    freed = [number for numbers in plan.freed_after.values() for number in numbers]
    assert len(freed) == len(set(freed))
    assert {number for number, life in enumerate(plan.lives) if life.is_freed} == set(freed)
    assert plan.peak_bytes["cpu"] > plan.external_bytes["cpu"] > 0


SAVED = """
import sys
import kinetoscope as ks, torch
table, ids = torch.nn.Embedding(1000, 4), torch.tensor([[1, 2], [3, 999]])
with ks.profile(sys.argv[1], wait=0, warmup=1, active=1, repeat=1, execution_trace="same") as prof:
    for _ in range(2):
        table(ids)
        prof.step()
"""


def test_saved_indices_are_taken(tmp_path: Path) -> None:
    prefix = "ENABLE_PYTORCH_EXECUTION_TRACE_SAVE_INTEGRAL_TENSOR_"
    environment = {**os.environ, f"{prefix}RANGE": "1", f"{prefix}DATA": "aten::embedding"}
    folder = tmp_path / "saved"
    subprocess.run([sys.executable, "-c", SAVED, folder], env=environment, check=True, capture_output=True)
    seen: list[Any] = []
    result = replayed(folder, replace={"aten::embedding": _seen(seen)})
    assert seen[-1] == [[1, 2], [3, 999]]
    assert "took saved values of 1 argument" in result.notes
    for path in folder.glob("*_resources/*.dat"):
        path.unlink()
    replayed(folder, replace={"aten::embedding": _seen(seen)})
    assert seen[-1] != [[1, 2], [3, 999]]
    (unit,) = [unit for unit in units(only(folder), UnitChoice()) if unit.name == "aten::embedding"]
    assert unit.recorded_ranges == {1: 999}


def _seen(found: list[Any]) -> Any:
    def lookup(weight: Any, indices: Any, *_: Any) -> Any:
        found.append(indices.tolist())
        return weight[indices]

    return lookup
