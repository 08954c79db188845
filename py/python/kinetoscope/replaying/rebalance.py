"""Makes the parts of exchanges equal."""

from __future__ import annotations

from kinetoscope.replaying.agree import Meeting, Place
from kinetoscope.replaying.message import Message


def rebalanced(meetings: list[Meeting]) -> dict[Place, Message]:
    """Returns messages with equal parts for uneven exchanges; the total is kept, rounded up."""
    messages: dict[Place, Message] = {}
    for meeting in meetings:
        first = next(iter(meeting.messages.values()))
        if first.collective != "all_to_allv":
            continue
        size = len(meeting.messages)
        total = sum(sum(message.in_elems) for message in meeting.messages.values())
        elems = (-(-total // (size * size)) * size,)
        for rank, at in meeting.places:
            message = meeting.messages[rank]
            messages[rank, at] = message._replace(in_elems=elems, out_elems=elems, in_split=(), out_split=())
    return messages
