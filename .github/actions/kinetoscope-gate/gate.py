"""Runs the gate and the budgets of the action, and ends with the worst exit code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PASSED, FAILED, UNKNOWN = 0, 1, 2
OUTCOMES = {PASSED: "passed", FAILED: "failed", UNKNOWN: "unknown"}


def lines(name: str) -> list[str]:
    """Returns the lines of an input that are not blank."""
    return [line.strip() for line in os.environ.get(name, "").splitlines() if line.strip()]


def kinetoscope(*words: str) -> int:
    """Runs a command of kinetoscope; other exit codes than 0 and 1 count as unknown."""
    code = subprocess.run([sys.executable, "-m", "kinetoscope", *words], check=False).returncode
    return code if code in {PASSED, FAILED} else UNKNOWN


def codes(before: list[str], after: list[str], budget: str, report: Path) -> list[int]:
    """Returns the exit code of each command."""
    options = ["--summary"]
    if os.environ.get("ALLOW_UNKNOWN", "").strip().lower() == "true":
        options.append("--allow-unknown")
    found: list[int] = []
    if before:
        runs = [f"--baseline={run}" for run in before[1:]] + [f"--candidate={run}" for run in after[1:]]
        metrics = [f"--metric={metric}" for metric in lines("METRICS")]
        reports = [f"--report={report / name}" for name in ("result.xml", "result.json", "changes.html")]
        threshold = f"--fail-over={os.environ.get('FAIL_OVER', '').strip() or '3%'}"
        found.append(kinetoscope("diff", threshold, *runs, *metrics, *options, *reports, "--", before[0], after[0]))
    for number, run in enumerate(after if budget else [], start=1):
        path = report / f"budgets_{number}.xml"
        found.append(kinetoscope("check", f"--budget={budget}", *options, f"--report={path}", "--", run))
    return found


def main() -> int:
    """Writes the outputs of the action; returns the exit code of the step."""
    before, after, budget = lines("BEFORE"), lines("AFTER"), os.environ.get("BUDGET", "").strip()
    if not after or not (before or budget):
        print("expected the input after, and before or budget, found less", file=sys.stderr)
        return UNKNOWN
    report = Path(os.environ.get("REPORT") or "kinetoscope-gate")
    report.mkdir(parents=True, exist_ok=True)
    found = codes(before, after, budget, report)
    worst = FAILED if FAILED in found else max(found)
    with Path(os.environ["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as file:
        file.write(f"outcome={OUTCOMES[worst]}\nreport={report.as_posix()}\n")
    return worst


if __name__ == "__main__":
    sys.exit(main())
