"""Passes of a replay: calls with little work around them, and what they leave behind."""

from __future__ import annotations

import json
import weakref
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from kinetoscope.replaying.operators.engine import Engine
from kinetoscope.replaying.operators.plain_call import (
    KeptResult,
    KeptResults,
    Others,
    PlainArguments,
    PlainCall,
    run_pass,
)
from support.models import growth, record, record_step, without_collector

FEW: dict[str, Any] = {"warmup_iter": 1, "num_replays": 4}


# --- calls --------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class FakeTensor:
    shape: tuple[int, ...]


def tensor(*shape: int) -> FakeTensor:
    return FakeTensor(shape)


def call(operator: Any, num_given: int = 0, **more: Any) -> PlainCall:
    kept = KeptResults(KeptResult((2,), 2, 3), ())
    return PlainCall(operator, (), PlainArguments(itemgetter(slice(num_given)), {}, ()), kept, ())._replace(**more)


def passed(calls: list[PlainCall | None], held: list[Any]) -> tuple[dict[int, Any], list[Any]]:
    told: list[Any] = []
    moments = iter(range(100))
    others = Others(
        lambda at: told.append(("step", at)),
        lambda slot: held.__setitem__(slot, f"filled {slot}"),
        list,
        lambda at, made, error: told.append((at, made, error and str(error))),
    )
    return run_pass(calls, held, lambda: next(moments), others), told


def test_a_result_is_kept_and_measured() -> None:
    held: list[Any] = ["a", "b", None, None, None]
    marks, told = passed([call(lambda *given: tensor(len(given)), 2)], held)
    assert (marks, told) == ({0: (0, 1)}, [])
    assert held[2] is held[3]
    assert held[2].shape == (2,)


def test_results_in_a_list_are_kept_in_their_order() -> None:
    held: list[Any] = [None] * 4
    several = KeptResults(None, (KeptResult((1,), 0, 0), KeptResult((2,), 1, 2)))
    _, told = passed([call(lambda: [tensor(1), tensor(2), tensor(3)], 0, kept=several)], held)
    assert told == []
    assert [each and each.shape for each in held] == [(1,), (2,), (2,), None]
    _, told = passed([call(lambda: [tensor(1)], 0, kept=several)], [None] * 4)
    assert len(told) == 1, "fewer results than before"


def test_another_shape_is_told_and_not_kept() -> None:
    held = ["a", "b", None, None]
    _, told = passed([call(lambda *_: tensor(7), 2)], held)
    assert [(at, made.shape, error) for at, made, error in told] == [(0, (7,), None)]
    assert held[2:] == [None, None]


def test_an_error_is_told_and_memory_is_freed_all_the_same() -> None:
    def fails(*_: Any) -> Any:
        raise RuntimeError("no kernel")

    held = ["a", "b", None, None]
    marks, told = passed([call(fails, 2, freed=(0,)), None, call(lambda *_: None, 1)], held)
    assert 0 not in marks
    assert told[:2] == [(0, None, "no kernel"), ("step", 1)]
    assert told[2][0] == 2
    assert "shape" in told[2][2], "no tensor where there was one"
    assert held[0] is None


def test_arguments_are_gone_before_the_next_operator() -> None:
    held: list[Any] = [tensor(1), None, None, None]
    argument = weakref.ref(held[0])
    seen: list[Any] = []
    others = Others(lambda _: seen.append(argument()), lambda _: None, list, lambda *_: None)
    run_pass([call(lambda *_: tensor(2), 1, freed=(0,)), None], held, lambda: 0, others)
    assert seen == [None]


def test_a_missing_argument_is_made_before_its_call() -> None:
    held = ["a", None, None, None]
    seen: list[Any] = []
    passed([call(lambda *given: seen.extend(given) or tensor(2), 2, missing=(1,))], held)
    assert seen == ["a", "filled 1"]


def test_named_tensors_are_those_of_the_moment() -> None:
    seen: list[Any] = []
    arguments = PlainArguments(itemgetter(slice(0, 1)), {"alpha": 1}, (("out", 1),))
    passed([call(lambda *given, **named: seen.append((given, named)), arguments=arguments)], ["a", "b", None, None])
    assert seen == [(("a",), {"alpha": 1, "out": "b"})]


# --- training steps -----------------------------------------------------------------------------------------------


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch) -> list[Engine]:
    """Engines of the replays that follow."""
    pytest.importorskip("torch")
    found: list[Engine] = []
    check = Engine.check

    def checked(engine: Engine) -> None:
        check(engine)
        found.append(engine)

    monkeypatch.setattr(Engine, "check", checked)
    return found


@pytest.mark.torch
@pytest.mark.parametrize("name", ["transformer", "convolution", "embedding"])
def test_nearly_all_operators_have_plain_calls(engines: list[Engine], tmp_path: Path, name: str) -> None:
    ks.replay(record(name, tmp_path), **FEW)
    calls = engines[0].calls
    assert sum(each is not None for each in calls) >= 0.95 * len(calls)


