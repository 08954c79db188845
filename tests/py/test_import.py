"""`import kinetoscope` is fast and loads nothing that its user did not ask for."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.unit

HEAVY = ("torch", "IPython", "anywidget", "ipywidgets", "pandas", "polars", "pyarrow", "duckdb", "numpy", "rich")
LIMIT_S = 0.150


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return done.stdout


def test_loads_nothing_heavy() -> None:
    code = f"import sys, kinetoscope; print([name for name in {HEAVY!r} if name in sys.modules])"
    assert run(code).strip() == "[]"


def test_is_fast() -> None:
    code = "import time; start = time.perf_counter(); import kinetoscope; print(time.perf_counter() - start)"
    fastest = min(float(run(code)) for _ in range(5))  # the others waited for the disk, or for another process
    assert fastest < LIMIT_S


@pytest.mark.parametrize("name", ["profile", "read"])
def test_a_function_is_not_hidden_by_its_module(name: str) -> None:
    code = f"import kinetoscope.{name}, kinetoscope; print(callable(kinetoscope.{name}))"
    assert run(code).strip() == "True"


def test_reading_works_without_torch() -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "import kinetoscope as ks\n"
        "try:\n    ks.profile('traces')\nexcept ImportError as error:\n    print(error)"
    )
    assert run(code).strip() == "ks.profile: expected PyTorch, found none: pip install torch"
