"""Records tests/data/decode_cuda: a small server of a language model, whose decoding steps are replays of CUDA graphs.

The first recording holds the captures, with a replay of each graph after them. The second one, in `serving`, holds the
steps of the server. Its ranges have the names that vLLM gives to its own.

python tests/record/cuda_decode.py
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import kinetoscope as ks
import torch
from scrub import REPOSITORY, scrub_folder
from torch import nn
from torch.profiler import record_function

FOLDER = REPOSITORY / "tests/data/decode_cuda"
WORDS, WIDTH, HEADS, LAYERS = 512, 128, 4, 2
HEAD = WIDTH // HEADS
BLOCK, BLOCKS, LONGEST = 16, 64, 8
SIZES = (4, 2, 1)
PROMPTS = ((0, 24, 5), (0, 9, 7), (2, 40, 4), (4, 12, 3))
"""Requests: the step of their arrival, tokens of the prompt, tokens to generate."""


class Batch:
    """The tensors that a graph reads: tokens, their positions, where their keys go, and each request's blocks."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.tokens = torch.zeros(size, dtype=torch.long, device="cuda")
        self.positions = torch.zeros(size, dtype=torch.long, device="cuda")
        self.slots = torch.zeros(size, dtype=torch.long, device="cuda")
        self.blocks = torch.zeros(size, LONGEST, dtype=torch.long, device="cuda")


class RMSNorm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(WIDTH))

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        """(tokens, width), like its input."""
        return nn.functional.rms_norm(hidden, (WIDTH,), self.weight, 1e-6)


