"""Helpers for tests of recordings: programs of several ranks, and contents of traces."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    import kinetoscope as ks


def launch(script: Path, *arguments: Path | str) -> str:
    """Runs a program on two ranks, as torchrun does; what it printed."""
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    command = [*launcher, str(script), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def iterations(trace: ks.Trace) -> list[int]:
    """The numbers of those that were recorded."""
    return [number for (number,) in trace.iterations.select("iteration").rows()]
