"""Adapts messages to fewer ranks than recorded."""

from __future__ import annotations

from kinetoscope.replaying.message import Group, Message

_PER_RANK = {"gather", "scatter"}


def shrunk(message: Message, group: Group, rank: int) -> Message | None:
    """Returns the message for the present ranks of its group; None if a required rank is absent.

    Sizes per rank stay; parts of absent ranks are removed. The first rank replaces an absent root.
    """
    present = len(group.members)
    if rank not in group.members:
        return None
    if message.group != group:
        message = message._replace(group=group)
    if present == group.size:
        return message
    if message.is_p2p:
        return message if message.peer is not None and message.peer < present else None
    root = message.root if message.root is None or message.root < present else 0
    return _resized(message._replace(root=root), group, rank)


def _resized(message: Message, group: Group, rank: int) -> Message:
    present = len(group.members)
    if message.is_gathered:
        return message._replace(out_elems=_parts(message.out_elems, message.in_elems, group))
    if message.is_scattered:
        return message._replace(in_elems=_parts(message.in_elems, message.out_elems, group))
    if message.collective in _PER_RANK:
        return _rooted(message, present, is_root=group.members.index(rank) == message.root)
    return _exchange(message, group) if message.is_exchange else message


def _parts(parts: tuple[int, ...], own: tuple[int, ...], group: Group) -> tuple[int, ...]:
    """Returns sizes of gathered data: one tensor per rank, or tensors with one part per rank."""
    present = len(group.members)
    return parts[:present] if len(parts) == group.size > 1 else tuple(elems * present for elems in own)


def _rooted(message: Message, present: int, *, is_root: bool) -> Message:
    own = message.in_elems if message.collective == "gather" else message.out_elems
    all_of_them = tuple(own[:1] * present) if is_root else ()
    if message.collective == "gather":
        return message._replace(out_elems=all_of_them)
    return message._replace(in_elems=all_of_them or own)


def _exchange(message: Message, group: Group) -> Message:
    present = len(group.members)
    in_parts, out_parts = (parts[:present] for parts in message.splits())
    if message.collective == "all_to_all":
        return message._replace(in_elems=in_parts, out_elems=out_parts)
    return message._replace(
        in_split=in_parts,
        out_split=out_parts,
        in_elems=_exchanged(message.in_elems, in_parts, group),
        out_elems=_exchanged(message.out_elems, out_parts, group),
    )


def _exchanged(elems: tuple[int, ...], parts: tuple[int, ...], group: Group) -> tuple[int, ...]:
    return (sum(parts) if parts else sum(elems) // group.size * len(group.members),)
