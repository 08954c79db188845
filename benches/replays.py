"""How long a pass of a replay takes beside a step of the program that was recorded."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import kinetoscope as ks
from case import Measured, Skipped, compared
from collect import quiet_folder, torch_alone
from kinetoscope.replaying.operators.result import OperatorReplay
from pairs import alternate

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.models import MODELS, record_step
from support.ranks import launched

ONE_PROCESS = ("transformer", "mlp", "convolution", "embedding", "recurrent", "compiled")
NUM_PAIRS, NUM_RANK_PAIRS, NUM_STEPS = 9, 5, 20
TWO_RANKS = Path(__file__).with_name("replay_ranks.py")


def measure() -> list[Measured]:
    """Compares medians of passes with medians of steps, of models with a process of their own."""
    torch = torch_alone()
    with quiet_folder() as folder:
        return [_model(torch, name, folder / name) for name in ONE_PROCESS]


def _model(torch: Any, name: str, folder: Path) -> Measured:
    torch.manual_seed(0)
    step = MODELS[name]()
    record_step(step, folder)
    pairs = alternate(partial(replayed, folder), partial(steps, step), NUM_PAIRS)
    return compared(f"{name}, {_num_operators(folder)} operators", pairs, pairs.ratios, "ms", "the program")


def _num_operators(folder: Path) -> int:
    found = ks.replay(folder, dry_run=True)
    return sum(int(row[0]) for row in found.select("num_calls").rows())


def replayed(folder: Path) -> float:
    """Returns the seconds of a pass."""
    found = ks.replay(folder, num_replays=NUM_STEPS)
    assert isinstance(found, OperatorReplay)  # noqa: S101 - the mode is the default
    return statistics.median(found.step_ns) / 1e9


def steps(step: Callable[[], object], before: Callable[[], object] = lambda: None) -> float:
    """Returns the seconds of a step, without what comes before each."""
    times: list[float] = []
    for _ in range(NUM_STEPS):
        before()
        begin = time.perf_counter()
        step()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def measure_ranks() -> list[Measured]:
    """Compares two ranks with communications by gloo, as rank 0 sees them."""
    with quiet_folder() as folder:

        def median(part: str) -> float:
            output = folder / f"{part}.txt"
            done = launched(2, TWO_RANKS, part, folder / "job", output)
            if done.returncode:
                raise Skipped(f"two ranks do not {part}: {' '.join(done.stderr.splitlines()[-1:])}")
            return float(output.read_text())

        median("record")
        pairs = alternate(partial(median, "replay"), partial(median, "record"), NUM_RANK_PAIRS, num_warm=0)
    return [compared("two ranks of DistributedDataParallel", pairs, pairs.ratios, "ms", "the program")]
