"""A loop that is recorded, by `ks.profile` and by torch's profiler alone."""

from __future__ import annotations

import contextlib
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Generator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import kinetoscope as ks
from case import Measured, Skipped, compared, short
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
    step = _step(torch_alone())
    with quiet_folder() as folder:
        return [_beside(sort(folder), step) for sort in (_recorded, _waiting)]


def measure_distortion() -> list[Measured]:
    """Measures an iteration that `ks.profile` records, as a multiple of torch's own.

    The observed iteration is excluded, as in all results.
    """
    torch = torch_alone()
    found = []
    with quiet_folder() as folder:
        for subject, step in (("1,500 additions", _additions(torch)), ("a transformer layer", _layer(torch))):
            ours, theirs = (partial(_whole, loop, step) for loop in _recorded(folder))
            pairs = alternate(ours, theirs, NUM_PAIRS)
            found.append(compared(f"{subject}, {NUM_STEPS} iterations", pairs, pairs.ratios, "ms", "torch.profiler"))
    return found


def _whole(loop: Loop, step: Callable[[], None]) -> float:
    return _median(loop, step).all


def torch_alone() -> Any:
    """Returns torch with one thread. Raises Skipped without it."""
    try:
        import torch
    except ImportError:
        raise Skipped("needs PyTorch") from None
    torch.set_num_threads(1)
    return torch


@contextlib.contextmanager
def quiet_folder() -> Generator[Path]:
    """Makes a folder for a while, and hides warnings."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield Path(folder)


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


def _additions(torch: Any) -> Callable[[], None]:
    number = torch.ones(4)

    def step() -> None:
        for _ in range(1500):
            number.add(1)

    return step


def _layer(torch: Any) -> Callable[[], None]:
    layer = torch.nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
    batch = torch.randn(4, 16, 64)

    def step() -> None:
        layer(batch).sum().backward()

    return step


Loop = Callable[[], "AbstractContextManager[Any]"]


def _recorded(folder: Path) -> tuple[Loop, Loop]:
    return (lambda: ks.profile(folder, warmup=1, active=NUM_STEPS)), partial(_torch, folder, NUM_STEPS, 0)


def _waiting(folder: Path) -> tuple[Loop, Loop]:
    wait = NUM_STEPS + 2
    return (lambda: ks.profile(folder, wait=wait, warmup=1, active=1)), partial(_torch, folder, 1, wait)


def _torch(folder: Path, active: int, wait: int) -> AbstractContextManager[Any]:
    from torch.profiler import profile, schedule

    return profile(
        schedule=schedule(wait=wait, warmup=1, active=active, repeat=1),
        record_shapes=True,
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
    for found in [*measure(), *measure_distortion()]:
        print(f"{found.value:+.3f}: {found.ours} and {found.peer}", file=sys.stderr)
