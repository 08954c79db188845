"""Records tests/data/transformer_cpu: a small language model in training on the CPU, with shapes, stacks and memory.

python tests/record/transformer.py
"""

from __future__ import annotations

import kinetoscope as ks
import torch
from scrub import REPOSITORY, scrub_folder
from torch import Tensor, nn
from torch.profiler import record_function
from torch.utils.data import DataLoader, TensorDataset

FOLDER = REPOSITORY / "tests/data/transformer_cpu"
VOCABULARY, WIDTH, LENGTH, BATCH = 64, 32, 16, 8


class Transformer(nn.Module):
    """Embedding, two encoder layers, a head over the vocabulary."""

    def __init__(self, vocabulary: int, width: int, feedforward: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        layer = nn.TransformerEncoderLayer(width, nhead=4, dim_feedforward=feedforward, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=2)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits, (batch, length, vocabulary), of tokens, (batch, length)."""
        return self.head(self.encoder(self.embedding(tokens)))


def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, tokens: Tensor) -> None:
    optimizer.zero_grad()
    with record_function("## forward ##"):
        logits = model(tokens)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), tokens.roll(-1, 1).flatten())
    with record_function("## backward ##"):
        loss.backward()
    with record_function("## optimizer ##"):
        optimizer.step()


def main() -> None:
    torch.manual_seed(0)
    model = Transformer(VOCABULARY, WIDTH, 2 * WIDTH)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    tokens = torch.randint(VOCABULARY, (BATCH * 6, LENGTH))
    loader = DataLoader(TensorDataset(tokens), batch_size=BATCH)
    with ks.profile(FOLDER, wait=1, warmup=1, active=2, with_stack=True, profile_memory=True) as prof:
        for (batch,) in loader:
            train_step(model, optimizer, batch)
            prof.step()
    scrub_folder(FOLDER)


if __name__ == "__main__":
    main()
