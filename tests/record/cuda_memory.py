"""Records tests/data/memory_cuda: memory snapshots of a model in training on a GPU.

`trained` has two steps, a CUDA graph with a pool of its own, and a second stream. `failed` is taken where an allocation
found too little memory. `kineto_trace_0.json.gz` has the same two steps.

python tests/record/cuda_memory.py
"""

from __future__ import annotations

from pathlib import Path

import kinetoscope as ks
import torch
from scrub import REPOSITORY, scrub_folder, write_pickle
from torch import Tensor, nn

FOLDER = REPOSITORY / "tests/data/memory_cuda"
WIDTH, LAYERS, BATCH = 512, 4, 256
LIMIT_BYTES, GROWTH_BYTES = 256 << 20, 24 << 20


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, batch: Tensor) -> Tensor:
        """(batch, width), like its input."""
        return batch + self.down(nn.functional.gelu(self.up(self.norm(batch))))


def train_step(model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    optimizer.zero_grad()
    model(torch.randn(BATCH, WIDTH, device="cuda")).square().mean().backward()
    optimizer.step()


def captured(model: nn.Module) -> torch.cuda.CUDAGraph:
    """The model without gradients as a graph, with a private pool."""
    batch, graph = torch.randn(BATCH, WIDTH, device="cuda"), torch.cuda.CUDAGraph()
    with torch.no_grad():
        model(batch)
        with torch.cuda.graph(graph):
            model(batch)
    return graph


def on_second_stream() -> Tensor:
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        return torch.randn(BATCH, WIDTH, device="cuda").mul(2)


def fill_up(path: Path) -> int:
    """Allocates until nothing is left, freeing every other tensor. Writes the snapshot of the moment of failure."""

    def observed(device: int, alloc: int, device_alloc: int, device_free: int) -> None:
        write_pickle(path, torch.cuda.memory._snapshot())

    torch._C._cuda_attach_out_of_memory_observer(observed)
    torch.cuda.set_per_process_memory_fraction(LIMIT_BYTES / torch.cuda.get_device_properties(0).total_memory)
    kept = []
    try:
        for number in range(64):
            kept.append(torch.empty(GROWTH_BYTES // 2, dtype=torch.uint8, device="cuda"))
            if number % 2:
                kept[number - 1] = torch.empty(0)
            if number == 12:
                torch.empty(GROWTH_BYTES * 6, dtype=torch.uint8, device="cuda")
    except torch.cuda.OutOfMemoryError as error:
        print(error)
    return len(kept)


def main() -> None:
    torch.manual_seed(0)
    torch.cuda.memory._record_memory_history(max_entries=20_000)
    model = nn.Sequential(*(Layer() for _ in range(LAYERS))).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    train_step(model, optimizer)
    with ks.profile(FOLDER, warmup=1, active=2, with_stack=True, profile_memory=True) as prof:
        for _ in prof.steps(range(3)):
            train_step(model, optimizer)
    graph, beside = captured(model), on_second_stream()
    graph.replay()
    torch.cuda.synchronize()
    write_pickle(FOLDER / "trained.pickle.gz", torch.cuda.memory._snapshot())
    fill_up(FOLDER / "failed.pickle.gz")
    print(graph, beside.shape)
    scrub_folder(FOLDER)


if __name__ == "__main__":
    main()
