"""Query session of a timeline, for one trace or several aligned traces."""

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
"""Alignment of the times of several traces; docs/protocol.md lists the methods."""

_NAMED = 50
_UNSELECTED = "nothing is selected: click an event, or mark a range in the timeline"


class Part(NamedTuple):
    """One of the traces of a timeline."""

    trace: Trace
    name: str = ""
    """Label of the trace; may be empty."""
    rank: int | None = None
    """Rank of the trace; overrides the rank in the file."""


def with_companions(parts: Sequence[Part]) -> list[Part]:
    """Adds the traces of other tools, after those of all ranks."""
    companions = [
        Part(companion.trace, f"{part.name} · {companion.tool}" if part.name else "", part.rank)
        for part in parts
        for companion in part.trace.companions
    ]
    return [*parts, *companions]


class TimelineSession:
    """Traces, with one session that answers queries about all of them."""

    def __init__(self, parts: Sequence[Part], align: Align) -> None:
        """Raises ValueError without a trace."""
        if not parts:
            raise ValueError("expected at least one trace, found none")
        self.parts = list(parts)
        self.align: Align = align
        natives = [part.trace._native for part in parts]  # noqa: SLF001 - sessions are built from native traces
        named = [(part.name, part.rank, native) for part, native in zip(parts, natives, strict=True)]
        # A single trace is already a session.
        self._session = natives[0] if len(natives) == 1 else _native.Session(named)

    @cached_property
    def _overview(self) -> dict[str, Any]:
        # Lazy: takes a second for millions of events.
        return protocol.ask(self._session, {"type": "overview", "align": self.align}).data

    def realign(self, align: Align) -> None:
        """Changes the alignment of the traces."""
        self.align = align
        self.__dict__.pop("_overview", None)

    @property
    def num_events(self) -> int:
        """Number of events of all traces."""
        return sum(part.trace.num_events for part in self.parts)

    @property
    def origin_ns(self) -> int:
        """Origin of the times in the viewer, in ns as in the tables."""
        return int(self._overview["origin_ns"])

    def query(self, request: str) -> bytes:
        """Answers a request exactly as the core in the browser does."""
        return self._session.query(request.encode())

    def picture(self, width: int) -> str:
        """Draws all traces as SVG; `width` in pixels."""
        request = {"type": "picture", "width": width, "align": self.align}
        return str(protocol.ask(self._session, request).data["svg"])

    def expect_event(self, event: int) -> None:
        """Raises TraceError if no event has this id."""
        protocol.ask(self._session, {"type": "event", "id": event})

    def range(self, start: float, end: float) -> Range:
        """Converts times of the viewer to ns as in the tables."""
        return self.origin_ns + round(start), self.origin_ns + round(end)

    def iteration(self, number: int) -> Range:
        """Returns the range of an iteration. Raises TraceError for an unknown number."""
        iterations = self._overview["iterations"]
        match = next((each for each in iterations if each["iteration"] == number), None)
        if match is None:
            numbers = ", ".join(str(each["iteration"]) for each in iterations[:_NAMED]) or "none"
            raise _native.TraceError(f"expected one of the iterations {numbers}, found {number}")
        return self.range(match["start"], match["start"] + match["dur"])

    def events(self, event: int | None, marked: tuple[float, float] | None) -> Table:
        """Returns the events of the selection: the marked range, or else the selected event.

        For several traces, the table has the additional columns `rank` and `window`.
        """
        parts = self._overview["parts"]
        ends = [*(part["first_id"] for part in parts[1:]), math.inf]
        tables = [self._events(part, end, event, marked) for part, end in zip(parts, ends, strict=True)]
        if_empty = _UNSELECTED if event is None and marked is None else ""
        if len(tables) == 1:
            return Table(tables[0], if_empty)
        origins = [(part["rank"], part["window"]) for part in parts]
        return Table(
            _native.stacked([(*origin, table) for origin, table in zip(origins, tables, strict=True)]), if_empty
        )

    def _events(
        self, part: dict[str, Any], end: float, event: int | None, marked: tuple[float, float] | None
    ) -> _native.Table:
        native = self.parts[part["part"]].trace._native  # noqa: SLF001 - as above
        if marked is not None:
            start, end = (int(part["origin_ns"]) + round(at) for at in marked)
            return native.events_within(start, end)
        first = part["first_id"]
        return native.events_inside(event - first if event is not None and first <= event < end else None)
