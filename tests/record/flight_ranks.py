"""Records tests/data/flight_ranks: dumps of the flight recorder of several ranks, on a CPU.

`gloo`: three processes, of which rank 2 does not call the third all-reduce; with their Kineto traces. `hook`: PyTorch's
recorder for any backend, on a backend that moves no data: four ranks with a subgroup, sends and receives, of which
rank 2 calls an all-reduce where the others call an all-gather. Rank 1 sends to rank 3, which never receives.

python tests/record/flight_ranks.py
"""

from __future__ import annotations

import os
import pickle
import sys
import tempfile
from pathlib import Path

os.environ["TORCH_FR_BUFFER_SIZE"] = "200"

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from scrub import REPOSITORY, relative, scrub
from torch._C import _distributed_c10d as c10d
from torch.testing._internal.distributed.fake_pg import FakeStore

FOLDER = REPOSITORY / "tests/data/flight_ranks"
GLOO_RANKS = 3
HOOK_RANKS = 4


def write_dump(folder: str, rank: int, backend: str) -> None:
    path = FOLDER / folder / f"trace_rank_{rank}"
    path.parent.mkdir(parents=True, exist_ok=True)
    dump = pickle.loads(c10d._dump_fr_trace(backend=backend))  # noqa: S301 - made by this process
    path.write_bytes(pickle.dumps(relative(dump), 2))


def record_gloo(rank: int, path: str) -> None:
    torch.set_num_threads(1)
    store = dist.FileStore(path, GLOO_RANKS)
    dist.init_process_group("gloo", rank=rank, world_size=GLOO_RANKS, store=store)
    pair = dist.new_group([0, 1], group_desc="pair")
    with torch.profiler.profile(record_shapes=True) as profiler:
        for _ in range(2):
            dist.all_reduce(torch.ones(4))
        if rank in (0, 1):
            dist.all_gather([torch.ones(2), torch.ones(2)], torch.ones(2), group=pair)
            dist.broadcast(torch.ones(4), 0, group=pair)
        pending = dist.all_reduce(torch.ones(8), async_op=True) if rank in (0, 1) else None
    write_dump("gloo", rank, "gloo")
    trace = FOLDER / f"gloo/kineto_trace_{rank}.json.gz"
    profiler.export_chrome_trace(str(trace))
    scrub(trace)
    store.set(f"dumped {rank}", "1")
    store.wait([f"dumped {rank}" for rank in range(GLOO_RANKS)])
    if pending is None:
        dist.all_reduce(torch.ones(8))
    else:
        pending.wait()
    dist.destroy_process_group()


def record_hook(rank: int) -> None:
    dist.init_process_group("fake", rank=rank, world_size=HOOK_RANKS, store=FakeStore())
    world = dist.group.WORLD
    assert world is not None
    hooks = [c10d.FlightRecorderHook.attach(world, list(range(HOOK_RANKS)))]
    pair = dist.new_group([1, 3], group_desc="pair")
    if rank in (1, 3):
        hooks.append(c10d.FlightRecorderHook.attach(pair, [1, 3]))
    data = torch.ones(4)
    dist.all_reduce(data)
    if rank in (1, 3):
        dist.all_to_all_single(torch.ones(4), torch.ones(4), group=pair)
        dist.reduce_scatter_tensor(torch.ones(2), torch.ones(4), group=pair)
    if rank == 0:
        dist.send(data, 1)
    if rank == 1:
        dist.recv(data, 0)
        dist.send(data, 3)
    if rank == 2:
        dist.all_reduce(data)
    else:
        dist.all_gather_into_tensor(torch.ones(16), data)
    dist.barrier()
    write_dump("hook", rank, "fake")
    hooks.clear()
    dist.destroy_process_group()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(record_gloo, (str(Path(folder) / "store"),), GLOO_RANKS)
    for rank in range(HOOK_RANKS):  # each is a process of its own
        mp.spawn(hook_alone, (rank,), 1)


def hook_alone(_: int, rank: int) -> None:
    record_hook(rank)


if __name__ == "__main__":
    sys.exit(main())
