"""Notes on a timeline, with times as in the tables and as in the front-end."""

from __future__ import annotations

from operator import index
from typing import Any, TypedDict


class _RequiredNoteFields(TypedDict):
    start_ns: int
    """Time, or start of a range, in ns as in the tables."""
    text: str


class Note(_RequiredNoteFields, total=False):
    """A note of the reader about a time, a range or an event."""

    end_ns: int
    """End of the range; equal to `start_ns` for a point in time."""
    event: int | None
    """Id of the event that the note is about."""


def from_front_end(note: dict[str, Any], origin_ns: int) -> Note:
    """Converts a note of the front-end, whose times are ns since `origin_ns`."""
    return Note(
        start_ns=origin_ns + round(note["start"]),
        end_ns=origin_ns + round(note["end"]),
        event=note.get("event"),
        text=str(note["text"]),
    )


def to_front_end(note: Note, origin_ns: int) -> dict[str, Any]:
    """Converts a note for the front-end. Raises TypeError for times that are not integers."""
    return {
        "start": index(note["start_ns"]) - origin_ns,
        "end": index(note.get("end_ns", note["start_ns"])) - origin_ns,
        "event": note.get("event"),
        "text": str(note["text"]),
    }
