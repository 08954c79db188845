"""Execution Traces, edited: a part of them, the newest layout, no private names. Read as et_replay reads them."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from kinetoscope._cli.main import main
from support.documents import LAYOUTS, document
from support.shared_files import shared_texts

REPOSITORY = Path(__file__).resolve().parents[3]
Node = dict[str, Any]
THREAD = "[pytorch|profiler|execution_trace|thread]"
INTEGERS = {"rf_id", "fw_parent", "seq_id", "scope", "tid", "fw_tid"}


def nodes_of(trace: ks.Trace, folder: Path) -> list[Node]:
    return document(trace.to_execution_trace(folder / "edited.json"))["nodes"]


def attrs(node: Node) -> dict[str, Any]:
    return {attr["name"]: attr["value"] for attr in node["attrs"]}


def assert_replayable(path: Path) -> None:
    """What et_replay asks of a file of the newest schema."""
    execution = document(path)
    assert execution["schema"] == "1.1.1-chakra.0.0.4"
    by_id = {node["id"]: node for node in execution["nodes"]}
    assert by_id[1]["ctrl_deps"] == 1
    threads = {attrs(node)["tid"] for node in by_id.values() if node["ctrl_deps"] == 1 and node["name"] == THREAD}
    for node in by_id.values():
        assert node["ctrl_deps"] in by_id
        fields = attrs(node)
        assert all(isinstance(fields[name], int) for name in INTEGERS)
        assert isinstance(fields["op_schema"], str)
        assert node["id"] == 1 or fields["tid"] in threads
        for values in (node["inputs"], node["outputs"]):
            parts = [values[key] for key in ("values", "shapes", "types", "strides")]
            for value, shape, type_name, stride in zip(*parts, strict=True):
                assert_tensors(value, shape, type_name, stride)


def assert_tensors(value: Any, shape: Any, type_name: str, stride: Any) -> None:
    if type_name.startswith("Tensor"):
        assert len(value) in {5, 6}
        assert len(shape) == len(stride)
    elif type_name.startswith("GenericList["):
        names = type_name[len("GenericList[") : -1].split(",")
        for parts in zip(value, shape, names, stride, strict=False):
            assert_tensors(*parts)


@pytest.fixture
def two_steps(data: Path) -> ks.Trace:
    return ks.read(data / "transformer_cuda/torch_et_0.json.gz")


@pytest.mark.unit
def test_one_iteration(two_steps: ks.Trace, tmp_path: Path) -> None:
    before = {node["id"]: node for node in nodes_of(two_steps, tmp_path)}
    marks = {node["name"]: node["id"] for node in before.values() if node["name"].startswith("ProfilerStep#")}
    parts = [nodes_of(two_steps.edit(iteration=number), tmp_path) for number in (3, 4)]
    assert [node["id"] for part in parts for node in part if node["name"].startswith("ProfilerStep#")] == list(
        marks.values()
    )
    first, second = ({node["id"] for node in part} for part in parts)
    assert first | second == {node_id for node_id in before if node_id >= min(marks.values()) or node_id in first}
    roots = {node["id"] for node in before.values() if node["name"].startswith("[pytorch|")}
    assert first & second == roots
    for part in parts:
        ids = {node["id"] for node in part}
        for node in part:
            assert node["ctrl_deps"] in ids
            assert {key: node[key] for key in node if key != "ctrl_deps"} == {
                key: value for key, value in before[node["id"]].items() if key != "ctrl_deps"
            }


@pytest.mark.unit
def test_one_iteration_of_an_observer_that_began_inside_of_a_step(data: Path, tmp_path: Path) -> None:
    """That step is no node then; the Kineto trace tells which nodes are of it."""
    kineto, whole = (data / f"transformer_cuda/{name}_0.json.gz" for name in ("kineto_trace", "torch_et"))
    recorded = document(whole)
    recorded["nodes"] = [node for node in recorded["nodes"] if node["name"] != "ProfilerStep#3"]
    late = tmp_path / "late_et.json"
    late.write_text(json.dumps(recorded))

    def operators(execution: Path, number: int) -> set[int]:
        trace = ks.read(kineto, execution)
        assert isinstance(trace, ks.Trace)
        nodes = nodes_of(trace.edit(iteration=number), tmp_path)
        return {node["id"] for node in nodes if node["name"].startswith("aten::")}

    for number in (3, 4):
        assert operators(late, number) == operators(whole, number) != set()


@pytest.mark.unit
def test_a_subtree(two_steps: ks.Trace, tmp_path: Path) -> None:
    before = nodes_of(two_steps, tmp_path)
    linear = next(node["id"] for node in before if node["name"] == "aten::linear")
    kept = nodes_of(two_steps.edit(subtree=linear), tmp_path)
    operators = [node for node in kept if not node["name"].startswith("[pytorch|")]
    assert {node["name"] for node in operators} >= {"aten::linear", "aten::t"}
    roots = {node["id"] for node in kept if node["name"] == THREAD}
    assert [node["id"] for node in operators if node["ctrl_deps"] in roots] == [linear]


@pytest.mark.unit
def test_process_groups_are_kept(data: Path, tmp_path: Path) -> None:
    trace = ks.read(data / "mlp_gloo/torch_et_0.json.gz")
    part = trace.edit(iteration=2)
    assert part.process_groups.rows() == trace.process_groups.rows()
    assert_replayable(part.edit(upgrade=True).to_execution_trace(tmp_path / "part.json"))


@pytest.mark.unit
@pytest.mark.parametrize("name", ["synthetic_cuda", "mlp_gloo", "minimal_cpu", "transformer_cpu"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_becomes_the_newest(data: Path, tmp_path: Path, name: str, layout: str) -> None:
    source = data / name / "torch_et_0.json.gz"
    newest = document(source)
    older = ks.read(json.dumps(LAYOUTS[layout](newest)).encode())
    path = older.edit(upgrade=True).to_execution_trace(tmp_path / "upgraded.json")
    assert_replayable(path)
    upgraded = document(path)
    if layout == "1.1.1":
        assert upgraded == newest
    for ours, theirs in zip(upgraded["nodes"], newest["nodes"], strict=True):
        assert [ours[key] for key in ("id", "name", "ctrl_deps")] == [
            theirs[key] for key in ("id", "name", "ctrl_deps")
        ]
        assert {key: attrs(ours)[key] for key in INTEGERS} == {key: attrs(theirs)[key] for key in INTEGERS}
        assert ours["inputs"]["values"] == theirs["inputs"]["values"]
        assert isinstance(attrs(ours)["tensor_range"], str)


@pytest.mark.unit
def test_private_names_are_gone(tmp_path: Path) -> None:
    def node(node_id: int, name: str, schema: str = "", inputs: dict[str, list[Any]] | None = None) -> Node:
        values = {"values": [], "shapes": [], "types": [], "strides": []} | (inputs or {})
        fields = {"rf_id": node_id, "scope": 7 if name.startswith("##") else 0, "op_schema": schema}
        fields["kernel_file"] = "of/secret.py"
        return {
            "id": node_id,
            "name": name,
            "ctrl_deps": 1,
            "inputs": values,
            "attrs": [{"name": key, "type": "x", "value": value} for key, value in fields.items()],
        }

    strings = {"values": ["secret", 1.50], "shapes": [[], []], "types": ["String", "Double"]}
    equation = {"values": ["ij,jk->ik"], "shapes": [[]], "types": ["String"]}
    communication = {
        "values": [["0", "secret group"], "all_reduce"],
        "types": ["Tuple[String,String]", "String"],
    }
    group = '[{"pg_name": "0", "pg_desc": "secret group", "ranks": [], "group_size": 2}]'
    nodes = [
        node(1, "[pytorch|profiler|execution_trace|process]"),
        node(2, "## secret step ##"),
        node(3, "secret::op", "secret::op(Tensor secret) -> Tensor", strings),
        node(4, "aten::einsum", "aten::einsum(str equation, Tensor[] tensors) -> Tensor", equation),
        node(5, "autograd::engine::evaluate_function: SecretBackward"),
        node(6, "## process_group:init ##", inputs={"values": [group], "types": ["String"]}),
        node(7, "record_param_comms", inputs=communication),
        node(8, "## secret step ##"),
    ]
    trace = ks.read(json.dumps({"schema": "1.1.1-chakra.0.0.4", "nodes": nodes}).encode())
    path = trace.edit(anonymise=True).to_execution_trace(tmp_path / "public.json")
    text = path.read_text()
    assert "secret" not in text.lower()
    assert "1.5" in text
    found = {node["id"]: node for node in document(path)["nodes"]}
    assert found[2]["name"] == found[8]["name"]
    assert re.fullmatch(r"## name_\d+ ##", found[2]["name"])
    assert found[3]["name"].startswith("name_")
    assert found[3]["inputs"]["values"][1] == 1.5
    assert found[4]["name"] == "aten::einsum"
    assert found[4]["inputs"]["values"] == ["ij,jk->ik"]
    assert found[5]["name"].startswith("autograd::engine::evaluate_function: name_")
    assert found[7]["inputs"]["values"] == [
        ["0", json.loads(found[6]["inputs"]["values"][0])[0]["pg_desc"]],
        "all_reduce",
    ]
    assert "secret" not in repr(trace.edit(anonymise=True).nodes.rows()).lower()


@pytest.mark.unit
def test_what_is_not_there_is_said(two_steps: ks.Trace, data: Path) -> None:
    with pytest.raises(ks.TraceError, match=r"expected an iteration of the Execution Trace \(3, 4\), found 7"):
        two_steps.edit(iteration=7)
    with pytest.raises(ks.TraceError, match="expected the id of a node of the Execution Trace, found 99999999"):
        two_steps.edit(subtree=99_999_999)
    with pytest.raises(ks.TraceError, match="expected an Execution Trace"):
        ks.read(data / "synthetic_cuda/kineto_trace_0.json.gz", et=False).edit(upgrade=True)


@pytest.mark.unit
def test_by_command(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "part.json.gz"
    source = str(data / "transformer_cuda/torch_et_0.json.gz")
    assert main(["edit", source, "--iteration", "3", "--upgrade", "--anonymise", "-o", str(target)]) == 0
    assert capsys.readouterr().out == f"{target}: 1,278 of 2,553 nodes\n"
    assert_replayable(target)


CLONE = """
import json, sys
from param_bench.et_replay.execution_trace import ExecutionTrace
def read(path):
    return ExecutionTrace(json.load(open(path)))
