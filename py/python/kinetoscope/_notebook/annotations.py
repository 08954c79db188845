"""What the reader of a timeline wrote down: with times as in the tables, and as the front-end has them."""

from __future__ import annotations

from operator import index
from typing import Any, TypedDict


class _Written(TypedDict):
    start_ns: int
    """When, in ns as in the tables."""
    text: str


class Note(_Written, total=False):
    """What the reader wrote down."""

    end_ns: int
    """The end of a stretch of time; `start_ns` for a point in time."""
    event: int | None
    """The id of the event that it is about."""


def from_front_end(note: dict[str, Any], origin_ns: int) -> Note:
    """A note whose times count from `origin_ns` there."""
    return Note(
        start_ns=origin_ns + round(note["start"]),
        end_ns=origin_ns + round(note["end"]),
        event=note.get("event"),
        text=str(note["text"]),
    )


def to_front_end(note: Note, origin_ns: int) -> dict[str, Any]:
    """The same the other way round. TypeError for times that are no integers."""
    return {
        "start": index(note["start_ns"]) - origin_ns,
        "end": index(note.get("end_ns", note["start_ns"])) - origin_ns,
        "event": note.get("event"),
        "text": str(note["text"]),
    }
