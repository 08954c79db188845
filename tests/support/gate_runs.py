"""Generated runs for gates: iterations of operators, with the noise of real loops."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Mapping

OPERATORS = {"aten::mm": 0.4, "aten::add": 0.2, "aten::relu": 0.1, "aten::sum": 0.1, "aten::copy_": 0.1}
"""Share of each operator in the step; the rest is between them."""

STEP_NS = 1_000_000

Noise = Callable[[random.Random, int], list[float]]
"""Factors of the iterations of a run, around 1."""


def normal(spread: float) -> Noise:
    """Independent iterations."""
    return lambda rng, num: [max(rng.gauss(1, spread), 0.05) for _ in range(num)]


def log_normal(sigma: float) -> Noise:
    """Iterations of which a few are much slower."""
    return lambda rng, num: [rng.lognormvariate(0, sigma) for _ in range(num)]


def correlated(correlation: float, spread: float) -> Noise:
    """Iterations that resemble the one before."""

    def factors(rng: random.Random, num: int) -> list[float]:
        state, found = rng.gauss(0, 1), []
        for _ in range(num):
            found.append(max(1 + spread * state, 0.05))
            state = correlation * state + math.sqrt(1 - correlation**2) * rng.gauss(0, 1)
        return found

    return factors


def bimodal(gap: float, spread: float) -> Noise:
    """Iterations of two kinds."""
    return lambda rng, num: [rng.choice([1, 1 + gap]) * rng.gauss(1, spread) for _ in range(num)]


def of_runs(run_spread: float, spread: float) -> Noise:
    """Runs that differ by more than their iterations."""

    def factors(rng: random.Random, num: int) -> list[float]:
        own = max(rng.gauss(1, run_spread), 0.2)
        return [own * factor for factor in normal(spread)(rng, num)]

    return factors


def run(
    rng: random.Random, num: int, noise: Noise, slower: Mapping[str, float] | None = None, own_spread: float = 0.01
) -> bytes:
    """Returns a trace; `slower` has the factor of operators, `own_spread` their own noise."""
    events = []
    start = 0.0
    for step, factor in enumerate(noise(rng, num)):
        inner = start
        for name, share in OPERATORS.items():
            dur = share * STEP_NS * factor * max(rng.gauss(1, own_spread), 0.05) * (slower or {}).get(name, 1)
            events.append(_event("cpu_op", name, inner, dur))
            inner += dur
        rest = (1 - sum(OPERATORS.values())) * STEP_NS * factor
        events.append(_event("user_annotation", f"ProfilerStep#{step}", start, inner + rest - start))
        start = inner + rest
    return json.dumps({"traceEvents": events}).encode()


def _event(cat: str, name: str, start: float, dur: float) -> dict[str, object]:
    ts, end = round(start), round(start + dur)
    return {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 1, "ts": ts / 1e3, "dur": (end - ts) / 1e3}
