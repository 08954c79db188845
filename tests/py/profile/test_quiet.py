"""A recording prints nothing of torch's C++ libraries, which notebooks would show in red."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.torch

CODE = """
import sys, torch, kinetoscope as ks
with ks.profile(sys.argv[1], wait=1, warmup=1, active=2) as prof:
    for _ in range(6):
        torch.ones(3).add(1)
        prof.step()
assert len(prof.files) == 2
"""


def stderr(folder: Path, code: str = CODE, **variables: str) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_LOG_LEVEL")} | variables
    command = [sys.executable, "-c", code, str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stderr


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without a GPU")
def test_without_a_gpu(tmp_path: Path) -> None:
    assert stderr(tmp_path) == ""


def test_levels_of_the_user_count(tmp_path: Path) -> None:
    said = stderr(tmp_path, KINETO_LOG_LEVEL="0", TORCH_CPP_LOG_LEVEL="INFO")
    assert "Completed Stage: Collection" in said
    assert "Enabling Execution Trace Observer" in said


def test_levels_are_restored(tmp_path: Path) -> None:
    observe = "torch.profiler.ExecutionTraceObserver().register_callback(sys.argv[1] + '/et.json')"
    said = stderr(tmp_path, f"{CODE}\nobserver = {observe}\nobserver.start()\nobserver.stop()\n")
    assert said.count("Enabling Execution Trace Observer") == 1


def test_errors_of_the_loop_are_printed(tmp_path: Path) -> None:
    code = CODE.replace("prof.step()", "prof.step(); torch.ones(3); print('own', file=sys.stderr)")
    assert stderr(tmp_path, code).count("own\n") == 6
