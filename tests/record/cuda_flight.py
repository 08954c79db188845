"""Records tests/data/flight_cuda: NCCL's flight recorder, of one rank with two process groups, in both its forms.

python tests/record/cuda_flight.py
"""

from __future__ import annotations

import json
import os
import pickle
import tempfile
import time
from pathlib import Path

os.environ["TORCH_FR_BUFFER_SIZE"] = "200"

import torch
import torch.distributed as dist
from scrub import REPOSITORY, relative
from torch._C import _distributed_c10d as c10d

FOLDER = REPOSITORY / "tests/data/flight_cuda"
ELEMENTS = 1 << 16


def exchange(group: dist.ProcessGroup) -> None:
    given = torch.randn(ELEMENTS, device="cuda")
    dist.all_reduce(given)
    dist.all_gather_into_tensor(torch.empty_like(given), given)
    dist.broadcast(given, 0, group=group)
    pending = dist.all_reduce(given, group=group, async_op=True)
    assert pending is not None
    pending.wait()


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        store = dist.FileStore(str(Path(folder) / "store"), 1)
        dist.init_process_group("nccl", rank=0, world_size=1, store=store, device_id=torch.device("cuda:0"))
        group = dist.new_group([0], group_desc="tensor_parallel")
        for _ in range(3):
            exchange(group)
        dist.barrier()
        torch.cuda.synchronize()
        time.sleep(2)  # until the watchdog has seen all of them end
        dump = relative(pickle.loads(c10d._dump_nccl_trace()))  # noqa: S301 - made by this process
        (FOLDER / "nccl_trace_rank_0.pickle").write_bytes(pickle.dumps(dump))
        text = relative(json.loads(c10d._dump_nccl_trace_json()))
        (FOLDER / "nccl_trace_rank_0.json").write_text(json.dumps(text, indent=1) + "\n")
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
