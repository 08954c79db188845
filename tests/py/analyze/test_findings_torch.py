"""Patterns of programs that are recorded here are found, and those of the same programs when they are mended are not.

They are the patterns that PyTorch's own pattern matcher looked for, until it was removed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest

torch: Any = pytest.importorskip("torch")

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")]

Step = Callable[[], None]


def found(step: Step, folder: Path, **options: bool) -> Counter[str]:
    """How often each pattern is found in three steps, at any cost, recorded with stacks and shapes."""
    step()
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities, record_shapes=True, with_stack=True, **options) as prof:
        for _ in range(3):
            step()
    path = folder / "trace.json"
    prof.export_chrome_trace(str(path))
    counts: Counter[str] = Counter()
    for name, count in ks.read(path).findings(min_share=0).select("finding", "count").rows():
        counts[name] += count
    return counts


def optimizing(*, foreach: bool, set_to_none: bool) -> Step:
    model = torch.nn.Sequential(*[torch.nn.Linear(8, 8) for _ in range(4)])
    optimizer = torch.optim.Adam(model.parameters(), foreach=foreach)

    def step() -> None:
        model(torch.randn(4, 8)).sum().backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=set_to_none)

    return step


def test_optimizers(tmp_path: Path) -> None:
    one_by_one = found(optimizing(foreach=False, set_to_none=False), tmp_path)
    assert one_by_one["unfused_optimizer"] == 3
    assert one_by_one["gradients_zeroed"] >= 3
    mended = found(optimizing(foreach=True, set_to_none=True), tmp_path)
    assert not {"unfused_optimizer", "gradients_zeroed"} & mended.keys()


def stepping_with_closure(*, foreach: bool) -> Step:
    layers = [torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU()) for _ in range(6)]
    model = torch.nn.Sequential(*layers)
    optimizer = torch.optim.AdamW(model.parameters(), foreach=foreach)
    batch = torch.randn(4096, 64)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = model(batch).square().mean()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        return loss

    return lambda: optimizer.step(closure)


@pytest.mark.parametrize("with_stack", [False, True])
def test_a_closure_is_no_update(tmp_path: Path, *, with_stack: bool) -> None:
    trace = recorded(stepping_with_closure(foreach=False), tmp_path, with_stack=with_stack)
    events = trace.events.select("name", "start_ns", "dur_ns").rows()
    steps = sum(dur for name, _, dur in events if name.startswith("Optimizer.step#"))
    square_roots = sum(dur for name, _, dur in events if name == "aten::sqrt")
    updates = [
        cost
        for name, cost in trace.findings(min_share=0).select("finding", "cost_ns").rows()
        if name == "unfused_optimizer"
    ]
    assert len(updates) == 1
    # The updates hold all square roots, and none of the passes.
    backward = sum(dur for name, _, dur in events if name.startswith("autograd::engine::evaluate_function"))
    assert square_roots < updates[0] < steps - backward
    mended = recorded(stepping_with_closure(foreach=True), tmp_path, with_stack=with_stack)
    assert "unfused_optimizer" not in [name for (name,) in mended.findings(min_share=0).select("finding").rows()]


@pytest.mark.parametrize("with_stack", [False, True])
def test_only_compilation_is_compilation(tmp_path: Path, *, with_stack: bool) -> None:
    torch.compiler.reset()
    compiled = torch.compile(lambda batch: batch.relu().sum(), backend="aot_eager", dynamic=False)
    compiled(torch.randn(8, 8))
    sizes = [8, 9, 8, 10]

    def names(step: Step) -> list[tuple[str, int]]:
        rows = recorded(step, tmp_path, with_stack=with_stack).findings(min_share=0).select("finding", "count").rows()
        return [(name, count) for name, count in rows if name == "recompilation"]

    assert names(lambda: compiled(torch.randn(8, 8))) == []
    assert names(lambda: compiled(torch.randn(sizes.pop(), 8))) == [("recompilation", 2)]


def recorded(step: Step, folder: Path, *, with_stack: bool) -> ks.Trace:
    """Three steps, recorded."""
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities, with_stack=with_stack) as prof:
        for _ in range(3):
            step()
    path = folder / "trace.json"
    prof.export_chrome_trace(str(path))
    return ks.read(path)


def convolving(*, bias: bool, mode: bool) -> Step:
    layers = [torch.nn.Conv2d(3, 4, 3, bias=bias), torch.nn.BatchNorm2d(4), torch.nn.Conv2d(4, 4, 3), torch.nn.ReLU()]
    model = torch.nn.Sequential(*layers).train(mode)

    def step() -> None:
        model(torch.randn(2, 3, 8, 8))

    return step


@pytest.mark.parametrize("mode", [True, False])
def test_a_bias_before_a_batch_norm(tmp_path: Path, *, mode: bool) -> None:
    assert found(convolving(bias=True, mode=mode), tmp_path)["conv_bias_before_batch_norm"] == 3
    assert "conv_bias_before_batch_norm" not in found(convolving(bias=False, mode=mode), tmp_path)


def loading(num_workers: int) -> Step:
    data = torch.utils.data.TensorDataset(torch.randn(8, 4))
    loader = torch.utils.data.DataLoader(data, batch_size=4, num_workers=num_workers)

    def step() -> None:
        for (batch,) in loader:
            batch.sum()

    return step


def test_a_loader_without_workers(tmp_path: Path) -> None:
    assert found(loading(0), tmp_path)["data_loading_without_workers"] >= 6
    assert "data_loading_without_workers" not in found(loading(1), tmp_path)


def test_a_loop_over_elements(tmp_path: Path) -> None:
    tensor = torch.zeros(64)

    def one_by_one() -> None:
        for at in range(64):
            tensor[at] = at

    def at_once() -> None:
        tensor.copy_(torch.arange(64))

    assert found(one_by_one, tmp_path)["indexing_in_a_loop"] >= 1
    assert "indexing_in_a_loop" not in found(at_once, tmp_path)


def test_unaligned_matrices(tmp_path: Path) -> None:
    def multiplying(size: int) -> Step:
        a, b = (torch.randn(size, size, dtype=torch.bfloat16) for _ in range(2))
        return lambda: torch.mm(a, b)

    assert found(multiplying(13), tmp_path)["unaligned_matmul"] == 3
    assert "unaligned_matmul" not in found(multiplying(16), tmp_path)


def test_a_tensor_that_is_filled_and_then_moved(tmp_path: Path) -> None:
    assert found(lambda: torch.zeros(16).to("cpu", copy=True), tmp_path)["created_on_host"] == 3
    assert "created_on_host" not in found(lambda: torch.zeros(16).add(1).to("cpu", copy=True), tmp_path)


def test_memory_that_is_not_there(tmp_path: Path) -> None:
    def step() -> None:
        with pytest.raises(RuntimeError, match="allocate"):
            torch.ones(64, 64).repeat(10**8, 10**4)

    failed = found(step, tmp_path, profile_memory=True)
    assert failed["out_of_memory"] == 3
    assert "out_of_memory" not in found(lambda: torch.ones(64), tmp_path, profile_memory=True)


def training(keep: Callable[[list[Any], Any, Any], None], folder: Path) -> list[tuple[str, int, str, float]]:
    """Leaks of ten steps that keep something of each."""
    kept: list[Any] = []
    first, last = torch.nn.Linear(64, 256), torch.nn.Linear(256, 8)
    optimizer = torch.optim.Adam([*first.parameters(), *last.parameters()])

    def step() -> None:
        hidden = torch.relu(first(torch.randn(128, 64)))
        loss = last(hidden).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        keep(kept, hidden, loss)

    # Only a profiler with a schedule records its steps.
    options: dict[str, Any] = {
        "schedule": torch.profiler.schedule(wait=0, warmup=0, active=10, repeat=1),
        "with_stack": True,
    }
    path = folder / "trace.json"
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU],
        on_trace_ready=lambda prof: prof.export_chrome_trace(str(path)),
        profile_memory=True,
        **options,
    ) as prof:
        for _ in range(10):
            step()
            prof.step()
    found = ks.read(path).findings().select("finding", "subject", "count", "detail", "confidence").rows()
    return [(row[1], row[2], row[3], row[4]) for row in found if row[0] == "memory_leak"]


def keep_two(kept: list[Any], hidden: Any, _: Any) -> None:
    kept.append(hidden.detach())
    del kept[:-2]


def test_memory_that_each_step_keeps(tmp_path: Path) -> None:
    leaks = training(lambda kept, hidden, _: kept.append(hidden.detach()), tmp_path)
    assert len(leaks) == 1
    subject, count, detail, confidence = leaks[0]
    assert "test_findings_torch.py" in subject
    assert subject.endswith(": step")
    # 128 rows of 256 floats.
    assert detail.startswith("128.0 KiB per iteration on cpu, in ")
    # Neither the first step counts, nor the last, nor those that are slow as they warm up.
    assert 2 <= count <= 8
    assert confidence == pytest.approx(0.8 * count / (count + 2))
    assert training(lambda kept, _, loss: kept.append(loss.item()), tmp_path) == []
    # A list that keeps the last two steps does not grow.
    assert training(keep_two, tmp_path) == []
