"""Small models whose training step is recorded and replayed."""

from __future__ import annotations

import gc
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kinetoscope import Trace

Step = Callable[[], object]


def mlp() -> Step:
    import torch
    from torch import nn

    model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 64))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    x = torch.randn(256, 64)
    return _step(optimizer, lambda: nn.functional.mse_loss(model(x), x))


def convolution() -> Step:
    import torch
    from torch import nn

    layers = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()
    model = nn.Sequential(*layers, nn.Linear(8 * 8 * 8, 10))
    optimizer = torch.optim.Adam(model.parameters())
    x, y = torch.randn(8, 3, 16, 16), torch.randint(0, 10, (8,))
    return _step(optimizer, lambda: nn.functional.cross_entropy(model(x), y))


def embedding() -> Step:
    """Sparse features and their interaction, as in DLRM."""
    import torch
    from torch import nn

    sizes = (100, 50, 7)
    tables = nn.ModuleList(nn.EmbeddingBag(size, 16, mode="sum") for size in sizes)
    dense, top = nn.Linear(13, 16), nn.Sequential(nn.Linear(22, 64), nn.ReLU(), nn.Linear(64, 1), nn.Sigmoid())
    optimizer = torch.optim.Adagrad([*tables.parameters(), *dense.parameters(), *top.parameters()], lr=0.01)
    x, y = torch.randn(256, 13), torch.rand(256)
    ids = [torch.randint(0, size, (768,)) for size in sizes]
    offsets = torch.arange(0, 768, 3)

    def loss() -> Any:
        parts = [torch.relu(dense(x)), *(table(own, offsets) for table, own in zip(tables, ids, strict=True))]
        stacked = torch.stack(parts, 1)
        pairs = torch.bmm(stacked, stacked.transpose(1, 2))
        row, column = torch.tril_indices(4, 4, -1)
        return nn.functional.binary_cross_entropy(top(torch.cat([parts[0], pairs[:, row, column]], 1)).squeeze(1), y)

    return _step(optimizer, loss)


def transformer() -> Step:
    import torch
    from torch import nn

    encoder = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(32, 4, 64, batch_first=True), 2, enable_nested_tensor=False
    )
    words, head = nn.Embedding(64, 32), nn.Linear(32, 64)
    parameters = [*encoder.parameters(), *words.parameters(), *head.parameters()]
    optimizer = torch.optim.AdamW(parameters)
    x = torch.randint(0, 64, (8, 16))

    def loss() -> Any:
        return nn.functional.cross_entropy(head(encoder(words(x))).flatten(0, 1), x.roll(-1, 1).flatten())

    return _step(optimizer, loss, lambda: nn.utils.clip_grad_norm_(parameters, 1.0))


def recurrent() -> Step:
    import torch
    from torch import nn

    model = nn.LSTM(16, 32, batch_first=True)
    optimizer = torch.optim.RMSprop(model.parameters())
    x = torch.randn(4, 5, 16)

    def loss() -> Any:
        return model(x)[0].sum()

    return _step(optimizer, loss)


def compiled() -> Step:
    import torch
    from torch import nn

    model = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 32))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x = torch.randn(16, 32)
    faster = torch.compile(model, backend="aot_eager")
    return _step(optimizer, lambda: faster(x).square().mean())


def _step(optimizer: Any, loss: Callable[[], Any], after: Callable[[], object] = lambda: None) -> Step:
    def step() -> None:
        optimizer.zero_grad()
        loss().backward()
        after()
        optimizer.step()

    return step


MODELS: dict[str, Callable[[], Step]] = {
    each.__name__: each for each in (mlp, convolution, embedding, transformer, recurrent, compiled)
}


@contextmanager
def without_collector() -> Generator[None]:
    """Keeps Python from freeing older tensors meanwhile: that would lower the counted memory."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def record(name: str, folder: Path) -> Path:
    """Records one training step of a model, after two others."""
    import torch

    torch.manual_seed(0)
    return record_step(MODELS[name](), folder)


def record_step(step: Step, folder: Path) -> Path:
    """Records a step, after two others."""
    import kinetoscope as ks

    step()
    step()
    options: dict[str, Any] = {"execution_trace": "same", "profile_memory": True}
    with without_collector(), ks.profile(folder, wait=0, warmup=1, active=1, repeat=1, **options) as prof:
        for _ in range(2):
            step()
            prof.step()
    return folder


def growth(trace: Trace) -> int:
    """Memory at the peak that was allocated in the recording.

    The peak itself may be lower: torch takes an allocation for one of an older recording that had
    the same address, and counts its end.
    """
    rows = trace.memory().tables["memory_allocations"].select("bytes", "is_at_peak").rows()
    return sum(size for size, is_at_peak in rows if is_at_peak)
