"""A trace with the sequences of kernels that come most often marked in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinetoscope.hta import written
from kinetoscope.hta.nesting import Event, Nesting

if TYPE_CHECKING:
    from kinetoscope.hta.common.trace import Trace

_WORK = {"kernel", "copy", "fill"}
_SPAN = "PyTorch Profiler"


def write_patterns(
    traces: Trace, rank: int, operator: str, patterns: Mapping[str, int], output_dir: str, *, is_short: bool
) -> str:
    """Writes `overlaid_<file>`: all that belongs to calls with one of `patterns` says so, and how often it comes.

    `is_short` leaves out the arguments of all else, and puts numbers in place of its names, which the profiler's own
    span has in its arguments.
    """
    document = written.document_of(traces, rank)
    events: list[dict[str, Any]] = document["traceEvents"]
    members = _members(traces, rank, operator, patterns)
    for event, pattern in members.items():
        events[event].setdefault("args", {})["Patterns"] = {pattern: patterns[pattern]}
    if is_short:
        _shorten(events, members)
    return written.write_document(document, Path(output_dir, f"overlaid_{written.name_of(traces, rank)}"))


def _members(traces: Trace, rank: int, operator: str, patterns: Mapping[str, int]) -> dict[int, str]:
    """The pattern of every event that belongs to a call with one."""
    nesting = Nesting(traces.recorded(rank))
    kept = set(traces.get_trace(rank).index)
    calls: dict[int, list[Event]] = {}
    for event in nesting.events.values():
        around = [found.id for found in nesting.operators(_owner(event)) if operator in found.name]
        if around and event.id in kept:
            calls.setdefault(around[-1], []).append(event)
    found: dict[int, str] = {}
    for call, events in calls.items():
        work = sorted((event for event in events if event.kind in _WORK), key=lambda event: (event.start_ns, event.id))
        pattern = "|".join([nesting.events[call].name, *(event.name for event in work)])
        if pattern in patterns:
            found |= dict.fromkeys((event.id for event in events), pattern)
    return found


def _owner(event: Event) -> int | None:
    """Where an event stands on the host."""
    if event.kind not in _WORK:
        return event.id
    return event.operator if event.launch is None else event.launch


def _shorten(events: list[dict[str, Any]], members: Mapping[int, str]) -> None:
    spans = [event for event in events if event.get("ph") == "X" and str(event["name"]).startswith(_SPAN)]
    names: dict[str, str] = {}
    for event in _others(events, members):
        if event not in spans:
            event["name"] = names.setdefault(event["name"], str(len(names)))
            event["args"] = {}
    for span in spans:
        span.setdefault("args", {}).update({number: name for name, number in names.items()})


def _others(events: list[dict[str, Any]], members: Mapping[int, str]) -> Iterator[dict[str, Any]]:
    return (event for at, event in enumerate(events) if event.get("ph") == "X" and at not in members)
