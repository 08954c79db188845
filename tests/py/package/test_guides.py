"""Runs the Python code of the guides on traces of this repository."""

from __future__ import annotations

import gzip
import random
import re
import shutil
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
from support import gate_runs

ROOT = Path(__file__).parents[3]
DATA = ROOT / "tests/data"
GUIDES = [ROOT / "docs/start.md", *sorted((ROOT / "docs/howto").glob("*.md"))]
PACKAGES = {"trackers.md": ("mlflow", "tensorboard")}
"""Packages that a guide needs beside those of the tests."""
FILES = {
    "trace.json.gz": "transformer_cuda/kineto_trace_0.json.gz",
    "before.json.gz": "inference_cuda/compiled/kineto_trace_0.json.gz",
    "after.json.gz": "inference_cuda/replayed/kineto_trace_0.json.gz",
    "served.json.gz": "decode_cuda/serving/kineto_trace_0.json.gz",
    "capture.json.gz": "decode_cuda/kineto_trace_0.json.gz",
    "job": "mlp_gloo",
    "dumps": "flight_ranks/gloo",
}
"""Files that the guides name."""


def code_of(markdown: str) -> str:
    """All blocks of Python, one after another: a block may use the names of those above."""
    return "\n".join(re.findall(r"^```python\n(.*?)^```$", markdown, re.MULTILINE | re.DOTALL))


def training() -> dict[str, Any]:
    """A loop for the guides that record."""
    import torch

    model = torch.nn.Linear(4, 4)
    return {"loader": [torch.randn(2, 4) for _ in range(8)], "train_step": lambda batch: model(batch).sum().backward()}


def write_runs(folder: Path, factor: float) -> None:
    """Two runs for the gate, of which the second takes so many times as long."""
    for name, slower in (("before", 1.0), ("after", factor)):
        content = gate_runs.run(random.Random(name), 20, gate_runs.normal(0.01), {"aten::mm": slower})
        (folder / f"{name}.json.gz").write_bytes(gzip.compress(content))


@pytest.mark.torch
@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.stem)
def test_the_code_of_a_guide_runs(guide: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in PACKAGES.get(guide.name, ()):
        pytest.importorskip(package)
        warnings.simplefilter("ignore")  # its own deprecations are not ours; pytest restores the filters
    code = code_of(guide.read_text(encoding="utf-8"))
    if not code:
        pytest.skip("has no code of Python")
    for name, source in FILES.items():
        (shutil.copytree if (DATA / source).is_dir() else shutil.copy)(DATA / source, tmp_path / name)
    shutil.copy(DATA / "memory_cuda/failed.pickle.gz", tmp_path / "snapshot.pickle")
    if guide.stem == "memory":  # its trace is of the run of its snapshot
        shutil.copy(DATA / "memory_cuda/kineto_trace_0.json.gz", tmp_path / "trace.json.gz")
    shutil.copy(DATA / "memory_cuda/trained.pickle.gz", tmp_path / "later.pickle")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [guide.name])
    run = compile(code, guide.name, "exec")
    if guide.stem == "compare-in-ci":  # its gate: the second trace is not slower
        write_runs(tmp_path, 1.5)
        with pytest.raises(SystemExit, match="1"):
            exec(run, training())  # noqa: S102 - our own guides
        write_runs(tmp_path, 1.0)
    exec(run, training())  # noqa: S102 - our own guides
