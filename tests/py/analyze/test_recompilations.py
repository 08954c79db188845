"""Recompilations of a function, and the guards that caused them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import kinetoscope as ks
import pytest

PROGRAM = """
import sys, torch
import kinetoscope as ks

@torch.compile(backend="eager")
def doubled(batch):
    return batch * 2

doubled(torch.randn(4, 8))
with ks.profile(sys.argv[1], active=2, execution_trace=False) as prof:
    for size in (4, 5):
        doubled(torch.randn(size, 8))
        prof.step()
"""


@pytest.mark.torch
def test_the_guard_is_named(tmp_path: Path) -> None:
    environment = os.environ | {"TORCH_TRACE": str(tmp_path / "logs")}
    subprocess.run([sys.executable, "-c", PROGRAM, tmp_path / "run"], env=environment, check=True, capture_output=True)
    trace = ks.read(next((tmp_path / "run").glob("kineto_trace_*")))
    [bare] = details(trace)
    assert bare == "compiled 1 time"
    [told] = details(trace.with_kernel_sources(tmp_path / "logs"))
    assert told == "compiled 1 time; 0/1: tensor 'batch' size mismatch at index 0. expected 4, actual 5"


def details(trace: ks.Trace) -> list[object]:
    """The details of all findings about recompilation."""
    rows = trace.findings().select("finding", "detail").rows()
    return [detail for finding, detail in rows if finding == "recompilation"]
