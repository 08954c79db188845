"""The types that are promised are those that are there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy")


def test_native_is_as_its_stub_says(tmp_path: Path) -> None:
    config = tmp_path / "mypy.ini"
    config.write_text("[mypy]\nfollow_imports = skip\n")  # else the whole of torch is looked at for six names
    command = [sys.executable, "-m", "mypy.stubtest", "kinetoscope._native", "--ignore-disjoint-bases"]
    command += ["--mypy-config-file", str(config)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
