"""Records tests/data/graph_cuda: training steps that are replays of a CUDA graph, with copies before and after them.

python tests/record/cuda_graph.py
"""

from __future__ import annotations

import kinetoscope as ks
import torch
from scrub import REPOSITORY, scrub_folder
from torch import nn

FOLDER = REPOSITORY / "tests/data/graph_cuda"
WIDTH, BATCH = 256, 64
WARMUPS = 3


def main() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.Linear(WIDTH, WIDTH)).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, capturable=True)
    batch = torch.zeros(BATCH, WIDTH, device="cuda")

    def step() -> torch.Tensor:
        optimizer.zero_grad(set_to_none=True)
        loss = model(batch).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(WARMUPS):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = step()

    with ks.profile(FOLDER, wait=1, warmup=1, active=3) as prof:
        for _ in range(5):
            batch.copy_(torch.randn(BATCH, WIDTH).pin_memory(), non_blocking=True)
            graph.replay()
            loss.item()
            prof.step()
    scrub_folder(FOLDER)


if __name__ == "__main__":
    main()
