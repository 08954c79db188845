"""Operators that need more memory than a trace tells: small recorded results, and expanded inputs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from kinetoscope.replaying.operators.machine import Machine
from kinetoscope.replaying.operators.result import OperatorReplay

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

LARGE = 4096
LIMIT = 1_000_000
NONE = (None, [], "None", [])
OPTIONS = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"

Value = tuple[Any, Any, str, Any]


def tensor(number: int, shape: list[int], stride: list[int], dtype: str = "float") -> Value:
    return ([number, number + 1, 0, 1, 4, "cpu"], shape, f"Tensor({dtype})", stride)


def number(value: int) -> Value:
    return (value, [], "Int", [])


RESULT = tensor(90, [4], [1])
VECTORS = [tensor(10, [LARGE], [1]), tensor(20, [LARGE], [1])]
EXPANDED = tensor(10, [LARGE, LARGE], [0, 0])
COLUMN = tensor(20, [LARGE, 1], [1, 1])
CALLS: dict[str, tuple[str, list[Value], Value]] = {
    "eye": (f"aten::eye(SymInt n, *, {OPTIONS}) -> Tensor", [number(LARGE), NONE, NONE, NONE, NONE], RESULT),
    "outer": ("aten::outer(Tensor self, Tensor vec2) -> Tensor", VECTORS, RESULT),
    "relu": ("aten::relu(Tensor self) -> Tensor", [EXPANDED], tensor(90, [LARGE, LARGE], [0, 0])),
    "contiguous": (
        "aten::contiguous(Tensor(a) self, *, MemoryFormat memory_format=contiguous_format) -> Tensor(a)",
        [EXPANDED],
        tensor(90, [LARGE, LARGE], [0, 0]),
    ),
    "add": (
        "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
        [tensor(10, [LARGE, 1], [1, 1]), tensor(20, [1, LARGE], [1, 1]), number(1)],
        RESULT,
    ),
}


def values(found: list[Value]) -> dict[str, Any]:
    return {name: [each[at] for each in found] for at, name in enumerate(("values", "shapes", "types", "strides"))}


def replayed(folder: Path, calls: list[tuple[str, list[Value], Value]], max_bytes: int = LIMIT) -> OperatorReplay:
    """Replays calls that a trace claims, within a limit of memory."""
    empty = values([])
    root = {"id": 1, "name": "[pytorch|profiler|execution_trace|process]", "ctrl_deps": 1, "attrs": []}
    nodes: list[dict[str, Any]] = [{**root, "inputs": empty, "outputs": empty}]
    for at, (schema, given, made) in enumerate(calls, 2):
        name = schema.partition("(")[0]
        name = name if name.count(".") == 0 else name.partition(".")[0]
        attrs = [{"name": "op_schema", "type": "string", "value": schema}]
        node = {"id": at, "name": name, "ctrl_deps": 1, "attrs": attrs}
        nodes.append({**node, "inputs": values(given), "outputs": values([made])})
    path = folder / "torch_et_0.json"
    path.write_text(json.dumps({"schema": "1.1.1-chakra.0.0.4", "pid": 1, "nodes": nodes}))
    found = ks.replay(path, num_replays=1, warmup_iter=0, max_memory_bytes=max_bytes)
    assert isinstance(found, OperatorReplay)
    return found


@pytest.mark.parametrize("name", CALLS)
def test_results_that_are_larger_than_recorded_are_refused(tmp_path: Path, name: str) -> None:
    ((found, num_run, reason),) = replayed(tmp_path, [CALLS[name]]).select("name", "num_run", "reason").rows()
    assert (found, num_run) == (f"aten::{name}", 0)
    assert reason.startswith("expected results of ")
    assert reason.endswith(" at most, found 64 MiB")


def test_a_copied_expanded_input_is_refused(tmp_path: Path) -> None:
    call = ("aten::mm(Tensor self, Tensor mat2) -> Tensor", [EXPANDED, COLUMN], tensor(90, [LARGE, 1], [1, 1]))
    ((num_run, reason),) = replayed(tmp_path, [call]).select("num_run", "reason").rows()
    assert num_run == 0
    assert reason.startswith("expected an expanded input of ")
    assert reason.endswith(" at most, found 64 MiB: it is copied")


def test_views_and_reductions_of_expanded_inputs_run(tmp_path: Path) -> None:
    summed = ("aten::sum(Tensor self, *, ScalarType? dtype=None) -> Tensor", [EXPANDED, NONE], tensor(90, [], []))
    view = ("aten::t(Tensor(a) self) -> Tensor(a)", [EXPANDED], tensor(10, [LARGE, LARGE], [0, 0]))
    assert replayed(tmp_path, [summed, view]).select("num_run", "reason").rows() == [(1, None), (1, None)]


def test_equal_calls_are_asked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int | None] = []
    known = Machine.result_bytes

    def counted(self: Machine, *arguments: Any) -> int | None:
        asked.append(known(self, *arguments))
        return asked[-1]

    monkeypatch.setattr(Machine, "result_bytes", counted)
    replayed(tmp_path, [CALLS["outer"], CALLS["outer"], CALLS["add"]])
    assert asked == [4 * LARGE * LARGE] * 2


def test_results_within_the_limit_run(tmp_path: Path) -> None:
    result = replayed(tmp_path, list(CALLS.values()), 1 << 30)
    assert result.coverage == 1
