"""Times analyses of a loaded trace: each, all, on a long trace, and beside HTA."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import kinetoscope as ks
from beside_hta import python
from case import Measured, Skipped, compared
from case import short as rounded
from fresh import apart
from inputs import SHARED, Input, large
from kinetoscope import _native
from length import beside_short
from pairs import Measure, Pairs

if TYPE_CHECKING:
    from kinetoscope._analysis.result import AnalysisResult

NUM_TIMES = 5
NUM_PAIRS = 3
CONTROL = SHARED / "facebookresearch__HolisticTraceAnalysis/tests/data/trace_diff/control/control.json.gz"
_PEER = Path(__file__).with_name("hta_analyses.py")


def measure() -> list[Measured]:
    """Times the slowest analysis, each on a fresh trace, and all analyses on one trace."""
    sources = [large(), *([Input("trace_diff/control", CONTROL)] if CONTROL.exists() else [])]
    slowest, sums = [], []
    names: set[str] = set()
    for source in sources:
        runs = [apart(partial(_each, source.path)) for _ in range(NUM_TIMES)]
        names |= {max(run, key=run.__getitem__) for run in runs}
        slowest.append([max(run.values()) * 1e3 for run in runs])
        sums.append([apart(partial(_all, source.path)) * 1e3 for _ in range(NUM_TIMES)])
    subject = ", ".join(source.name for source in sources)
    return [_worst(f"{subject}: {', '.join(sorted(names))}", slowest), _worst(subject, sums)]


def _worst(subject: str, by_source: list[list[float]]) -> Measured:
    values = [max(together) for together in zip(*by_source, strict=True)]
    medians = " and ".join(rounded(sorted(times)[len(times) // 2]) for times in by_source)
    return Measured(subject, values, f"{medians} ms", "—")


def names() -> list[str]:
    """Of all analyses."""
    return [analysis["name"] for analysis in json.loads(_native.analyses_json())]


def _each(path: Path) -> dict[str, float]:
    return {name: _timed(partial(_made, ks.read(path, False), name)) for name in names()}


def _all(path: Path) -> float:
    return _timed(partial(_all_made, ks.read(path, False)))


def _all_made(trace: ks.Trace) -> None:
    for name in names():
        _made(trace, name)


def _made(trace: ks.Trace, name: str) -> AnalysisResult:
    """An answer with its rows, which are made when they are first counted."""
    answer = trace.analyze(name)
    for table in answer.tables.values():
        len(table)
    return answer


def measure_long() -> list[Measured]:
    """All of them on the long trace beside the short one, each in a fresh process."""
    return beside_short(_per_event, NUM_PAIRS)


def _per_event(source: Input) -> Measure:
    return lambda: apart(partial(_all_per_event, source.path))


def _all_per_event(path: Path) -> float:
    trace = ks.read(path, False)
    start = time.process_time()
    _all_made(trace)
    return (time.process_time() - start) / trace.num_events


def _timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


_LAUNCH = ("correlation_id", "dur_ns", "device_dur_ns", "delay_ns")
BESIDE = {
    "critical path": lambda trace: trace.critical_path(like="hta").to_arrow(),
    "frequent sequences": lambda trace: trace.sequences(operator="aten::linear").to_arrow(),
    "launch delays": lambda trace: trace.launches().select(*_LAUNCH).to_arrow(),
    "ATen delays": lambda trace: trace.launches(prefix="aten::").tables["launches_by_operator"].to_arrow(),
}
"""Analyses that HTA has, too: calls that return the columns of HTA's results."""


def measure_beside() -> list[Measured]:
    """Runs HTA once, because it takes a minute. Ours is the median of fresh traces."""
    if not CONTROL.exists():
        raise Skipped("no trace of HTA's at hand")
    command = [python(), "-I", str(_PEER), str(CONTROL)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own script
    if done.returncode:
        raise Skipped(f"HTA did not answer: {done.stderr.splitlines()[-1]}")
    theirs = json.loads(done.stdout.splitlines()[-1])
    return [_beside(name, theirs[name]) for name in BESIDE]


def _beside(name: str, theirs: float) -> Measured:
    ours = apart(partial(_asked, name))
    pairs = Pairs(ours, [theirs] * len(ours))
    return compared(f"trace_diff/control, {name}", pairs, pairs.inverse, "ms", "HTA")


def _asked(name: str) -> list[float]:
    traces = [ks.read(CONTROL) for _ in range(NUM_TIMES)]
    return [_timed(partial(BESIDE[name], trace)) for trace in traces]
