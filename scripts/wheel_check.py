"""Tries a built wheel where nothing of the repository, Rust or Node is in reach.

usage: wheel_check.py FOLDER [--folder PATH]... [--any-path] [--no-run]

FOLDER holds one wheel. The wheel must not name folders of the machine that built it, and must hold
the licences. `--no-run` checks only that, for a wheel of another system.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from wheel_contents import content_faults

SCRIPTS = Path(__file__).resolve().parent
ROOT = SCRIPTS.parent
TRACE = ROOT / "tests/data/transformer_cpu/kineto_trace_0.json.gz"
KEPT = ("SYSTEMROOT", "TEMP", "TMP")
"""Variables without which Windows starts no program."""


def main() -> None:
    """Checks the paths in the wheel, installs it, and runs it."""
    parser = argparse.ArgumentParser(description="Tries the wheel in a folder.")
    parser.add_argument("dist", type=Path, help="folder that holds one wheel")
    parser.add_argument("--folder", action="append", default=[], help="a folder that the wheel must not name")
    parser.add_argument("--any-path", action="store_true", help="allow paths of this machine in the wheel")
    parser.add_argument("--no-run", action="store_true", help="check the contents only")
    options = parser.parse_args()

    wheel = only_wheel(options.dist)
    if faults := content_faults(wheel):
        sys.exit("\n".join(f"wheel_check: error: {fault}" for fault in faults))
    if not options.any_path:
        run([sys.executable, str(SCRIPTS / "wheel_paths.py"), str(wheel), *machine_folders(), *options.folder])
    if options.no_run:
        print(f"wheel: {wheel.name}, {wheel.stat().st_size} bytes, was not run: it is for another system")
        return
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        try_wheel(wheel, Path(folder))
    print(f"wheel: {wheel.name}, {wheel.stat().st_size} bytes, works in an empty environment")


def only_wheel(folder: Path) -> Path:
    """The wheel in a folder.

    Raises:
        SystemExit: the folder holds none or several.
    """
    wheels = sorted(folder.glob("*.whl"))
    if len(wheels) != 1:
        sys.exit(f"wheel_check: error: expected one wheel in {folder}, found {len(wheels)}")
    return wheels[0].resolve()


def machine_folders() -> list[str]:
    """Folders that only this machine has: repository, home, and cargo of a build container."""
    container = os.path.expanduser("~root/.cargo")  # noqa: PTH111 - Path raises where there is no such user
    return [str(ROOT), str(Path.home()), *([] if container.startswith("~") else [container])]


def try_wheel(wheel: Path, folder: Path) -> None:
    """Installs a wheel into an environment of its own, reads a trace and writes its report."""
    venv.create(folder / "venv", with_pip=True)
    programs = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
    python = str(programs / "python")
    run([python, "-m", "pip", "install", "--quiet", str(wheel)])

    empty = folder / "empty"
    empty.mkdir()
    bare = {name: os.environ[name] for name in KEPT if name in os.environ}
    bare |= {"PATH": str(programs), "HOME": str(empty), "USERPROFILE": str(empty)}
    run([python, "-I", str(SCRIPTS / "wheel_smoke.py"), str(TRACE)], cwd=empty, env=bare)
    run([str(programs / "kinetoscope"), "summary", str(TRACE)], cwd=empty, env=bare)


def run(command: list[str], cwd: Path | None = None, env: dict[str, str] | None = None) -> None:
    """Runs a command, and ends with its exit code if it fails."""
    code = subprocess.run(command, check=False, cwd=cwd, env=env).returncode  # noqa: S603 - own commands
    if code:
        sys.exit(f"wheel_check: error: {' '.join(command)}: exit code {code}")


if __name__ == "__main__":
    main()
