"""Records tests/data/nccl_cuda: one rank on NCCL, DistributedDataParallel and each collective once an iteration.

torchrun --standalone --nproc-per-node 1 tests/record/cuda_nccl.py
"""

from __future__ import annotations

import kinetoscope as ks
import torch
import torch.distributed as dist
from scrub import REPOSITORY, scrub_folder
from torch import nn
from torch.nn.parallel import DistributedDataParallel

FOLDER = REPOSITORY / "tests/data/nccl_cuda"
WIDTH, BATCH = 512, 64
ELEMENTS = 1 << 16


def exchange(group: dist.ProcessGroup) -> None:
    """Each collective once, some waited for later, some of a group of its own, two of them coalesced."""
    given = torch.randn(ELEMENTS, device="cuda")
    taken = torch.empty_like(given)
    size = dist.get_world_size()
    pending = dist.all_reduce(given, async_op=True)
    dist.all_gather_into_tensor(torch.empty(size * ELEMENTS, device="cuda"), given)
    dist.reduce_scatter_tensor(torch.empty(ELEMENTS // size, device="cuda"), given)
    dist.all_to_all_single(taken, given)
    dist.broadcast(taken, 0, group=group)
    dist.all_reduce(taken[: ELEMENTS // 2], op=dist.ReduceOp.MAX, group=group)
    with dist._coalescing_manager(group=None, device=torch.device("cuda"), async_ops=True) as both:
        dist.all_reduce(given[: ELEMENTS // 2])
        dist.all_reduce(given[ELEMENTS // 2 :])
    both.wait()
    assert pending is not None
    pending.wait()
    dist.barrier()


def main() -> None:
    dist.init_process_group("nccl", device_id=torch.device("cuda:0"))
    torch.manual_seed(0)
    group = dist.new_group([0])
    model = nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.ReLU(), nn.Linear(2 * WIDTH, WIDTH)).cuda()
    parallel = DistributedDataParallel(model, device_ids=[0], bucket_cap_mb=1)
    optimizer = torch.optim.SGD(parallel.parameters(), lr=0.1, momentum=0.9)
    with ks.profile(FOLDER, wait=1, warmup=1, active=2) as prof:
        for _ in range(4):
            optimizer.zero_grad()
            parallel(torch.randn(BATCH, WIDTH, device="cuda")).square().mean().backward()
            optimizer.step()
            exchange(group)
            prof.step()
    scrub_folder(FOLDER)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
