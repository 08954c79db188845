"""What a timeline shows: one trace, or several with their times laid over each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from kinetoscope import _native
from kinetoscope._analysis import protocol
from kinetoscope.table import Table

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

Range = tuple[int, int]
"""Start and end, in ns as in the tables."""

Align = Literal["clocks", "recorded", "start"] | dict[str, int] | None
"""How the times of several traces are laid over each other; docs/protocol.md lists the ways."""

_NAMED = 50


class Part(NamedTuple):
    """A trace of several."""

    trace: Trace
    name: str = ""
    """What it is called; may be empty."""
    rank: int | None = None
    """For a trace that does not tell it itself."""


class Screen:
    """Traces, and the one session that answers about all of them."""

    def __init__(self, parts: Sequence[Part], align: Align) -> None:
        """ValueError without a trace."""
        if not parts:
            raise ValueError("expected a trace, found none")
        self.parts = list(parts)
        self.align: Align = align
        natives = [part.trace._native for part in parts]  # noqa: SLF001 - a screen is another face of traces
        named = [(part.name, part.rank, native) for part, native in zip(parts, natives, strict=True)]
        # A trace has a session of its own already.
        self._session = natives[0] if len(natives) == 1 else _native.Session(named)

    @cached_property
    def _overview(self) -> dict[str, Any]:
        # Of millions of events it takes a second: asked for when it is needed.
        return protocol.ask(self._session, {"type": "overview", "align": self.align}).data

    def realign(self, align: Align) -> None:
        """Lays the times over each other in another way."""
        self.align = align
        self.__dict__.pop("_overview", None)

    @property
    def num_events(self) -> int:
        """How many events all of them have."""
        return sum(part.trace.num_events for part in self.parts)

    @property
    def origin_ns(self) -> int:
        """Where the viewer counts from, as the tables count time."""
        return int(self._overview["origin_ns"])

    def query(self, request: str) -> bytes:
        """Answers as the browser's own core does."""
        return self._session.query(request.encode())

    def picture(self, width: int) -> str:
        """All of it at a glance, as SVG."""
        request = {"type": "picture", "width": width, "align": self.align}
        return str(protocol.ask(self._session, request).data["svg"])

    def expect_event(self, event: int) -> None:
        """TraceError when there is no event with this id."""
        protocol.ask(self._session, {"type": "event", "id": event})

    def range(self, start: float, end: float) -> Range:
        """A range of the viewer, as the tables count."""
        return self.origin_ns + round(start), self.origin_ns + round(end)

    def iteration(self, number: int) -> Range:
        """The range of an iteration. TraceError when there is none of this number."""
        iterations = self._overview["iterations"]
        found = next((each for each in iterations if each["iteration"] == number), None)
        if found is None:
            numbers = ", ".join(str(each["iteration"]) for each in iterations[:_NAMED]) or "none"
            raise _native.TraceError(f"expected one of the iterations {numbers}, found {number}")
        return self.range(found["start"], found["start"] + found["dur"])

    def events(self, event: int | None, marked: tuple[float, float] | None) -> Table:
        """The rows of the table of events that are chosen: of several traces with the columns `rank` and `window`."""
        parts = self._overview["parts"]
        ends = [*(part["first_id"] for part in parts[1:]), math.inf]
        tables = [self._events(part, end, event, marked) for part, end in zip(parts, ends, strict=True)]
        if len(tables) == 1:
            return Table(tables[0])
        places = [(part["rank"], part["window"]) for part in parts]
        return Table(_native.stacked([(*place, table) for place, table in zip(places, tables, strict=True)]))

    def _events(
        self, part: dict[str, Any], end: float, event: int | None, marked: tuple[float, float] | None
    ) -> _native.Table:
        native = self.parts[part["part"]].trace._native  # noqa: SLF001 - as above
        if marked is not None:
            start, end = (int(part["origin_ns"]) + round(at) for at in marked)
            return native.events_within(start, end)
        first = part["first_id"]
        return native.events_inside(event - first if event is not None and first <= event < end else None)
