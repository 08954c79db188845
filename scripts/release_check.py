"""Runs every check before a release and prints a table of the results.

usage: release_check.py [--only NAME]... [--skip NAME]... [--list]

Goes on after a failure. Ends with 1 if a check failed. A check that cannot run on this machine ends
with exit code 3 and the reason in its last line: it counts as skipped.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SKIPPED = 3
_MAX_REASON = 100


class Check(NamedTuple):
    """A command that tells whether a release is ready."""

    name: str
    purpose: str
    command: tuple[str, ...]


class Result(NamedTuple):
    """The end of a check."""

    name: str
    state: str
    """`passed`, `failed` or `skipped`."""
    seconds: float
    reason: str
    """The last line of its output; empty for a passed check."""


CHECKS = (
    Check("version", "version, changelog, owner", (sys.executable, "scripts/release.py", "check")),
    Check("workflows", "workflows, forms, settings", ("scripts/lint-forge.sh",)),
    Check("notices", "notices and bill of materials are current", ("scripts/notices.sh", "--check")),
    Check("deny", "crates, licences and registries", ("scripts/deny.sh",)),
    Check("advisories", "known vulnerabilities", ("scripts/advisories.sh",)),
    Check("crate", "the crate of the core", ("cargo", "package", "--package", "kinetoscope", "--locked", "--quiet")),
    Check("sdist", "source distribution, without Node", ("scripts/sdist.sh",)),
    Check("wheel", "wheel for manylinux_2_28", ("scripts/wheel.sh", "x86_64-unknown-linux-gnu")),
    Check("audit", "metadata, symbols and licences in dist", ("scripts/audit.sh",)),
    Check("cross", "type check for other systems", ("scripts/cross-check.sh",)),
)


def main() -> None:
    """Runs the checks, and prints the table."""
    parser = argparse.ArgumentParser(description="Runs every check before a release.")
    names = [check.name for check in CHECKS]
    parser.add_argument("--only", action="append", choices=names, metavar="NAME", help="run this check")
    parser.add_argument("--skip", action="append", choices=names, metavar="NAME", help="do not run this check")
    parser.add_argument("--list", action="store_true", help="list the checks and run none")
    options = parser.parse_args()
    if options.list:
        print("\n".join(f"{check.name:11} {check.purpose}" for check in CHECKS))
        return
    results = [
        finished(check)
        if check.name in (options.only or names) and check.name not in (options.skip or ())
        else unasked(check)
        for check in CHECKS
    ]
    print(table(results))
    sys.exit(any(result.state == "failed" for result in results))


def finished(check: Check) -> Result:
    """Runs a check, and shows its output as it comes."""
    print(f"\nrelease-check: {check.name}: {check.purpose}", flush=True)
    started = time.monotonic()
    last = ""
    with subprocess.Popen(  # noqa: S603 - own commands
        check.command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace"
    ) as process:
        for line in process.stdout or ():
            print(line, end="", flush=True)
            last = line.strip() or last
    state = {0: "passed", SKIPPED: "skipped"}.get(process.returncode, "failed")
    return Result(check.name, state, time.monotonic() - started, "" if state == "passed" else last)


def unasked(check: Check) -> Result:
    """The result of a check that was left out."""
    return Result(check.name, "skipped", 0, "left out by --only or --skip")


def table(results: Sequence[Result]) -> str:
    """One line per check: name, state, duration, reason."""
    lines = [f"{'check':11} {'state':8} {'s':>5}  reason"]
    for result in results:
        reason = result.reason if len(result.reason) <= _MAX_REASON else f"{result.reason[: _MAX_REASON - 1]}…"
        lines.append(f"{result.name:11} {result.state:8} {result.seconds:5.0f}  {reason}".rstrip())
    failed = sum(result.state == "failed" for result in results)
    skipped = sum(result.state == "skipped" for result in results)
    lines.append(f"{len(results) - failed - skipped} passed, {failed} failed, {skipped} skipped")
    return "\n" + "\n".join(lines)


if __name__ == "__main__":
    main()
