"""Records every sort of communication over gloo, on as many ranks as are started, into a folder.

torchrun --standalone --nproc-per-node 4 tests/record/communications.py FOLDER
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import kinetoscope as ks
import torch
import torch.distributed as dist
from torch.distributed import _functional_collectives as functional

ELEMENTS = 1200
FEW = 30


def main() -> None:
    warnings.simplefilter("ignore", FutureWarning)  # two of the calls will have other names
    dist.init_process_group("gloo")
    size = dist.get_world_size()
    first, last = dist.new_group([0, 1]), dist.new_group([size - 2, size - 1])
    with ks.profile(sys.argv[1], wait=0, warmup=1, active=2, repeat=1, execution_trace="same") as prof:
        for _ in range(3):
            collectives()
            rooted()
            pairs()
            groups(first, last)
            crossed(last)
            prof.step()
    dist.destroy_process_group()


def collectives() -> None:
    rank, size = dist.get_rank(), dist.get_world_size()
    given = torch.ones(ELEMENTS)
    listed = [torch.empty(ELEMENTS) for _ in range(size)]
    dist.all_reduce(given)
    pending: Any = dist.all_reduce(torch.ones(ELEMENTS, dtype=torch.int64), async_op=True)
    dist.all_gather(listed, given)
    pending.wait()
    dist.all_gather_into_tensor(torch.empty(size * ELEMENTS), given)
    dist.reduce_scatter_tensor(torch.empty(ELEMENTS // size), given)
    dist.reduce_scatter(torch.empty(ELEMENTS), listed)
    uneven = [(rank + other) % size + 1 for other in range(size)]
    dist.all_to_all_single(torch.empty(sum(uneven), 2), torch.ones(sum(uneven), 2), uneven, uneven)
    dist.all_to_all_single(torch.empty(ELEMENTS), given)
    dist.all_to_all([torch.empty(6) for _ in range(size)], [torch.ones(6) for _ in range(size)])
    dist.all_reduce_coalesced([torch.ones(3), torch.ones(5)])
    functional.all_reduce(torch.ones(11), "max", dist.group.WORLD).add(1)
    dist.barrier()


def rooted() -> None:
    rank, size = dist.get_rank(), dist.get_world_size()
    given = torch.ones(ELEMENTS)
    listed = [torch.ones(ELEMENTS) for _ in range(size)]
    dist.broadcast(given, src=1)
    dist.reduce(given, dst=1)
    dist.gather(given, listed if rank == 0 else None, dst=0)
    dist.scatter(given, listed if rank == 1 else None, src=1)


def pairs() -> None:
    rank = dist.get_rank()
    if rank > 1:
        return
    other, few = 1 - rank, torch.ones(FEW)
    if rank == 0:
        dist.send(few, other)
        dist.recv(few[:20], other)
    else:
        dist.recv(few, other)
        dist.send(few[:20], other)
    calls = [dist.P2POp(dist.isend, torch.ones(40), other), dist.P2POp(dist.irecv, torch.empty(40), other)]
    for work in dist.batch_isend_irecv(calls):
        work.wait()


def groups(first: dist.ProcessGroup, last: dist.ProcessGroup) -> None:
    rank, size = dist.get_rank(), dist.get_world_size()
    if rank <= 1:
        dist.all_reduce(torch.ones(7, dtype=torch.int32), group=first)
    if rank >= size - 2:
        dist.all_reduce(torch.ones(9), group=last)
        dist.broadcast(torch.ones(9), src=size - 2, group=last)


def crossed(last: dist.ProcessGroup) -> None:
    """Takes what was sent later first, and what comes from anyone; and sends to a place of a group."""
    rank, size = dist.get_rank(), dist.get_world_size()
    small, large = torch.ones(16), torch.ones(17)
    if rank == 0:
        pending = [dist.isend(small, 1, tag=1), dist.isend(large, 1, tag=2)]
        dist.recv(torch.empty(18))
    elif rank == 1:
        pending = [dist.irecv(large, 0, tag=2), dist.irecv(small, 0, tag=1)]
        dist.send(torch.ones(18), 0)
    else:
        pending = []
    for work in pending:
        work.wait()
    if rank == size - 1:
        dist.send(torch.ones(19), size - 2, group=last)
    elif rank == size - 2:
        dist.recv(torch.empty(19), size - 1, group=last)


if __name__ == "__main__":
    main()
