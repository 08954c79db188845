"""Helpers for tests of recordings: programs of several ranks, and contents of traces."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

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


def loop(prof: ks.profile, number: int) -> None:
    """Runs iterations of a small matrix product."""
    import torch

    for _ in range(number):
        torch.ones(4, 4).matmul(torch.ones(4, 4))
        prof.step()


def document(path: Path) -> dict[str, Any]:
    """The JSON of a file, plain or gzip."""
    return json.loads(gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes())


def steps(path: Path) -> set[str]:
    """The names of the iterations in a file of either kind."""
    content = document(path)
    rows = content["traceEvents"] if "traceEvents" in content else content["nodes"]
    return {row["name"] for row in rows if str(row.get("name")).startswith("ProfilerStep#")}


def iterations(trace: ks.Trace) -> list[int]:
    """The numbers of those whose times count: without observed ones, unless there are no others."""
    rows = trace.iterations.select("iteration", "is_observed").rows()
    return [number for number, is_observed in rows if not is_observed] or [number for number, _ in rows]


def observed(trace: ks.Trace) -> list[int]:
    """The numbers of those in which the observer of the Execution Trace ran."""
    return [number for number, is_observed in trace.iterations.select("iteration", "is_observed").rows() if is_observed]
