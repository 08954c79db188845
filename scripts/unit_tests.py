"""Runs the unit tests of Python with a built wheel, on any system: `unit_tests.py FOLDER`.

Installs the only wheel in FOLDER and the dependency group `dev` into .cache/unit.
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

from wheel_check import ROOT, only_wheel


def main() -> None:
    """Makes the environment, installs into it, and runs pytest."""
    (dist,) = sys.argv[1:]
    wheel = only_wheel(Path(dist))
    folder = ROOT / ".cache/unit"
    venv.create(folder, with_pip=True, clear=True)
    python = str(folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))
    install = [python, "-m", "pip", "install", "--quiet"]
    for command in (
        [*install, "--upgrade", "pip>=25.1"],  # dependency groups came with it
        [*install, "--group", "dev", str(wheel)],
        [python, "-m", "pytest", "-m", "unit", "tests/py"],
    ):
        subprocess.run(command, cwd=ROOT, check=True)  # noqa: S603 - own commands


if __name__ == "__main__":
    main()
