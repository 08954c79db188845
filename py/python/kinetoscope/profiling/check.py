"""Checks a window right after it was recorded, while it can still be recorded again."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import TYPE_CHECKING

from kinetoscope._analysis.doctor import num_missed
from kinetoscope._base import text
from kinetoscope._native import TraceError
from kinetoscope.profiling.folder import Recording

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

_MAX_BYTES = 1 << 30
"""Maximum size of a checked file, decompressed: a larger file would slow the running loop down."""
_MIN_LINKED = 0.9
"""Minimum share of operators that have a link."""
_EXPECTED = ("not_observed", "no_record_id", "one_sided")
"""Reasons for operators without a link that are no defect."""
_STEP = re.compile(rb'"ProfilerStep#(\d+)"')
_NAME_BYTES = 40
_BLOCK_BYTES = 1 << 18


def flaws(recording: Recording, num_bytes: int = 0) -> list[str]:
    """Describes the defects of a window. Empty if there are none or if the trace exceeds 1 GiB.

    `num_bytes` is the decompressed size of the Kineto trace; a gzip trailer has it modulo 4 GiB.
    """
    if num_bytes > _MAX_BYTES:
        return []
    from kinetoscope._io.file import LocalFile
    from kinetoscope._load.read import Options, read_recording

    def file(path: Path | None) -> LocalFile | None:
        return LocalFile(str(path)) if path else None

    try:
        trace = read_recording(file(recording.kineto), file(recording.execution), Options(None, None))
    except (TraceError, OSError) as error:
        return [f"{recording.kineto.name} cannot be read: {error}"]
    found = [*_of_events(trace), *(_of_nodes(trace, recording.execution) if recording.execution else [])]
    return [f"{recording.kineto.name} {flaw}" for flaw in found]


def _of_events(trace: Trace) -> list[str]:
    if not trace.num_events:
        return ["has no events"]
    if num_launches := num_missed(trace):
        missed = text.plural(num_launches, "launch", "launches")
        return [f"has no device events for {missed}: let the window last longer"]
    return []


def _of_nodes(trace: Trace, execution: Path) -> list[str]:
    """Checks record ids, iterations and the share of linked operators."""
    operators = trace.coverage["operators"]
    num_expected = operators["count"] - sum(operators["unlinked"].get(reason, 0) for reason in _EXPECTED)
    if operators["count"] and not trace.coverage["nodes"]["linked"].get("record_id"):
        return ["has no record ids in common with its Execution Trace: was another observer unregistered?"]
    rows = trace.iterations.select("iteration", "is_observed").rows()
    observed, of_nodes = {number for number, is_observed in rows if is_observed}, _steps(execution)
    if not observed <= of_nodes or len(of_nodes - observed) > 1:  # the last one may be empty
        return [f"has the observed iterations {_listed(observed)}, its Execution Trace {_listed(of_nodes)}"]
    if operators["num_linked"] < _MIN_LINKED * num_expected:
        linked = f"{text.count(operators['num_linked'])} of {text.count(num_expected)} operators"
        return [f"has {linked} linked with the Execution Trace: run kinetoscope doctor for details"]
    return []


def _steps(execution: Path) -> set[int]:
    """Returns the iterations in the text of an Execution Trace. Parsing would hold the GIL."""
    found: set[int] = set()
    rest = b""
    with gzip.open(execution) if execution.suffix == ".gz" else execution.open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            found.update(map(int, _STEP.findall(rest + block)))
            rest = block[-_NAME_BYTES:]
    return found


def _listed(steps: set[int]) -> str:
    return ", ".join(map(str, sorted(steps))) or "none"
