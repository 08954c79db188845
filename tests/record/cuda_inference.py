"""Records tests/data/inference_cuda: two blocks under `torch.compile`, without gradients.

`compiled` has kernels of Triton, with their sources. `replayed` has them as CUDA graphs (`mode="reduce-overhead"`), and
`captured` the warm-up and the capture of these graphs.

python tests/record/cuda_inference.py
"""

from __future__ import annotations

import os

from scrub import REPOSITORY, scrub_folder

os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(REPOSITORY / "target/inductor")  # its paths become relative

import kinetoscope as ks
import torch
from torch import nn

FOLDER = REPOSITORY / "tests/data/inference_cuda"
WIDTH, BATCH = 256, 64


class Norm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(WIDTH))

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        """(batch, width), like its input."""
        exact = batch.float()
        return (exact * torch.rsqrt(exact.pow(2).mean(-1, keepdim=True) + 1e-6)).to(batch.dtype) * self.weight


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = Norm()
        self.gate, self.up = nn.Linear(WIDTH, 4 * WIDTH, bias=False), nn.Linear(WIDTH, 4 * WIDTH, bias=False)
        self.down = nn.Linear(4 * WIDTH, WIDTH, bias=False)

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        """(batch, width), like its input."""
        hidden = self.norm(batch)
        return batch + self.down(nn.functional.silu(self.gate(hidden)) * self.up(hidden))


@torch.no_grad()
def main() -> None:
    model = nn.Sequential(Block(), Block()).cuda().half()
    batch = torch.randn(BATCH, WIDTH, device="cuda").half()
    compiled = torch.compile(model)
    compiled(batch)
    with ks.profile(FOLDER / "compiled", warmup=1, active=2, with_stack=True) as prof:
        for _ in prof.steps(range(3)):
            compiled(batch)
    replayed = torch.compile(model, mode="reduce-overhead")
    with ks.profile(FOLDER / "captured"):
        for _ in range(4):
            torch.compiler.cudagraph_mark_step_begin()
            replayed(batch)
    with ks.profile(FOLDER / "replayed", warmup=1, active=3, with_stack=True) as prof:
        for _ in prof.steps(range(4)):
            torch.compiler.cudagraph_mark_step_begin()
            replayed(batch)
    for folder in sorted(FOLDER.iterdir()):
        scrub_folder(folder)


if __name__ == "__main__":
    main()