def known(trace):
    return sorted((node.id, node.name, node.parent_id) for node in trace.get_nodes().values())
whole, part, private = map(read, sys.argv[1:])
whole.set_iterations()
assert known(whole.clone_one_iteration(1)) == known(part)
num_operators = [sum(node.is_op() for node in trace.get_nodes().values()) for trace in (part, private)]
assert num_operators[0] == num_operators[1] > 100, num_operators
"""


@pytest.mark.shared
def test_et_replay_reads_it(two_steps: ks.Trace, tmp_path: Path) -> None:
    """The reader that HTA brings along until 0.5, where `make bench` has installed it."""
    python = REPOSITORY / ".cache/hta/bin/python"
    package = next((REPOSITORY / ".cache/hta").glob("lib/python*/site-packages/param_bench"), None)
    if package is None:
        pytest.skip("no et_replay at hand")
    paths = [
        two_steps.to_execution_trace(tmp_path / "whole.json"),
        two_steps.edit(iteration=2).to_execution_trace(tmp_path / "part.json"),
        two_steps.edit(iteration=2, upgrade=True, anonymise=True).to_execution_trace(tmp_path / "private.json"),
    ]
    command = [python, "-c", CLONE, *paths]
    done = subprocess.run(command, env={"PYTHONPATH": str(package)}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.shared
def test_every_shared_file_can_be_upgraded(shared: Path, tmp_path: Path) -> None:
    for name, text in shared_texts(shared):
        if b'"nodes"' in text[:1000] and "pt2" not in name:  # whose Triton nodes have fewer strides than values
            trace = ks.read(text)
            assert_replayable(trace.edit(upgrade=True).to_execution_trace(tmp_path / "upgraded.json"))
            private = trace.edit(anonymise=True)
            assert len(private.nodes) == len(trace.nodes)
