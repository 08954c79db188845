"""The types that are promised are those that are there."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("mypy")


def test_native_is_as_its_stub_says() -> None:
    command = [sys.executable, "-m", "mypy.stubtest", "kinetoscope._native", "--ignore-disjoint-bases"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
