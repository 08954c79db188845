"""Functions that run instead of operators: wrong ones are told, right ones are not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from kinetoscope.replaying.operators.agreement import Agreement
from kinetoscope.replaying.operators.call import COLUMNS, node_call
from kinetoscope.replaying.operators.machine import Machine
from kinetoscope.replaying.operators.probe import refilled_places
from kinetoscope.replaying.operators.result import OperatorReplay
from support.models import record_step

torch = pytest.importorskip("torch")
functional, aten = torch.nn.functional, torch.ops.aten
pytestmark = pytest.mark.torch

ATTENTION = "aten::_scaled_dot_product_flash_attention_for_cpu_backward"
POOLING = "aten::max_pool2d_with_indices_backward"


def step(dtype: Any) -> Callable[[], object]:
    """A step with gradients that are far below 1e-5, and inputs that may be of one sign."""
    x = torch.randn(64, 64).to(dtype)
    w = torch.randn(64, 64).to(dtype).requires_grad_()

    def run() -> object:
        y = functional.gelu((x @ w).relu().mm(w).abs())
        heads = y.view(1, 2, 32, 64)
        attended = functional.scaled_dot_product_attention(heads, heads, heads)
        pooled = functional.max_pool2d(attended, 2)
        (pooled.sum() / 1e6).backward()
        return pooled.max().item(), torch.empty(3), functional.dropout(y)

    return run


@pytest.fixture(scope="session")
def steps(tmp_path_factory: pytest.TempPathFactory) -> dict[Any, Path]:
    folders: dict[Any, Path] = {}
    for dtype in (torch.float32, torch.bfloat16):
        folders[dtype] = tmp_path_factory.mktemp("steps") / "trace"
        record_step(step(dtype), folders[dtype])
    return folders


def replayed(folder: Path, **options: Any) -> OperatorReplay:
    found = ks.replay(folder, warmup_iter=0, num_replays=1, **options)
    assert isinstance(found, OperatorReplay)
    return found


def checked(folder: Path, name: str, function: Callable[..., Any]) -> str:
    (line,) = replayed(folder, replace={name: function}).checks
    return line


def own(name: str) -> Callable[..., Any]:
    """The operator itself."""
    found: Callable[..., Any] = getattr(aten, name.removeprefix("aten::"))
    return found


def scaled(name: str) -> Callable[..., Any]:
    """The operator with results that are larger by a hundredth."""

    def run(*given: Any, **named: Any) -> Any:
        made = own(name)(*given, **named)
        return made * 1.01 if isinstance(made, torch.Tensor) else tuple(each * 1.01 for each in made)

    return run


WRONG: dict[str, tuple[str, Callable[..., Any]]] = {
    "relu by identity": ("aten::relu", torch.clone),
    "abs by identity": ("aten::abs", torch.clone),
    "threshold_backward by its gradient": ("aten::threshold_backward", lambda grad, *_: grad.clone()),
    "gelu_backward by zeros": ("aten::gelu_backward", lambda _, x, **__: torch.zeros_like(x)),
    "mm by zeros": ("aten::mm", lambda a, b: torch.zeros_like(a @ b)),
    "mm": ("aten::mm", scaled("aten::mm")),
    "max pooling": (POOLING, scaled(POOLING)),
    "attention": (ATTENTION, scaled(ATTENTION)),
    "item by a constant": ("aten::_local_scalar_dense", lambda _: 12345.0),
    "another type": ("aten::mm", lambda a, b: (a @ b).double()),
    "a number": ("aten::mm", lambda *_: 0.0),
    "no result": ("aten::mm", lambda *_: None),
    "two results": ("aten::mm", lambda a, b: (a @ b, a)),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_function_is_told(steps: dict[Any, Path], case: str, dtype: Any) -> None:
    name, function = WRONG[case]
    line = checked(steps[dtype], name, function)
    calls = line.partition("compared ")[2].partition(" call")[0]
    assert f"results differ in {calls}, first at node" in line
    assert int(calls) > 0


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_a_right_function_agrees(steps: dict[Any, Path], dtype: Any) -> None:
    names = replayed(steps[dtype], dry_run=True).select("name").rows()
    functions = {name: own(name) for (name,) in names}
    functions["aten::relu"] = lambda x: x.clamp(min=0)
    functions["aten::mm"] = lambda a, b: torch.einsum("ij,jk->ik", a, b)
    functions["aten::abs"] = lambda x: torch.where(x < 0, -x, x)
    checks = replayed(steps[dtype], replace=functions).checks
    assert [line for line in checks if "differ" in line] == []
    skipped = [line for line in checks if "not compared" in line]
    assert sorted(line.partition(" ")[0] for line in skipped) == ["aten::empty", "aten::empty_like"]
    assert all("(new memory has no values)" in line for line in skipped), "threads of a host differ in their number"


def test_an_operator_that_does_not_run_is_not_compared(steps: dict[Any, Path]) -> None:
    line = replayed(steps[torch.float32], replace={"aten::mm": torch.mm}, skip=["aten::mm"]).checks
    assert line == ["aten::mm replaced: not compared: no call ran"]


def test_a_function_that_writes_its_inputs_is_told(steps: dict[Any, Path]) -> None:
    assert "inputs after the call" in checked(steps[torch.float32], "aten::abs", torch.abs_)


def test_calls_that_write_are_compared(tmp_path: Path) -> None:
    w = torch.randn(8, 8)
    record_step(lambda: w.add_(1), tmp_path / "trace")
    assert "all results agree" in checked(tmp_path / "trace", "aten::add_", lambda x, y, **_: x.copy_(x + y))
    assert "results differ in 1" in checked(tmp_path / "trace", "aten::add_", lambda x, y, **_: x + y)


def test_positive_values_where_others_have_no_result(tmp_path: Path) -> None:
    x = torch.rand(8, 8)
    record_step(x.sqrt, tmp_path / "trace")
    seen: list[Any] = []

    def wrong(given: Any) -> Any:
        seen.append(given)
        return given / 2

    assert "with random values" in checked(tmp_path / "trace", "aten::sqrt", wrong)
    assert float(seen[0].min()) > 0
    assert float(seen[0].max()) > 1


# --- which inputs, and which tolerance ----------------------------------------------------------------------------


def test_saved_results_stay_with_the_other_inputs(steps: dict[Any, Path]) -> None:
    trace = ks.read_dir(steps[torch.float32])[0]
    calls = {row[1]: node_call(row) for row in trace.nodes.select(*COLUMNS).rows() if row[2]}
    wanted = (ATTENTION, "aten::gelu_backward", "aten::mm")
    places = {name: refilled_places(calls[name]) for name in wanted}
    chosen = {name: [calls[name].arguments[at].parameter for at in sorted(places[name])] for name in wanted}
    parameters = {name: {each.name for each in found if each is not None} for name, found in chosen.items()}
    assert parameters == {
        ATTENTION: {"grad_out"},
        "aten::gelu_backward": {"grad_output", "self"},
        "aten::mm": {"self", "mat2"},
    }


def test_copies_share_memory_as_their_tensors_do() -> None:
    machine = Machine("cpu", [])
    base = torch.arange(6.0)
    for view in (base.expand(3, 6), base.as_strided((4, 3), (1, 1)), base[1::2], torch.empty(0, 3)):
        (copy,) = machine.copies([view])
        assert copy.equal(view)
        assert copy.stride() == view.stride()
        assert copy.data_ptr() != view.data_ptr() or not copy.numel()
    filled = machine.copies(torch.zeros(1).expand(8, 8), machine.filling.fill_normal)
    assert len(filled.unique()) == 64, "repeated elements get values of their own"
    conjugate = torch.randn(3, dtype=torch.complex64).conj()
    assert machine.copies(conjugate).equal(conjugate)


@pytest.mark.parametrize("scale", [1e-20, 1.0, 1e20])
def test_the_tolerance_is_relative(scale: float) -> None:
    agreement = Agreement(torch)
    x = torch.randn(100) * scale
    assert agreement.compare(x * (1 + 1e-6), x, [x]).problem == ""
    assert agreement.compare(x * 1.0001, x, [x]).problem
    assert agreement.compare(torch.zeros(100), x, [x]).problem
    one = x.clone()
    one[3] += x.abs().max() * 0.001
    assert agreement.compare(one, x, [x]).problem, "a single element"


def test_numbers_and_odd_values() -> None:
    agreement = Agreement(torch)
    nan, infinite = torch.tensor([float("nan"), 1.0]), torch.tensor([float("inf"), 1.0])
    assert agreement.compare(nan, nan.clone(), []) == ("", 1)
    assert agreement.compare(torch.ones(2), nan, []).problem
    assert agreement.compare(-infinite, infinite, []).problem
    assert agreement.compare(infinite, torch.ones(2), []).problem
    assert agreement.compare(nan[:1], nan[:1].clone(), []) == ("", 0)
    assert agreement.compare([1, None, True], (1, None, True), []) == ("", 2)
    assert agreement.compare([2], [1], []).problem == "result 0: expected 1, found 2"
    assert agreement.compare([0.5], [0.5 + 1e-7], [torch.ones(1)]).problem == ""
    unsigned = torch.tensor([1, 65535], dtype=torch.uint16)
    assert agreement.compare(unsigned, unsigned.clone(), []) == ("", 1)
    assert agreement.compare(unsigned.flip(0), unsigned, []).problem == "result 0: 2 of 2 elements differ"


# --- autocast -----------------------------------------------------------------------------------------------------


def test_operators_run_under_the_recorded_autocast(tmp_path: Path) -> None:
    h, x = torch.randn(8, 16, 16).bfloat16(), torch.randn(8, 16, 16)

    def run() -> object:
        with torch.autocast("cpu", torch.bfloat16):
            return (
                torch.bmm(h, x),
                torch.addmm(torch.randn(16, 16), h[0], x[0]),
                torch.baddbmm(torch.randn(8, 16, 16), h, x),
                functional.mse_loss(h, h),
                functional.pad(h, (1, 1, 1, 1), mode="reflect"),
            )

    record_step(run, tmp_path / "trace")
    seen: dict[str, Any] = {}

    def spied(name: str) -> Callable[..., Any]:
        def function(*given: Any, **named: Any) -> Any:
            made = own(name)(*given, **named)
            seen[name] = made.dtype
            return made

        return function

    names = ("aten::bmm", "aten::addmm", "aten::baddbmm", "aten::mse_loss", "aten::reflection_pad2d")
    assert replayed(tmp_path / "trace").coverage == 1.0
    result = replayed(tmp_path / "trace", replace={name: spied(name) for name in names})
    assert [line for line in result.checks if "1 call, all results agree" not in line] == []
    assert seen == {**dict.fromkeys(names[:3], torch.bfloat16), **dict.fromkeys(names[3:], torch.float32)}
    assert not any("is recorded" in note for note in result.notes)


def test_results_of_another_type_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.rand(4)
    record_step(x.relu, tmp_path / "trace")
    monkeypatch.setattr(Machine, "operator", lambda *_: lambda given: given.double().relu())
    notes = replayed(tmp_path / "trace").notes
    assert "1 call of aten::relu made float64 where float32 is recorded" in notes
    assert not any("another shape" in note for note in notes)


# --- arguments that share memory ----------------------------------------------------------------------------------


def write_in_place() -> object:
    """Operators whose arguments are the same tensor, or parts of one."""
    x, y = torch.randn(8, 8) + 2, torch.randn(4) + 3
    listed, z = [torch.randn(3) + 1, torch.randn(3) + 1], torch.randn(6)
    torch._foreach_mul_(listed, listed)
    z[::2].sub_(z[1::2])
    return x.mul_(x), y.add_(y), torch.randn(8, 8).addcmul_(x, x), z.copy_(z.flip(0))


def test_operators_on_shared_memory_agree_with_themselves(tmp_path: Path) -> None:
    record_step(write_in_place, tmp_path / "trace")
    names = ("mul_", "add_", "_foreach_mul_", "addcmul_", "sub_", "copy_")
    checks = replayed(tmp_path / "trace", replace={f"aten::{name}": getattr(aten, name) for name in names}).checks
    assert [line for line in checks if "all results agree" not in line] == []
    assert len(checks) == len(names)
    wrong = checked(tmp_path / "trace", "aten::mul_", lambda x, y: x.mul_(y).mul_(1.01))
    assert "results differ in 1" in wrong


def test_copies_of_one_storage_share_one_copy() -> None:
    machine = Machine("cpu", [])
    base = torch.arange(12.0)
    for fill in (None, machine.filling.fill_normal):
        given, named = machine.copies(([base[3:9], base[1::2]], {"whole": base, "bits": base.view(torch.int32)}), fill)
        assert given[0].untyped_storage().data_ptr() != base.untyped_storage().data_ptr()
        given[0].fill_(7)
        assert named["whole"].tolist()[3:9] == [7] * 6
        assert given[1].tolist()[1:4] == [7] * 3
        assert named["bits"].view(torch.float32).equal(named["whole"])
    assert base.equal(torch.arange(12.0))
    pair = machine.copies([base, base.view(torch.int32)], machine.filling.fill_normal)
    assert pair[0].equal(base), "whole numbers in the same memory stay, and so do its floats"
    low, high = machine.copies([base[:4], base[4:]], machine.filling.fill_normal, [base[6:]])
    assert not low.equal(base[:4])
    assert high.equal(base[4:]), "its memory is kept"
    negated = torch.randn(3, dtype=torch.complex64).conj().imag
    assert negated.is_neg()
    assert machine.copies(negated).equal(negated)


# --- truth values -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def masks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("masks") / "trace"
    x, whole = torch.rand(8, 8), torch.arange(8)

    def run() -> object:
        none = x > 3
        filled = x.masked_fill(none, 0.0)
        several = filled == x + 1, x < float("inf"), whole[:, None].ne(whole), none == (x > 4)
        chosen = torch.where(none, x, filled), x[none], torch.masked_scatter(x, none, x), none.any()
        return several, chosen, torch.ones(3).isnan(), (whole <= 3).logical_and(whole.ge(9))

    record_step(run, folder)
    return folder


def constant(*, value: bool) -> Callable[..., Any]:
    """A comparison whose results are all the same."""
    return lambda x, y: torch.full(torch.broadcast_shapes(x.shape, torch.as_tensor(y).shape), value)


BLIND: dict[str, tuple[str, Callable[..., Any]]] = {
    "masked_fill by identity": ("aten::masked_fill", lambda x, *_: x.clone()),
    "where by its last input": ("aten::where", lambda *given: given[2].clone()),
    "gt by false": ("aten::gt", constant(value=False)),
    "gt by ge": ("aten::gt", torch.ge),
    "eq by false": ("aten::eq", constant(value=False)),
    "lt by true": ("aten::lt", constant(value=True)),
    "ne by true": ("aten::ne", constant(value=True)),
    "le by lt": ("aten::le", torch.lt),
    "ge by false": ("aten::ge", constant(value=False)),
    "logical_and by false": ("aten::logical_and", lambda x, _: torch.zeros_like(x)),
}


@pytest.mark.parametrize("case", BLIND)
def test_a_function_that_ignores_truth_values_is_told(masks: Path, case: str) -> None:
    name, function = BLIND[case]
    line = checked(masks, name, function)
    calls = line.partition("compared ")[2].partition(" call")[0]
    assert f"results differ in {calls}, first at node" in line
    assert "with random values" in line


def test_operators_on_truth_values_agree_with_themselves(masks: Path) -> None:
    names = [name for (name,) in replayed(masks, dry_run=True).select("name").rows()]
    checks = replayed(masks, replace={name: own(name) for name in names}).checks
    assert [line for line in checks if "differ" in line] == []


def test_constant_truth_values_are_not_compared(masks: Path) -> None:
    constant_reason = "not compared: 1 call (each result is the same truth value)"
    (line,) = replayed(masks, replace={"aten::any": torch.any}).checks
    assert line == f"aten::any replaced: {constant_reason}"
    assert "differ in 1" in checked(masks, "aten::any", lambda _: torch.zeros((), dtype=torch.bool))


# --- results on another device ------------------------------------------------------------------------------------


def test_a_result_on_another_device_is_told(steps: dict[Any, Path]) -> None:
    made = torch.empty(3, device="meta")
    found = Agreement(torch).compare(made, torch.ones(3), [])
    assert found.problem == "result 0: expected a tensor on cpu, found one on meta"
    line = checked(steps[torch.float32], "aten::relu", lambda x: torch.empty_like(x, device="meta"))
    assert "expected a tensor on cpu, found one on meta" in line
