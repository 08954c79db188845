"""Gates against noise: equal runs pass, and a slower operator is found with its name."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import kinetoscope as ks
import pytest
from support import gate_runs

if TYPE_CHECKING:
    from kinetoscope._analysis.gate import Gate
    from support.gate_runs import Noise

pytestmark = pytest.mark.unit

NUM_PAIRS = 100

NOISES: dict[str, tuple[Noise, int]] = {
    "normal 2 %": (gate_runs.normal(0.02), 10),
    "normal 10 %": (gate_runs.normal(0.1), 20),
    "log-normal 0.3": (gate_runs.log_normal(0.3), 20),
    "log-normal 0.6": (gate_runs.log_normal(0.6), 10),
    "correlated 0.5": (gate_runs.correlated(0.5, 0.1), 20),
    "correlated 0.9": (gate_runs.correlated(0.9, 0.05), 50),
    "bimodal 25 %": (gate_runs.bimodal(0.25, 0.02), 20),
}


def gate(before: Sequence[bytes], after: Sequence[bytes], metrics: Any = "step") -> Gate:
    sides = [[ks.read(one) for one in side] for side in (before, after)]
    changes = ks.diff(sides[0][0], sides[1][0])
    return changes.gate(metrics=metrics, baselines=sides[0][1:], candidates=sides[1][1:])


@pytest.mark.parametrize("name", NOISES)
@pytest.mark.parametrize("metrics", ["step", ["step", "operator:*"]], ids=["step", "all"])
def test_equal_runs_pass(name: str, metrics: Any) -> None:
    noise, num = NOISES[name]
    rng = random.Random(f"{name} {len(metrics)}")
    pairs = ([gate_runs.run(rng, num, noise) for _ in range(2)] for _ in range(NUM_PAIRS))
    alarms = [each.failures for each in (gate([a], [b], metrics) for a, b in pairs) if not each.passed]
    assert len(alarms) <= 1, alarms


def test_runs_that_differ_pass_with_several_runs() -> None:
    rng = random.Random(9)
    noise = gate_runs.of_runs(0.05, 0.02)

    def runs(num: int) -> list[bytes]:
        return [gate_runs.run(rng, 5, noise) for _ in range(num)]

    sizes = [(3, 1), (5, 1), (3, 3)] * NUM_PAIRS
    alarms = [size for size in sizes if not gate(runs(size[0]), runs(size[1])).passed]
    assert len(alarms) <= len(sizes) / 100, alarms  # the noise of runs is for 1 of 200


def test_a_slower_operator_is_found_by_its_name() -> None:
    rng = random.Random(11)
    noise = gate_runs.normal(0.02)
    found, named = 0, 0
    for _ in range(NUM_PAIRS):
        before = gate_runs.run(rng, 30, noise)
        after = gate_runs.run(rng, 30, noise, {"aten::mm": 1.05})
        result = gate([before], [after], "operator:*")
        worse = [each.name for each in result.decisions if each.is_failing]
        causes = result.tables["gate_causes"].select("kind", "name").rows()
        found += worse == ["operator:aten::mm"]
        named += causes == [("operator", "aten::mm")]
    assert min(found, named) >= NUM_PAIRS - 1, (found, named)


def test_a_slower_step_is_found() -> None:
    rng = random.Random(13)
    noise = gate_runs.normal(0.02)
    slower = dict.fromkeys(gate_runs.OPERATORS, 1.06)
    pairs = ([gate_runs.run(rng, 30, noise), gate_runs.run(rng, 30, noise, slower)] for _ in range(NUM_PAIRS))
    assert sum(gate([a], [b]).outcome == "failed" for a, b in pairs) >= NUM_PAIRS - 1
