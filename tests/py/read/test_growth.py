"""Twice the input takes twice the time and memory, whatever a trace has very many of."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support.shapes import SHAPES

SIZE = 2_000
MOST = 2.3
"""How much more twice the input may take."""
SHORT = 0.12
"""Seconds that are too few to tell how they grow."""
SMALL_MB = 150
ATTEMPTS = 3
"""A cost that grows too fast does so each time; a busy machine slows another one down each time."""

TESTS = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("shape", SHAPES)
def test_cost_is_that_of_the_size(shape: str) -> None:
    found = superlinear(shape)
    for _ in range(ATTEMPTS - 1):
        if not found:
            break
        again = superlinear(shape)
        found = {name: again[name] for name in found if name in again}
    assert not found


def superlinear(shape: str) -> dict[str, tuple[float, ...]]:
    """Seconds, or MB of all together, of what grew faster than the input, at n, 2n and 4n."""
    script = TESTS / "support/growth.py"
    command = [sys.executable, str(script), shape, str(SIZE)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env={"PYTHONPATH": str(TESTS)})
    found = json.loads(done.stdout.splitlines()[-1])
    once, twice, four_times = found["seconds"]
    growth = {
        name: (once[name], twice[name], seconds)
        for name, seconds in four_times.items()
        if seconds > SHORT and seconds > MOST * twice[name] and seconds > MOST**2 * once[name]
    }
    peaks = found["peaks_mb"]
    return growth if peaks[2] < SMALL_MB or peaks[2] < MOST * peaks[1] else {**growth, "peak": tuple(peaks)}
