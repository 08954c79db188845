"""Memory timelines as the torch at hand exports them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest

torch: Any = pytest.importorskip("torch")

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")]


def test_the_numbers_are_those_of_torch() -> None:
    from torch.profiler import _memory_profiler

    profiler: Any = _memory_profiler
    names = ["unknown" if category is None else category.name.lower() for category in profiler._CATEGORY_TO_INDEX]
    columns = _read(b"[[-1, 1, 8, 7]]").sizes.columns
    assert columns == ["time_ns", "total_bytes", *(f"{name}_bytes" for name in names)]
    for action in profiler.Action:
        found = _read(f"[[0, {profiler._ACTION_TO_INDEX[action]}, 8, 7]]".encode()).actions.select("action").rows()
        assert found == [(action.name.lower(),)]


def test_what_torch_exports_now(tmp_path: Path) -> None:
    model = torch.nn.Linear(8, 4)
    with torch.profiler.profile(profile_memory=True, record_shapes=True, with_stack=True) as prof:
        model(torch.ones(2, 8)).sum().backward()
    coarse, raw = tmp_path / "memory.json", tmp_path / "memory.raw.json.gz"
    for path in (coarse, raw):
        prof.export_memory_timeline(str(path), device="cpu")
    times, sizes = json.loads(coarse.read_bytes())
    expected = [(time * 1000, sum(row), *row[1:]) for time, row in zip(times, sizes, strict=True)]
    assert _read(coarse.read_bytes()).sizes.rows() == expected
    actions = json.loads(gzip.decompress(raw.read_bytes()))
    timeline = _read(raw.read_bytes())
    assert [size for (size,) in timeline.actions.select("size_bytes").rows()] == [size for _, _, size, _ in actions]
    assert timeline.sizes.rows()[-1][1:] == expected[-1][1:]


def test_peaks_are_those_of_torch(tmp_path: Path) -> None:
    """Of the memory that is allocated while recording; torch's timeline adds the tensors that were there before."""
    model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 64))
    optimizer = torch.optim.Adam(model.parameters())
    with torch.profiler.profile(profile_memory=True, record_shapes=True, with_stack=True) as prof:
        for _ in range(3):
            optimizer.zero_grad()
            model(torch.randn(32, 64)).square().mean().backward()
            optimizer.step()
    raw, path = tmp_path / "memory.raw.json.gz", tmp_path / "trace.json"
    prof.export_memory_timeline(str(raw), device="cpu")
    prof.export_chrome_trace(str(path))
    theirs = _read(raw.read_bytes())
    totals = [total for (total,) in theirs.sizes.select("total_bytes").rows()]
    actions = theirs.actions.select("action", "size_bytes").rows()
    before = sum(size for action, size in actions if action == "preexisting")
    trace = ks.read(path)
    assert isinstance(trace, ks.Trace)
    ((first, peak, last),) = trace.memory().select("first_bytes", "peak_allocated_bytes", "last_bytes").rows()
    assert peak - first == max(totals) - before
    assert last - first == totals[-1] - before
    categories = dict(trace.memory().tables["memory_categories"].select("category", "kept_bytes").rows())
    state = sum(tensor.nbytes for entry in optimizer.state.values() for tensor in entry.values())
    assert categories["optimizer_state"] == state
    gradients = sum(parameter.grad.nbytes for parameter in model.parameters())
    assert categories["gradient"] == gradients
    of_timeline = theirs.memory().select("category", "at_peak_bytes").rows()
    assert of_timeline[0] == ("total", max(totals))


def _read(content: bytes) -> ks.MemoryTimeline:
    timeline = ks.read(content)
    assert isinstance(timeline, ks.MemoryTimeline)
    return timeline
