"""Memory snapshots and memory timelines in commands for traces."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinetoscope._cli.arguments import Group, flag
from kinetoscope.memory import MemorySnapshot, MemoryTimeline

if TYPE_CHECKING:
    from kinetoscope._analysis.result import AnalysisResult
    from kinetoscope.tables import Tables

_DEFAULTS = {"clip": True}
"""Values that are no choice of the user, unless they are False."""
_WORDS = {"clip": "no_clip"}
"""Options that have another name than their parameter."""

STATE = "memory_state"
STATE_SUMMARY = "Memory of the allocator at a moment, by pool and by address, of a memory snapshot"


def add_moment(group: Group) -> None:
    """Adds the argument `at`."""
    help_text = "end, peak, oom (the last allocation that failed), or the row of an action (default: end)"
    group.add_argument(
        "--at", dest="parameters", action="append", type=partial(_moment, "at"), metavar="MOMENT", help=help_text
    )


def _moment(name: str, word: str) -> tuple[str, str]:
    return name, word


def analyzed(found: Tables, analysis: str, given: Mapping[str, Any], selection: Mapping[str, Any]) -> AnalysisResult:
    """Runs `memory` or `memory_state`. Raises ValueError for a selection or another analysis."""
    refuse_options(found, selection)
    if isinstance(found, MemorySnapshot) and analysis == STATE:
        return found.memory_state(**given)
    if isinstance(found, (MemorySnapshot, MemoryTimeline)) and analysis == "memory":
        refuse_options(found, given)
        return found.memory()
    known = " and ".join(all_analyses(found)) or "no analysis"
    raise ValueError(f"expected a trace for {analysis}, found {found.sort}, which has {known}")


def all_analyses(found: Tables) -> list[str]:
    """Returns the analyses that a file other than a trace has."""
    if isinstance(found, MemorySnapshot):
        return ["memory", STATE]
    return ["memory"] if isinstance(found, MemoryTimeline) else []


def write_report(found: Tables, path: Path, options: Mapping[str, Any]) -> Path:
    """Writes the page of a memory snapshot. Raises ValueError for other files, and for `redact`."""
    if not isinstance(found, MemorySnapshot):
        raise ValueError(f"expected a trace or a memory snapshot, found {found.sort}")  # noqa: TRY004 - a user's mistake
    refuse_options(found, {"redact": options["redact"]})
    return found.report(path, **{name: value for name, value in options.items() if name != "redact"})


def refuse_options(found: Tables, options: Mapping[str, Any]) -> None:
    """Raises ValueError if an option has a value that only traces support."""
    for name, value in options.items():
        if value not in {None, _DEFAULTS.get(name, False)}:
            raise ValueError(f"expected a trace with {flag(_WORDS.get(name, name))}, found {found.sort}")
