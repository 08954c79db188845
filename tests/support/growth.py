"""Measures all that is done with a trace, on three sizes of one shape: `growth.py SHAPE N`."""

from __future__ import annotations

import gc
import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kinetoscope as ks
from kinetoscope import _native
from kinetoscope._native import analyses_json
from support.shapes import SHAPES

REPEATS = 2


def work(trace: ks.Trace, folder: Path) -> dict[str, Callable[[], object]]:
    """Returns all that can be done with a trace, by name."""
    names = [analysis["name"] for analysis in json.loads(analyses_json()) if hasattr(trace, analysis["name"])]
    tables = _native.Trace.table_names()
    found: dict[str, Callable[[], object]] = {name: getattr(trace, name) for name in names}
    found |= {f"table {name}": lambda name=name: trace.table(name).to_arrow() for name in tables}
    found |= {
        "verdict": lambda: trace.verdict.problems,
        "report": lambda: trace.report(folder / "report.html"),
        "static": trace.render_static,
        "picture": trace.picture,
        "diff": lambda: ks.diff(trace, trace).report(folder / "diff.html"),
        "snapshot": lambda: trace.save(folder / "trace.kscope"),
        "Chrome": lambda: trace.to_chrome(folder / "chrome.json"),
        "CSV": lambda: trace.export(folder / "events.csv"),
        "redact": trace.redact,
        "trim": lambda: trace.trim(0, 10**15),
    }
    if len(trace.nodes):
        found |= {
            "Execution Trace": lambda: trace.to_execution_trace(folder / "et.json"),
            "ET+": lambda: trace.to_et_plus(folder / "et_plus.json"),
            "Chakra": lambda: trace.to_chakra(folder / "rank.et"),
            "edit": lambda: trace.edit(upgrade=True, anonymise=True),
        }
    return found


def measured(content: bytes) -> dict[str, float]:
    """Seconds of the processor, by what was done; of the first time, as results are kept."""
    seconds: dict[str, float] = {}

    def timed(name: str, function: Callable[[], Any]) -> Any:
        start = time.process_time()
        try:
            return function()
        except (ks.TraceError, ValueError):  # some exports refuse some shapes
            return None
        finally:
            seconds[name] = time.process_time() - start

    trace = timed("read", lambda: ks.read(content, ranks="merge"))
    timed("split", lambda: ks.read(content))
    with tempfile.TemporaryDirectory() as folder:
        for name, function in work(trace, Path(folder)).items():
            timed(name, function)
    return seconds


def main() -> None:
    make, n = SHAPES[sys.argv[1]], int(sys.argv[2])
    measured(make(n // 8))  # imports
    seconds: list[dict[str, float]] = []
    peaks: list[float] = []
    for size in (n, 2 * n, 4 * n):
        content = make(size)
        runs: list[dict[str, float]] = []
        for _ in range(REPEATS):
            gc.collect()
            runs.append(measured(content))
        seconds.append({name: min(run[name] for run in runs) for name in runs[0]})
        peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    sys.stdout.write(json.dumps({"seconds": seconds, "peaks_mb": peaks}))


if __name__ == "__main__":
    main()
