"""A look at a window right after it was recorded: what its reader would miss, while it can still be recorded anew."""

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
"""Of a file, decompressed: a larger one would take the memory and the processors from the loop that goes on."""
_ENOUGH = 0.9
_STEP = re.compile(rb'"ProfilerStep#(\d+)"')
_NAME_BYTES = 40
_BLOCK_BYTES = 1 << 18


def flaws(recording: Recording, num_bytes: int = 0) -> list[str]:
    """What is wrong with a window, in words; nothing where it is as it should be, or too large to look at.

    `num_bytes` is the size of the Kineto trace, decompressed, which the end of a gzip says modulo 4 GiB.
    """
    if num_bytes > _MAX_BYTES:
        return []
    from kinetoscope._io.file import LocalFile
    from kinetoscope._load.load import Options, load

    def file(path: Path | None) -> LocalFile | None:
        return LocalFile(str(path)) if path else None

    try:
        trace = load(file(recording.kineto), file(recording.execution), Options(None, None))
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
    """Record ids, the same iterations, and how much is linked."""
    operators = trace.coverage["operators"]
    if operators["count"] and not trace.coverage["nodes"]["linked"].get("record_id"):
        return ["is linked with its Execution Trace by no record ids: was another observer unregistered meanwhile?"]
    iterations, of_nodes = {number for (number,) in trace.iterations.select("iteration").rows()}, _steps(execution)
    if iterations != of_nodes:
        return [f"has the iterations {_listed(iterations)}, its Execution Trace {_listed(of_nodes)}"]
    if operators["num_linked"] < _ENOUGH * operators["count"]:
        linked = f"{text.count(operators['num_linked'])} of {text.count(operators['count'])} operators"
        return [f"has {linked} linked with the Execution Trace: kinetoscope doctor says more"]
    return []


def _steps(execution: Path) -> set[int]:
    """The iterations that an Execution Trace marks, found in its text: a table of it would hold the interpreter up."""
    found: set[int] = set()
    rest = b""
    with gzip.open(execution) if execution.suffix == ".gz" else execution.open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            found.update(map(int, _STEP.findall(rest + block)))
            rest = block[-_NAME_BYTES:]
    return found


def _listed(steps: set[int]) -> str:
    return ", ".join(map(str, sorted(steps))) or "none"
