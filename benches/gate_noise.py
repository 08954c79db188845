"""Rates of false alarms and of found slow-downs of gates, as a table for the documentation.

    python benches/gate_noise.py [--pairs 200] [--recorded FOLDER]

Generated pairs need nothing. `--recorded` also records loops of this machine into FOLDER, or uses
those that are there, and compares neighbours in time: runs of both sides alternate.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import kinetoscope as ks
from support import gate_runs

if TYPE_CHECKING:
    from support.gate_runs import Noise

NOISES: dict[str, Noise] = {
    "normal, 2 %": gate_runs.normal(0.02),
    "normal, 10 %": gate_runs.normal(0.1),
    "log-normal, 30 %": gate_runs.log_normal(0.3),
    "log-normal, 60 %": gate_runs.log_normal(0.6),
    "correlated by 0.5, 10 %": gate_runs.correlated(0.5, 0.1),
    "correlated by 0.9, 10 %": gate_runs.correlated(0.9, 0.1),
    "two modes, 25 % apart": gate_runs.bimodal(0.25, 0.02),
    "runs 2 % apart": gate_runs.of_runs(0.02, 0.02),
    "runs 5 % apart": gate_runs.of_runs(0.05, 0.02),
}
RUNS = ((1, 1), (3, 1), (3, 3), (5, 5))
ITERATIONS = 20
SLOWER = {"aten::mm": 1.05}
MANY = (10, 20, 30, 50, 100, 200)
SPREADS = (0.01, 0.02, 0.03, 0.05)
NUM_RECORDED = 200


def outcome(sides: Sequence[Sequence[Any]], metrics: str = "step") -> Any:
    """Returns the gate of two sides, each of one or more runs."""
    (before, *baselines), (after, *candidates) = sides
    changes: Any = ks.diff(before, after)
    return changes.gate("3%", metrics, baselines=baselines, candidates=candidates)


def rate(num_pairs: int, alarm: Callable[[], bool]) -> str:
    """Returns the share of pairs with an alarm."""
    return f"{100 * sum(alarm() for _ in range(num_pairs)) / num_pairs:.1f} %"


def false_alarms(num_pairs: int) -> None:
    """Prints the rates of equal runs."""
    rng = random.Random(1)  # noqa: S311 - seeded noise, no secret
    print("| equal runs | " + " | ".join(f"{before} + {after}" for before, after in RUNS) + " |")
    print("|---|" + "---:|" * len(RUNS))
    for name, noise in NOISES.items():

        def failed(sizes: Sequence[int], noise: Noise = noise) -> bool:
            sides = [[ks.read(gate_runs.run(rng, ITERATIONS, noise)) for _ in range(size)] for size in sizes]
            return outcome(sides).outcome == "failed"

        rates = [rate(num_pairs, lambda sizes=sizes: failed(sizes)) for sizes in RUNS]
        print(f"| {name} | {' | '.join(rates)} |", flush=True)


def found(num_pairs: int) -> None:
    """Prints how many pairs of a slower operator are found by its name."""
    rng = random.Random(2)  # noqa: S311 - as above
    print("| spread of iterations | " + " | ".join(map(str, MANY)) + " |")
    print("|---|" + "---:|" * len(MANY))
    for spread in SPREADS:
        noise = gate_runs.normal(spread)

        def is_named(num: int, noise: Noise = noise) -> bool:
            sides = [[ks.read(gate_runs.run(rng, num, noise, slower))] for slower in (None, SLOWER)]
            worse = [each.name for each in outcome(sides, "operator:*").decisions if each.is_failing]
            return worse == ["operator:aten::mm"]

        rates = [rate(num_pairs, lambda num=num: is_named(num)) for num in MANY]
        print(f"| {100 * spread:.0f} % | {' | '.join(rates)} |", flush=True)


def recorded(folder: Path) -> None:
    """Prints the rates of recorded loops."""
    traces: list[Any] = [ks.read(path) for path in sorted(folder.glob("*/kineto_trace_0.json.gz"))] or _record(folder)
    print("| recorded loops | " + " | ".join(f"{before} + {after}" for before, after in RUNS) + " |")
    print("|---|" + "---:|" * len(RUNS))
    alarms: list[list[bool]] = []
    for before, after in RUNS:
        size = before + after
        num = min(len(traces) - size + 1, 100)
        starts = [at * (len(traces) - size) // max(num - 1, 1) for at in range(num)]
        alarms.append([outcome(_in_turns(traces[at : at + size], before, after)).outcome == "failed" for at in starts])
    cells = [f"{sum(each)} of {len(each)}" for each in alarms]
    print(f"| {len(traces)} runs of {len(traces[0].iterations)} iterations | {' | '.join(cells)} |")


def _in_turns(traces: Sequence[Any], before: int, after: int) -> list[list[Any]]:
    sides: list[list[Any]] = [[], []]
    for trace in traces:
        sides[0 if len(sides[0]) * after <= len(sides[1]) * before and len(sides[0]) < before else 1].append(trace)
    return sides


def _record(folder: Path) -> list[Any]:
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 256))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    batch = torch.randn(64, 256)
    traces = []
    for number in range(NUM_RECORDED):
        with ks.profile(folder / f"{number:03d}", wait=2, warmup=2, active=ITERATIONS, execution_trace=False) as prof:
            for _ in range(ITERATIONS + 4):
                optimizer.zero_grad()
                model(batch).square().mean().backward()
                optimizer.step()
                prof.step()
        traces.append(prof.trace)
    return traces


def main() -> None:
    """Prints all tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--recorded", type=Path)
    options = parser.parse_args()
    if options.recorded:
        recorded(options.recorded)
        print()
    false_alarms(options.pairs)
    print()
    found(options.pairs)


if __name__ == "__main__":
    main()
