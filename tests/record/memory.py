"""Records tests/data/memory_cpu: the memory timeline of one training step of a small model, in both of its forms.

python tests/record/memory.py
"""

from __future__ import annotations

import warnings

import torch
from scrub import REPOSITORY
from torch.profiler import ProfilerActivity, profile

FOLDER = REPOSITORY / "tests/data/memory_cpu"


def main() -> None:
    torch.manual_seed(0)
    FOLDER.mkdir(parents=True, exist_ok=True)
    model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8))
    optimizer = torch.optim.Adam(model.parameters())
    with profile(
        activities=[ProfilerActivity.CPU], profile_memory=True, record_shapes=True, with_stack=True
    ) as profiler:
        for _ in range(2):
            optimizer.zero_grad()
            model(torch.ones(16, 32)).sum().backward()
            optimizer.step()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        for name in ("memory_timeline.json", "memory_timeline.raw.json.gz"):
            profiler.export_memory_timeline(str(FOLDER / name), device="cpu")
            print(f"{name}: {(FOLDER / name).stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
