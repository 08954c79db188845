"""Events with what they are inside of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from kinetoscope.trace import Trace


class Event(NamedTuple):
    """What is known of an event."""

    id: int
    name: str
    kind: str
    start_ns: int
    dur_ns: int
    parent: int | None
    launch: int | None
    operator: int | None


class Nesting:
    """The events of a trace by their ids."""

    def __init__(self, trace: Trace) -> None:
        rows = trace.events.select(*Event._fields).rows()
        self.events = {row[0]: Event._make(row) for row in rows}
        """Each event."""

    def around(self, event: int | None) -> Iterator[Event]:
        """An event and what it is inside of, innermost first."""
        while event is not None:
            found = self.events[event]
            yield found
            event = found.parent

    def operators(self, event: int | None) -> list[Event]:
        """The operators among these."""
        return [found for found in self.around(event) if found.kind == "operator"]
