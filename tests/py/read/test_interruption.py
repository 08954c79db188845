"""Ctrl-C: everything that takes long ends soon after it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.unit, pytest.mark.alone]

FOLDER = Path(__file__).parents[2]
MAX_S = 0.5
NUM_LAUNCHES = 200_000
OF_OTHERS = {"pandas"}
"""Done by a library that does not look for signals."""


def test_everything_ends_soon() -> None:
    pytest.importorskip("pandas")
    command = [sys.executable, "-m", "support.interruption", str(NUM_LAUNCHES)]
    done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=True)
    waits = json.loads(done.stdout)
    assert {"read", "report", "CSV", "Chrome", "table events", "diff"} <= waits.keys()
    assert not {name: wait for name, wait in waits.items() if wait > MAX_S and name not in OF_OTHERS}
