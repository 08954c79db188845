"""Compares the messages of two ranks for the same communication."""

from __future__ import annotations

from collections.abc import Mapping

from kinetoscope.replay.message import Message


def difference(one: Message, other: Message, places: tuple[int, int]) -> str | None:
    """Describes the mismatch between the messages of two ranks at `places`; None if they match."""
    if one.is_p2p:
        return _first({"types": (one.dtype, other.dtype), "sizes": (sum(one.in_elems), sum(other.in_elems))})
    properties = {
        "names": (one.collective, other.collective),
        "types": (one.dtype, other.dtype),
        "roots": (one.root, other.root),
        "reductions": (one.reduction, other.reduction),
    }
    if reason := _first(properties):
        return reason
    if one.is_exchange:
        return _exchange(one, other, places)
    if one.is_gathered and len(one.out_elems) == len(other.out_elems) > 1:
        return _first({"sizes": (one.out_elems, other.out_elems)})
    return _first({"sizes": (_sizes(one), _sizes(other))})


def fits(message: Message, size: int) -> bool:
    """Whether sizes, parts and root are valid for a group of `size` ranks."""
    if message.root is not None and not 0 <= message.root < size:
        return False
    if any(split and len(split) != size for split in (message.in_split, message.out_split)):
        return False
    if message.is_gathered:
        return _is_of_all(message.out_elems, message.in_elems, size)
    if message.is_scattered:
        return _is_of_all(message.in_elems, message.out_elems, size)
    return message.collective != "all_to_all" or len(message.in_elems) == len(message.out_elems) == size


def _is_of_all(parts: tuple[int, ...], own: tuple[int, ...], size: int) -> bool:
    """Whether there is one tensor per rank, or tensors with one part per rank."""
    return len(parts) == size > 1 or sum(parts) == size * sum(own)


def _sizes(message: Message) -> tuple[int, ...]:
    """Returns the sizes that are equal on all ranks."""
    if message.collective == "barrier":
        return ()
    if message.is_scattered or message.collective == "scatter":
        return message.out_elems
    return message.in_elems


def _exchange(one: Message, other: Message, places: tuple[int, int]) -> str | None:
    """Compares sent with received sizes in both directions."""
    here, there = places
    if here == there:
        return None
    (sent, taken), (other_sent, other_taken) = one.splits(), other.splits()
    if not sent and not other_sent:
        return _first({"sizes": (sum(one.in_elems), sum(other.in_elems))})
    ends = {
        "parts": (_at(sent, there), _at(other_taken, here)),
        "parts back": (_at(other_sent, here), _at(taken, there)),
    }
    return _first({name: both for name, both in ends.items() if None not in both})


def _at(parts: tuple[int, ...], place: int) -> int | None:
    return parts[place] if place < len(parts) else None


def _first(pairs: Mapping[str, tuple[object, object]]) -> str | None:
    return next((f"{name} differ" for name, (one, other) in pairs.items() if one != other), None)
