"""Looks up known vulnerabilities: `advisories.py CARGO_DENY PIP_AUDIT`. Call scripts/advisories.sh.

A list that cannot be fetched is no success: tools differ in whether they say so.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
MANIFESTS = ("Cargo.toml", "core/fuzz/Cargo.toml")
FAILED = 1
SKIPPED = 3
"""Exit code if a list could not be fetched."""


class Outcome(NamedTuple):
    """The result of a look-up."""

    state: str
    """`passed`, `failed` or `skipped`."""
    text: str


class Done(NamedTuple):
    """A finished command."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        """Lines of its messages."""
        found = [line.strip() for line in (self.err or self.out).splitlines() if line.strip()]
        return found or [f"exit code {self.code}"]


Run = Callable[[Sequence[str]], Done]


def main() -> None:
    """Looks up all three lists, and prints a line for each."""
    deny, pip_audit = sys.argv[1:]
    outcomes = {
        "Rust": rust(deny, run),
        "Python": python(pip_audit, run),
        "Node": node(run),
    }
    for name, outcome in outcomes.items():
        print(f"{outcome.state:8} {name}: {outcome.text}")
    failed, skipped = (
        [name for name, found in outcomes.items() if found.state == state] for state in ("failed", "skipped")
    )
    if failed:
        print(f"advisories: found for {', '.join(failed)}")
    elif skipped:
        print(f"advisories: the lists for {', '.join(skipped)} could not be fetched")
    sys.exit(FAILED if failed else SKIPPED if skipped else 0)


def rust(deny: str, run: Run) -> Outcome:
    """Looks up the crates of both workspaces in RustSec's list."""
    fetched = run([deny, "fetch", "db"])
    if fetched.code:
        return Outcome("skipped", f"the list of RustSec could not be fetched: {fetched.lines[-1]}")
    failed: list[str] = []
    for manifest in MANIFESTS:
        done = run([deny, "--manifest-path", manifest, "check", "--disable-fetch", "advisories"])
        if done.code:
            print(done.out + done.err, file=sys.stderr)
            failed.append(manifest)
    return Outcome("failed", f"advisories for {', '.join(failed)}") if failed else Outcome("passed", "no advisory")


def python(pip_audit: str, run: Run) -> Outcome:
    """Looks up the dependencies of the Python package."""
    done = run([pip_audit, "--progress-spinner", "off", "--format", "json", "py"])
    try:
        packages: list[dict[str, Any]] = json.loads(done.out)["dependencies"]
    except (ValueError, KeyError):
        return Outcome("skipped", f"pip-audit failed: {done.lines[-1]}")
    found = [f"{package['name']}: {bug['id']}" for package in packages for bug in package.get("vulns", ())]
    if found:
        return Outcome("failed", ", ".join(found))
    unknown = [package["name"] for package in packages if "skip_reason" in package and package["name"] != "kinetoscope"]
    if unknown:
        return Outcome(
            "skipped", f"the list of PyPI could not be fetched for {len(unknown)} of {len(packages)} packages"
        )
    return Outcome("passed", f"no advisory for {len(packages)} packages")


def node(run: Run) -> Outcome:
    """Looks up the packages of the front-end and of its tools."""
    done = run(["npm", "audit", "--json", "--prefix", "wasm"])
    try:
        answer = json.loads(done.out)
        total = int(answer["metadata"]["vulnerabilities"]["total"])
    except (ValueError, KeyError, TypeError):
        return Outcome("skipped", f"the list of npm could not be fetched: {done.lines[0]}")
    return Outcome("failed", f"{total} advisories: run npm audit") if total else Outcome("passed", "no advisory")


def run(command: Sequence[str]) -> Done:
    """Runs a command in the repository."""
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, encoding="utf-8")  # noqa: S603 - own
    return Done(done.returncode, done.stdout, done.stderr)


if __name__ == "__main__":
    main()
