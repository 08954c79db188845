"""A rank of two: `record FOLDER OUTPUT` trains and records, `replay FOLDER OUTPUT` replays that.

Rank 0 writes the median time of a step or of a pass, in seconds.
"""

from __future__ import annotations

import gc
import os
import sys
from importlib import import_module
from pathlib import Path

import kinetoscope as ks
import torch
import torch.distributed as dist
from replays import replayed, steps
from torch import nn

import_module("torch.distributed.nn")  # imported later, it keeps the process group and its threads


def record(folder: str) -> float:
    """Records an iteration, then measures others."""
    dist.init_process_group("gloo")
    seconds = _recorded(folder)
    gc.collect()
    dist.destroy_process_group()
    return seconds


def _recorded(folder: str) -> float:
    layers = [nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 16)]
    model = nn.parallel.DistributedDataParallel(nn.Sequential(*layers))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    batch = torch.randn(256, 256)

    def step() -> None:
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()

    with ks.profile(folder, wait=1, warmup=1, active=1, execution_trace="same", profile_memory=True) as prof:
        for _ in range(3):
            step()
            prof.step()
    seconds = steps(step, dist.barrier)
    dist.barrier()
    return seconds


def main(part: str, folder: str, output: str) -> None:
    """Runs a part, and writes its time."""
    seconds = record(folder) if part == "record" else replayed(Path(folder))
    if os.environ["RANK"] == "0":
        Path(output).write_text(str(seconds))


if __name__ == "__main__":
    main(*sys.argv[1:])
