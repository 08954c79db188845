"""Graph breaks of a model that torch compiled."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import kinetoscope as ks
import pytest

if TYPE_CHECKING:
    import torch


def recorded(folder: Path, function: Any) -> ks.Trace:
    """Two calls of the compiled function, after those that compile it."""
    import torch

    compiled = torch.compile(function, backend="eager")
    batch = torch.randn(8, 8)
    for _ in range(2):
        compiled(batch)
    with ks.profile(folder, warmup=1, active=2, with_stack=True, execution_trace=False) as prof:
        for _ in range(3):
            compiled(batch)
            prof.step()
    return ks.read(next(folder.glob("kineto_trace_*")))


@pytest.mark.torch
def test_a_break_is_named_by_its_line(tmp_path: Path) -> None:
    def forward(batch: torch.Tensor) -> torch.Tensor:
        positive = batch.relu().sum().item() > 0
        return batch * 2 if positive else batch

    line = forward.__code__.co_firstlineno + 1
    found = recorded(tmp_path, forward).findings().select("finding", "subject", "count").rows()
    [(_, subject, count)] = [row for row in found if row[0] == "graph_break"]
    assert subject.endswith(f"test_graph_breaks.py({line}): forward")
    assert count == 2


@pytest.mark.torch
def test_a_whole_graph_has_no_break(tmp_path: Path) -> None:
    import torch

    def forward(batch: torch.Tensor) -> torch.Tensor:
        return torch.relu(batch) * 2

    found = recorded(tmp_path, forward).findings().select("finding").rows()
    assert ("graph_break",) not in found
