"""Records tests/data/pipeline_gloo: three stages of a pipeline on CPU ranks, with two schedules.

torchrun --standalone --nproc-per-node 3 tests/record/pipeline.py
"""

from __future__ import annotations

import kinetoscope as ks
import torch
import torch.distributed as dist
from scrub import REPOSITORY, scrub_folder
from torch import nn
from torch.distributed.pipelining import PipelineStage, Schedule1F1B, ScheduleInterleaved1F1B

FOLDER = REPOSITORY / "tests/data/pipeline_gloo"
WIDTH, BATCH, MICRO_BATCHES = 256, 64, 6


def record(name: str, num_chunks: int) -> None:
    """Records a step of a schedule in which each rank has so many parts of the model."""
    rank, num_ranks = dist.get_rank(), dist.get_world_size()
    parts = [nn.Sequential(*(nn.Linear(WIDTH, WIDTH) for _ in range(2))) for _ in range(num_chunks)]
    device = torch.device("cpu")
    stages = [
        PipelineStage(part, rank + chunk * num_ranks, num_ranks * num_chunks, device)
        for chunk, part in enumerate(parts)
    ]
    loss = nn.functional.mse_loss
    schedule = (
        Schedule1F1B(stages[0], MICRO_BATCHES, loss_fn=loss)
        if num_chunks == 1
        else ScheduleInterleaved1F1B(stages, MICRO_BATCHES, loss_fn=loss)
    )
    optimizer = torch.optim.SGD([weight for part in parts for weight in part.parameters()], lr=0.01)
    with ks.profile(FOLDER / name, wait=1, warmup=1, active=1, execution_trace=False) as prof:
        for _ in range(3):
            optimizer.zero_grad()
            batch = torch.randn(MICRO_BATCHES * BATCH, WIDTH)
            inputs = (batch,) if rank == 0 else ()
            wanted = {"target": torch.zeros_like(batch), "losses": []} if rank == num_ranks - 1 else {}
            schedule.step(*inputs, **wanted)
            optimizer.step()
            prof.step()
    dist.barrier()
    if rank == 0:
        scrub_folder(FOLDER / name)


def main() -> None:
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    torch.manual_seed(dist.get_rank())
    record("1f1b", 1)
    record("interleaved", 2)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
