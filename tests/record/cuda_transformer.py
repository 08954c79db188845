"""Records tests/data/transformer_cuda: a small language model in training on a GPU, fed over a stream of its own.

With shapes, stacks, memory, the allocator's snapshot and what NVML says meanwhile.

python tests/record/cuda_transformer.py
"""

from __future__ import annotations

from collections.abc import Iterator

import kinetoscope as ks
import torch
from scrub import REPOSITORY, scrub_folder, write_pickle
from torch import Tensor, nn
from torch.profiler import record_function
from transformer import Transformer

FOLDER = REPOSITORY / "tests/data/transformer_cuda"
VOCABULARY, WIDTH, LENGTH, BATCH = 512, 256, 128, 32
ITERATIONS = 5


def prefetched(batches: Iterator[Tensor]) -> Iterator[Tensor]:
    """Batches on the GPU, each copied on a stream of its own while the one before it is worked on."""
    stream = torch.cuda.Stream()
    following: Tensor | None = None
    for batch in batches:
        with torch.cuda.stream(stream):
            copied = batch.to("cuda", non_blocking=True)
        if following is not None:
            yield following
        torch.cuda.current_stream().wait_stream(stream)
        copied.record_stream(torch.cuda.current_stream())
        following = copied


def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, tokens: Tensor) -> float:
    optimizer.zero_grad()
    with record_function("## forward ##"), torch.autocast("cuda", torch.bfloat16):
        logits = model(tokens)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), tokens.roll(-1, 1).flatten())
    with record_function("## backward ##"):
        loss.backward()
    with record_function("## optimizer ##"):
        optimizer.step()
    return loss.item()


def main() -> None:
    torch.manual_seed(0)
    model = Transformer(VOCABULARY, WIDTH, 4 * WIDTH).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    batches = (torch.randint(VOCABULARY, (BATCH, LENGTH)).pin_memory() for _ in range(ITERATIONS + 1))
    recorded = {"with_stack": True, "profile_memory": True, "metrics": 0.01}
    with ks.profile(FOLDER, wait=2, warmup=1, active=2, **recorded) as prof:
        for number, tokens in enumerate(prefetched(batches)):
            if number == ITERATIONS - 1:
                torch.cuda.memory._record_memory_history(max_entries=4000)
            train_step(model, optimizer, tokens)
            prof.step()
    write_pickle(FOLDER / "memory_snapshot.pickle.gz", torch.cuda.memory._snapshot())
    scrub_folder(FOLDER)


if __name__ == "__main__":
    main()