class PagedAttention(nn.Module):
    """Attention of one new token per request to its keys in blocks, or of a prompt to itself."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv_proj = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.o_proj = nn.Linear(WIDTH, WIDTH, bias=False)
        self.register_buffer("cache", torch.zeros(2, BLOCKS * BLOCK, HEADS, HEAD))

    def forward(self, hidden: torch.Tensor, batch: Batch, *, prompt: bool) -> torch.Tensor:
        """(tokens, width), like its input."""
        query, key, value = self.qkv_proj(hidden).view(-1, 3, HEADS, HEAD).unbind(1)
        self.cache[0].index_copy_(0, batch.slots, key)
        self.cache[1].index_copy_(0, batch.slots, value)
        if prompt:
            parts = (part.transpose(0, 1)[None] for part in (query, key, value))
            found = nn.functional.scaled_dot_product_attention(*parts, is_causal=True)[0].transpose(0, 1)
        else:
            inside = torch.arange(BLOCK, device=hidden.device)
            places = (batch.blocks[:, :, None] * BLOCK + inside).flatten(1)
            keys, values = self.cache[:, places].transpose(2, 3)
            seen = torch.arange(places.shape[1], device=hidden.device) <= batch.positions[:, None]
            found = nn.functional.scaled_dot_product_attention(
                query[:, :, None], keys, values, attn_mask=seen[:, None, None]
            )[:, :, 0]
        return self.o_proj(found.reshape(-1, WIDTH))


class MLP(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gate_up_proj = nn.Linear(WIDTH, 8 * WIDTH, bias=False)
        self.down_proj = nn.Linear(4 * WIDTH, WIDTH, bias=False)

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        """(tokens, width), like its input."""
        gate, up = self.gate_up_proj(hidden).chunk(2, -1)
        return self.down_proj(nn.functional.silu(gate) * up)


class DecoderLayer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.input_layernorm, self.post_attention_layernorm = RMSNorm(), RMSNorm()
        self.self_attn, self.mlp = PagedAttention(), MLP()

    def forward(self, hidden: torch.Tensor, batch: Batch, *, prompt: bool) -> torch.Tensor:
        """(tokens, width), like its input."""
        hidden = hidden + self.self_attn(self.input_layernorm(hidden), batch, prompt=prompt)
        return hidden + self.mlp(self.post_attention_layernorm(hidden))


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(WORDS, WIDTH)
        self.layers = nn.ModuleList(DecoderLayer() for _ in range(LAYERS))
        self.norm = RMSNorm()

    def forward(self, batch: Batch, *, prompt: bool = False) -> torch.Tensor:
        """Logits, (tokens, words)."""
        hidden = self.embed_tokens(batch.tokens)
        for layer in self.layers:
            hidden = layer(hidden, batch, prompt=prompt)
        return self.norm(hidden) @ self.embed_tokens.weight.T


@dataclasses.dataclass
class Request:
    tokens: list[int]
    missing: int
    blocks: list[int]

    def slot(self, position: int) -> int:
        return self.blocks[position // BLOCK] * BLOCK + position % BLOCK


class Server:
    def __init__(self) -> None:
        self.model = Model().cuda().half().eval()
        self.batches = {size: Batch(size) for size in SIZES}
        self.graphs: dict[int, tuple[torch.cuda.CUDAGraph, torch.Tensor]] = {}
        self.free = list(range(1, BLOCKS))
        self.running: list[Request] = []

    def capture(self) -> None:
        """Captures a graph for each size of a batch, the largest first, into one pool of memory."""
        pool = torch.cuda.graph_pool_handle()
        for size, batch in self.batches.items():
            self.model(batch)
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with record_function(f"capture_{size}"), torch.cuda.graph(graph, pool=pool):
                logits = self.model(batch)
            self.graphs[size] = graph, logits

    def step(self, arrived: list[tuple[int, int]]) -> None:
        """Either prompts that arrived, one after another, or one more token of each running request."""
        num_tokens = sum(length for length, _ in arrived)
        context, generation = (len(arrived), 0) if arrived else (0, len(self.running))
        name = f"execute_context_{context}({num_tokens})_generation_{generation}({generation})"
        with record_function(name):
            logits = self.prefill(arrived) if arrived else self.decode()
            with record_function("gpu_model_runner: sample"):
                found = torch.softmax(logits.float(), -1).argmax(-1)
        with record_function("gpu_model_runner: bookkeep"):
            chosen = found.tolist()
            for request, token in zip(self.running[-len(chosen) :], chosen, strict=True):
                request.tokens.append(token)
                request.missing -= 1
            for request in [each for each in self.running if not each.missing]:
                self.running.remove(request)
                self.free += request.blocks

    def prefill(self, arrived: list[tuple[int, int]]) -> torch.Tensor:
        """Logits of the last token of each prompt."""
        found = []
        for length, missing in arrived:
            with record_function("gpu_model_runner: preprocess"):
                blocks = [self.free.pop() for _ in range((length + missing) // BLOCK + 1)]
                request = Request(torch.randint(WORDS, (length,)).tolist(), missing, blocks)
                batch = Batch(length)
                batch.tokens.copy_(torch.tensor(request.tokens))
                batch.positions.copy_(torch.arange(length))
                batch.slots.copy_(torch.tensor([request.slot(at) for at in range(length)]))
                self.running.append(request)
            with record_function("gpu_model_runner: forward"):
                found.append(self.model(batch, prompt=True)[-1:])
        return torch.cat(found)

    def decode(self) -> torch.Tensor:
        """Logits of the newest token of each running request: a replay of the smallest graph that has room."""
        count = len(self.running)
        size = min(size for size in SIZES if size >= count)
        batch = self.batches[size]
        with record_function("gpu_model_runner: preprocess"):
            places = [len(request.tokens) - 1 for request in self.running]
            batch.tokens[:count].copy_(torch.tensor([request.tokens[-1] for request in self.running]))
            batch.positions[:count].copy_(torch.tensor(places))
            slots = [request.slot(at) for request, at in zip(self.running, places, strict=True)]
            batch.slots[:count].copy_(torch.tensor(slots))
            rows = [request.blocks + [0] * (LONGEST - len(request.blocks)) for request in self.running]
            batch.blocks[:count].copy_(torch.tensor(rows))
        graph, logits = self.graphs[size]
        with record_function("gpu_model_runner: forward"):
            graph.replay()
        return logits[:count]


def serve(server: Server, end_step: Callable[[], None]) -> None:
    """Answers all requests of PROMPTS, from an empty server to an empty server."""
    waiting, at = list(PROMPTS), 0
    while waiting or server.running:
        arrived = [(length, missing) for when, length, missing in waiting if when <= at]
        waiting = [request for request in waiting if request[0] > at]
        server.step(arrived)
        end_step()
        at += 1


@torch.inference_mode()
def main() -> None:
    torch.manual_seed(0)
    server = Server()
    server.model(server.batches[1])  # libraries load before the recording
    torch.cuda.synchronize()
    with ks.profile(FOLDER, with_stack=True):
        server.capture()
        for graph, _ in server.graphs.values():
            graph.replay()
        torch.cuda.synchronize()
    serve(server, lambda: None)
    with ks.profile(FOLDER / "serving", warmup=1, active=100, with_stack=True) as prof:
        serve(server, prof.step)
    for folder in (FOLDER, FOLDER / "serving"):
        scrub_folder(folder)


if __name__ == "__main__":
    main()
