"""Records tests/data/compiled_cuda: a model under `torch.compile` in training, whose kernels Inductor makes.

python tests/record/cuda_compiled.py
"""

from __future__ import annotations

import os
import shutil

from scrub import REPOSITORY, scrub_folder

CACHE = REPOSITORY / "target/inductor"
os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(CACHE)  # inside the repository, so that its paths become relative

import kinetoscope as ks  # noqa: E402 - the cache's place is read on import
import torch  # noqa: E402 - as above
from torch import nn  # noqa: E402 - as above

FOLDER = REPOSITORY / "tests/data/compiled_cuda"
WIDTH, BATCH = 256, 64


class Block(nn.Module):
    """A residual block whose pointwise parts Inductor fuses into kernels of Triton."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.wide = nn.Linear(WIDTH, 4 * WIDTH)
        self.narrow = nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        """(batch, width), like its input."""
        return batch + self.narrow(nn.functional.gelu(self.wide(self.norm(batch))))


def main() -> None:
    shutil.rmtree(CACHE, ignore_errors=True)
    torch.manual_seed(0)
    model = nn.Sequential(Block(), Block()).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    compiled = torch.compile(model)
    batch = torch.randn(BATCH, WIDTH, device="cuda")
    with ks.profile(FOLDER, wait=1, warmup=1, active=2) as prof:
        for _ in range(4):
            optimizer.zero_grad()
            compiled(batch).square().mean().backward()
            optimizer.step()
            prof.step()
    shutil.rmtree(FOLDER / "torch_et_0.json_resources")  # Inductor's text, of no use here
    scrub_folder(FOLDER)


if __name__ == "__main__":
    main()
