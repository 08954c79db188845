"""A loop that is recorded, by `ks.profile` and by torch's profiler with an observer of its own."""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import kinetoscope as ks
from case import Measured, Skipped, short
from pairs import alternate

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

NUM_PAIRS = 15
NUM_STEPS = 20


class Iteration(NamedTuple):
    """The median one of a loop: seconds in all, and those of them in the profiler's `step()`."""

    all: float
    call: float


def measure() -> list[Measured]:
    """Measures the extra time of `step()` over torch's, in recorded and in other iterations.

    Both record the same between calls. That part varies more between loops than calls take, so it
    is excluded.
    """
    try:
        import torch
    except ImportError:
        raise Skipped("needs PyTorch") from None
    torch.set_num_threads(1)
    step = _step(torch)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [_beside(sort(Path(folder)), step) for sort in (_recorded, _waiting)]


def _beside(loops: tuple[Loop, Loop], step: Callable[[], None]) -> Measured:
    found: dict[Loop, list[Iteration]] = {loop: [] for loop in loops}

    def call(loop: Loop) -> float:
        found[loop].append(_median(loop, step))
        return found[loop][-1].call

    ours, theirs = loops
    pairs = alternate(partial(call, ours), partial(call, theirs), NUM_PAIRS)
    our, their = (statistics.median(one.all for one in found[loop]) for loop in loops)
    percent = [(mine - torchs) / their * 100 for mine, torchs in zip(*pairs, strict=True)]
    words = [
        f"{short(call * 1e3)} ms of {short(whole * 1e3)} ms"
        for call, whole in zip(pairs.medians, (our, their), strict=True)
    ]
    return Measured(f"two layers on the CPU, {NUM_STEPS} iterations", percent, words[0], f"{words[1]}, torch.profiler")


def _step(torch: Any) -> Callable[[], None]:
    model = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.GELU(), torch.nn.Linear(1024, 256))
    optimizer = torch.optim.AdamW(model.parameters())
    batch = torch.randn(64, 256)

    def step() -> None:
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()

    return step


Loop = Callable[[], "AbstractContextManager[Any]"]


def _recorded(folder: Path) -> tuple[Loop, Loop]:
    return (lambda: ks.profile(folder, warmup=1, active=NUM_STEPS)), partial(_torch, folder, NUM_STEPS, 0)


def _waiting(folder: Path) -> tuple[Loop, Loop]:
    wait = NUM_STEPS + 2
    return (lambda: ks.profile(folder, wait=wait, warmup=1, active=1)), partial(_torch, folder, 1, wait)


def _torch(folder: Path, active: int, wait: int) -> AbstractContextManager[Any]:
    from torch.profiler import ExecutionTraceObserver, profile, schedule

    observer = ExecutionTraceObserver().register_callback(str(folder / "et.json"))
    return profile(
        schedule=schedule(wait=wait, warmup=1, active=active, repeat=1),
        record_shapes=True,
        execution_trace_observer=observer,
        on_trace_ready=lambda prof: prof.export_chrome_trace(str(folder / "kineto.json")),
    )


def _median(loop: Loop, step: Callable[[], None]) -> Iteration:
    """Without the iterations at both ends of the window."""
    times: list[Iteration] = []
    with loop() as prof:
        for _ in range(NUM_STEPS + 1):
            start = time.perf_counter()
            step()
            called = time.perf_counter()
            prof.step()
            end = time.perf_counter()
            times.append(Iteration(end - start, end - called))
    return Iteration(*map(statistics.median, zip(*times[2:-1], strict=True)))


if __name__ == "__main__":
    for found in measure():
        print(f"{found.value:+.2f} %: {found.ours} and {found.peer}", file=sys.stderr)
