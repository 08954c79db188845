"""Trace file with marked kernel sequences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinetoscope.hta import written

if TYPE_CHECKING:
    from kinetoscope.hta.common.trace import Trace

_SPAN = "PyTorch Profiler"


def write_patterns(
    traces: Trace, rank: int, members: Mapping[int, str], counts: Mapping[str, int], output_dir: str, *, is_short: bool
) -> str:
    """Writes `overlaid_<file>`, where events of the patterns in `counts` name their `Patterns`.

    Returns the path.

    `is_short` drops the arguments of all other events and replaces their names by numbers. The
    profiler's own span gets the dictionary of these names.
    """
    document = written.document_of(traces, rank)
    events: list[dict[str, Any]] = document["traceEvents"]
    marked = {event: pattern for event, pattern in members.items() if pattern in counts}
    for event, pattern in marked.items():
        events[event].setdefault("args", {})["Patterns"] = {pattern: counts[pattern]}
    if is_short:
        _shorten(events, marked)
    path = str(Path(output_dir, f"overlaid_{written.name_of(traces, rank)}"))
    traces.write_raw_trace(path, document)
    return path


def _shorten(events: list[dict[str, Any]], marked: Mapping[int, str]) -> None:
    spans = [event for event in events if event.get("ph") == "X" and str(event["name"]).startswith(_SPAN)]
    names: dict[str, str] = {}
    for event in _others(events, marked):
        if event not in spans:
            event["name"] = names.setdefault(event["name"], str(len(names)))
            event["args"] = {}
    for span in spans:
        span.setdefault("args", {}).update({number: name for name, number in names.items()})


def _others(events: list[dict[str, Any]], marked: Mapping[int, str]) -> Iterator[dict[str, Any]]:
    return (event for at, event in enumerate(events) if event.get("ph") == "X" and at not in marked)
