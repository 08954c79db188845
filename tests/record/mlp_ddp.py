"""Records tests/data/mlp_gloo: an MLP under DistributedDataParallel on two CPU ranks.

torchrun --standalone --nproc-per-node 2 tests/record/mlp_ddp.py
"""

from __future__ import annotations

import gc

import kinetoscope as ks
import torch
import torch.distributed as dist
from scrub import REPOSITORY, scrub_folder
from torch import nn
from torch.nn.parallel import DistributedDataParallel

FOLDER = REPOSITORY / "tests/data/mlp_gloo"


def main() -> None:
    dist.init_process_group("gloo")
    torch.manual_seed(dist.get_rank())
    model = DistributedDataParallel(nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 16)), bucket_cap_mb=1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    with ks.profile(FOLDER, wait=1, warmup=1, active=3) as prof:
        for _ in range(6):
            optimizer.zero_grad()
            model(torch.randn(32, 64)).square().mean().backward()
            optimizer.step()
            prof.step()
    dist.barrier()
    if dist.get_rank() == 0:
        scrub_folder(FOLDER)
    del model  # its threads must not outlive the interpreter
    gc.collect()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