@pytest.mark.torch
def test_plain_calls_free_what_the_program_freed(engines: list[Engine], tmp_path: Path) -> None:
    original = record("mlp", tmp_path / "original")
    ks.replay(original, **FEW)
    engine = engines[0]
    with (
        without_collector(),
        ks.profile(
            tmp_path / "again", wait=0, warmup=1, active=1, repeat=1, execution_trace="same", profile_memory=True
        ) as prof,
    ):
        for _ in range(2):
            engine.make_inputs()
            engine.measured()
            prof.step()
    recorded, again = (growth(ks.read_dir(folder)[0]) for folder in (original, tmp_path / "again"))
    assert again == pytest.approx(recorded, rel=0.1)


@pytest.mark.torch
def test_values_may_decide_a_shape(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")

    def step() -> object:
        return torch.unique(torch.randint(0, 90, (64,))).mul(2).add(1)

    result = ks.replay(record_step(step, tmp_path), **FEW)
    assert {row[0] for row in result.select("reason").rows()} == {None}
    (note,) = [note for note in result.notes if "another shape" in note]
    assert note.startswith("1 call of aten::_unique2")


@pytest.mark.torch
def test_a_storage_may_change_its_size(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    kept = torch.ones(6)

    def step() -> object:
        x = torch.ones(4)
        before = x.view(2, 2).mul(2)
        x.resize_(8).fill_(3)
        x.untyped_storage().resize_(64)
        kept.resize_(3, 2).add_(1)
        kept.resize_(6)
        return before, x.mul(2), x.t_().add(1), kept.sum()

    result = ks.replay(record_step(step, tmp_path), **FEW)
    assert {row[0] for row in result.select("reason").rows()} == {None}
    assert not any("another shape" in note for note in result.notes)


@pytest.mark.torch
def test_a_conjugate_is_not_the_tensor_itself(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    seen: list[float] = []

    def angle(product: Any) -> Any:
        seen.append(float(product.imag.abs().max() / product.abs().max()))
        return torch.ops.aten.angle(product)

    def step() -> object:
        x = torch.randn(8, dtype=torch.complex64)
        return torch.angle(x * x.conj()), x.real.sum()

    ks.replay(record_step(step, tmp_path), replace={"aten::angle": angle}, **FEW)
    assert len(seen) > FEW["num_replays"]
    assert max(seen[-FEW["num_replays"] :]) < 1e-6


@pytest.mark.torch
def test_shapes_of_results_with_out_are_compared(engines: list[Engine], tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    x, made = torch.ones(4), torch.empty(4)
    ks.replay(record_step(lambda: (torch.add(x, 1, out=made), x.mul_(2)), tmp_path), **FEW)
    units = zip(engines[0].prepared, engines[0].calls, strict=True)
    calls = {each.unit.name: call for each, call in units if call is not None}
    assert calls["aten::add"].kept.single is not None
    assert calls["aten::mul_"].kept.single is None, "an operator in place keeps the shape"


def recorded_tensor(tensor_id: int, storage_id: int, size: int) -> tuple[Any, ...]:
    """Value, shape, type and strides, as an Execution Trace has them."""
    return [tensor_id, storage_id, 0, size, 4, "cpu"], [size], "Tensor(float)", []


def written_node(at: int, schema: str, given: list[Any], made: list[Any]) -> dict[str, Any]:
    sides = [
        dict(zip(("values", "shapes", "types", "strides"), map(list, zip(*side, strict=True)), strict=True))
        for side in (given, made)
    ]
    attrs = [{"name": "op_schema", "type": "string", "value": schema}]
    name = schema.partition("(")[0].partition(".")[0]
    return {"id": at, "name": name, "ctrl_deps": 1, "attrs": attrs, "inputs": sides[0], "outputs": sides[1]}


@pytest.mark.torch
@pytest.mark.parametrize("first", ["small", "large"])
def test_a_storage_may_be_smaller_than_a_later_tensor(tmp_path: Path, first: str) -> None:
    pytest.importorskip("torch")
    relu, add = "aten::relu(Tensor self) -> Tensor", "aten::add.Tensor(Tensor self, Tensor other) -> Tensor"
    small, large = recorded_tensor(3, 4, 1), recorded_tensor(5, 4, 64)
    nothing: dict[str, list[Any]] = {"values": [], "shapes": [], "types": [], "strides": []}
    root = {"id": 1, "name": "[pytorch|profiler|execution_trace|process]", "ctrl_deps": 1, "attrs": []}
    nodes = [
        {**root, "inputs": nothing, "outputs": nothing},
        written_node(2, relu, [recorded_tensor(1, 2, 1)], [small]),
        written_node(3, add, [large, small] if first == "large" else [small, large], [recorded_tensor(6, 7, 64)]),
    ]
    path = tmp_path / "torch_et_0.json"
    path.write_text(json.dumps({"schema": "1.1.1-chakra.0.0.4", "pid": 1, "nodes": nodes}))
    assert {row[0] for row in ks.replay(path, **FEW).select("reason").rows()} == {None}
