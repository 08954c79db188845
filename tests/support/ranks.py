"""Several processes as ranks of one job."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

LAUNCHER = [sys.executable, "-m", "torch.distributed.run", "--standalone"]


def launched(num_ranks: int, *program: object) -> subprocess.CompletedProcess[str]:
    """A program on so many ranks, to its end."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(_paths())}
    command = [*LAUNCHER, "--nproc-per-node", str(num_ranks), *map(str, program)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)


def recorded(num_ranks: int, script: Path, folder: Path) -> Path:
    """The folder, with what the ranks of a script recorded into it."""
    done = launched(num_ranks, script, folder)
    assert done.returncode == 0, done.stderr
    return folder


def _paths() -> list[str]:
    import kinetoscope

    scripts = Path(__file__).parents[1] / "record"
    return [str(Path(kinetoscope.__file__).parents[1]), str(scripts), *filter(None, [os.environ.get("PYTHONPATH")])]
