"""Values of replayed tensors: a trace has only shapes, so a replay makes values that fit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from kinetoscope.replaying.operators.filling import Filling
from kinetoscope.replaying.operators.index_range import IndexRange
from kinetoscope.replaying.operators.result import OperatorReplay
from support.models import record_step

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


FEW: dict[str, Any] = {"warmup_iter": 1, "num_replays": 2}


def replayed(folder: Path, **options: Any) -> OperatorReplay:
    found = ks.replay(folder, **{**FEW, **options})
    assert isinstance(found, OperatorReplay)
    return found


def left_out(result: OperatorReplay) -> list[tuple[str, str]]:
    return [row for row in result.select("name", "reason").rows() if row[1]]


def expect_all(folder: Path, step: Callable[[], object], **options: Any) -> OperatorReplay:
    """Records a step, and expects that all of its operators run, as the dry run says."""
    record_step(step, folder)
    assert left_out(replayed(folder, dry_run=True)) == []
    result = replayed(folder, **options)
    assert left_out(result) == []
    assert not any("another shape" in note for note in result.notes)
    return result


# --- whole numbers that the step makes itself ---------------------------------------------------------------------


def labels() -> object:
    x = torch.randn(6, 1, 6)
    loss = torch.nn.functional.ctc_loss(x, torch.tensor([[1, 2]]), torch.tensor([6]), torch.tensor([2]))
    return loss, torch.nn.functional.one_hot(torch.tensor([1, 2]), 5)


def repeats() -> object:
    x = torch.randn(3, 4)
    return torch.repeat_interleave(x, torch.tensor([2, 1, 3]), 0), torch.repeat_interleave(torch.tensor([0, 4]))


def segments() -> object:
    x = torch.randn(6, 2)
    by_length = torch.segment_reduce(x, "sum", lengths=torch.tensor([1, 2, 3]))
    return by_length, torch.segment_reduce(x, "sum", offsets=torch.tensor([0, 2, 6]))


def jagged() -> object:
    offsets = [torch.tensor([0, 2, 6])]
    padded = torch.ops.aten._jagged_to_padded_dense_forward(torch.randn(6, 3), offsets, [4])
    return torch.ops.aten._padded_dense_to_jagged_forward(padded, offsets, 6)


def packed() -> object:
    x = torch.randn(5, 3, 8, requires_grad=True)
    found = torch.nn.utils.rnn.pack_padded_sequence(x, torch.tensor([5, 4, 2]))
    torch.nn.utils.rnn.pad_packed_sequence(found)[0].sum().backward()
    return found


def positions() -> object:
    x = torch.randn(1, 1, 6, 6)
    pooled, at = torch.nn.functional.max_pool2d(x, 2, return_indices=True)
    unpooled = torch.nn.functional.max_unpool2d(pooled, at, 2)
    counts = torch.bincount(torch.tensor([0, 2, 2, 5]))
    return unpooled, counts, x.view(6, 6).gather(1, torch.tensor([[5, 0]])), torch.tensor([3, 1])[torch.tensor([1])]


def masks() -> object:
    w = torch.randn(6, 4, requires_grad=True)
    mask = torch.tensor([True, False, True, True, False, False])
    chosen = w[mask].sum() + w.masked_scatter(mask.view(6, 1), torch.ones(12)).sum()
    chosen.backward()
    return chosen, mask.nonzero(), torch.masked_select(w, mask.view(6, 1))


@pytest.mark.parametrize(
    "step", [labels, repeats, segments, jagged, packed, positions, masks], ids=lambda step: step.__name__
)
def test_numbers_without_values_fit(tmp_path: Path, step: Callable[[], object]) -> None:
    expect_all(tmp_path / "trace", step)


def test_making_values_is_not_recorded(tmp_path: Path) -> None:
    expect_all(tmp_path / "trace", labels, profile=tmp_path / "again", num_replays=1)
    changes = ks.diff(ks.read_dir(tmp_path / "trace")[0], ks.read_dir(tmp_path / "again")[0])
    statuses = changes.tables["diff_nodes"].select("status").rows()
    assert ("added",) not in statuses
    assert ("removed",) in statuses, "the composed operators"


def test_lengths_have_the_recorded_sum(tmp_path: Path) -> None:
    seen: list[list[int]] = []

    def expanded(numbers: Any, **_: Any) -> Any:
        seen.append(numbers.tolist())
        return torch.ops.aten.repeat_interleave.Tensor(numbers)

    record_step(repeats, tmp_path / "trace")
    result = replayed(tmp_path / "trace", replace={"aten::repeat_interleave": expanded})
    assert result.checks == ["aten::repeat_interleave replaced: compared 2 calls, all results agree"]
    assert {tuple(each) for each in seen} == {(2, 2, 2), (2, 2)}


def test_lengths_and_offsets_are_exact() -> None:
    filling = Filling(torch)
    descending = torch.zeros(5, dtype=torch.int64)
    known = IndexRange(4, low=1, total=11)
    assert not filling.fits(descending, known)
    filling.fit(descending, known)
    assert descending.tolist() == [4 - 1, 3, 3, 1, 1]
    assert filling.fits(descending, known)
    offsets = torch.tensor([3, 1, 0])
    assert not filling.fits(offsets, IndexRange(6, is_sorted=True))
    filling.fit(offsets, IndexRange(6, is_sorted=True, reaches_end=True))
    assert offsets.tolist() == [0, 3, 6]


def test_an_expanded_index_is_made_valid() -> None:
    index = torch.tensor([[7], [9]]).expand(2, 3)
    Filling(torch).fit(index, IndexRange(4))
    assert index.tolist() == [[3, 3, 3], [1, 1, 1]]


# --- values that a pass changes -----------------------------------------------------------------------------------


def test_values_do_not_drift_from_pass_to_pass(tmp_path: Path) -> None:
    w, at = torch.full((12, 8), 1e-30), torch.zeros(3, dtype=torch.int64)

    def step() -> object:
        w.mul_(1e15)
        at.add_(2)
        return torch.histc(w, 5), w.index_select(0, at)

    expect_all(tmp_path / "trace", step, num_replays=6)


def test_an_operator_that_fails_later_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kinetoscope.replaying.operators.machine import Machine

    x, calls = torch.rand(4), [0]
    record_step(lambda: x.relu() + x.exp(), tmp_path / "trace")

    def fails_later(given: Any) -> Any:
        calls[0] += 1
        if calls[0] > 1:
            raise RuntimeError("no more")
        return torch.ops.aten.relu.default(given)

    registered = Machine.operator
    monkeypatch.setattr(
        Machine,
        "operator",
        lambda self, signature: fails_later if signature.name == "relu" else registered(self, signature),
    )
    assert left_out(replayed(tmp_path / "trace")) == [("aten::relu", "it fails here: no more")]
    assert calls[0] == 2


# --- values that cannot be made -----------------------------------------------------------------------------------


def test_sparse_tensors_are_the_reason_of_their_operators(tmp_path: Path) -> None:
    table = torch.nn.Embedding(10, 4, sparse=True)
    optimizer = torch.optim.SparseAdam(table.parameters())

    def step() -> None:
        optimizer.zero_grad()
        table(torch.tensor([1, 2])).sum().backward()
        optimizer.step()

    record_step(step, tmp_path / "trace")
    dry, result = replayed(tmp_path / "trace", dry_run=True), replayed(tmp_path / "trace")
    assert left_out(dry) == left_out(result)
    assert {reason for _, reason in left_out(result)} == {"no storage is recorded (sparse, nested or functorch)"}
    assert result.coverage is not None
    assert result.coverage > 0.3
