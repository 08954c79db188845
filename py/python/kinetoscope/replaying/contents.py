"""Contents of tensors, to verify the results of communications."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import mul

from kinetoscope.replaying.message import Message

_SUM_OF_MANY = 64
_VALUES = 11

Parts = list[tuple[int, float]]
"""A tensor as consecutive parts: number of elements, and their value."""


def given(message: Message, place: int, number: int) -> list[Parts]:
    """Returns the input tensors of the rank at a place, for its `number`th communication.

    Values are small integers, exact in every type. They depend on sender, receiver and number.
    """
    if message.is_exchange:
        return _sent(message, place, number)
    if message.is_scattered:
        return _scattered(message, place, number)
    if message.collective in {"all_reduce", "allreduce_coalesced", "reduce"}:
        return [[(elems, _reduced(message, place, part, number))] for part, elems in enumerate(message.in_elems)]
    return [[(elems, _value(place, part, number))] for part, elems in enumerate(message.in_elems)]


def expected(message: Message, place: int, number: int) -> list[Parts] | None:
    """Returns the expected result tensors of the rank; None if it gets none or they are unknown."""
    ranks = range(len(message.group.members)) if message.group else range(0)
    if message.collective in {"all_reduce", "allreduce_coalesced"} or (
        message.collective == "reduce" and place == message.root
    ):
        return _results(message, ranks, number)
    if message.is_gathered:
        return _gathered(message, number)
    if message.is_scattered:
        return _scattered_results(message, place, number)
    if message.is_exchange:
        return _taken(message, place, number)
    return _rooted(message, place, number)


def _value(place: int, part: int, number: int) -> float:
    return (5 * place + 3 * part + number) % _VALUES + 1


def _reduced(message: Message, place: int, part: int, number: int) -> float:
    """Returns an input of a reduction: for many ranks 0 or 1, so that half precision is exact."""
    size = message.num_ranks
    base = place + part + number
    return base % 2 if size > _SUM_OF_MANY else base % 3 + 1


def _reduce(message: Message, values: list[float]) -> float:
    by_name: dict[str, Callable[[list[float]], float]] = {
        "min": min,
        "max": max,
        "product": lambda those: reduce(mul, those),
        "avg": lambda those: sum(those) / len(those),
    }
    return by_name.get(message.reduction or "sum", sum)(values)


def _results(message: Message, ranks: range, number: int) -> list[Parts]:
    return [
        [(elems, _reduce(message, [_reduced(message, place, part, number) for place in ranks]))]
        for part, elems in enumerate(message.in_elems)
    ]


def _gathered(message: Message, number: int) -> list[Parts] | None:
    """Returns one tensor per rank, or tensors with one part per rank."""
    size = message.num_ranks
    if len(message.in_elems) == 1 and len(message.out_elems) == size:
        return [[(elems, _value(place, 0, number))] for place, elems in enumerate(message.out_elems)]
    if len(message.in_elems) != len(message.out_elems):
        return None
    return [
        [(elems // size, _value(place, part, number)) for place in range(size)]
        for part, elems in enumerate(message.out_elems)
    ]


def _scattered(message: Message, place: int, number: int) -> list[Parts]:
    size = message.num_ranks
    if len(message.out_elems) == 1 and len(message.in_elems) == size:
        return [[(elems, _reduced(message, place, part, number))] for part, elems in enumerate(message.in_elems)]
    return [
        [(elems // size, _reduced(message, place, part + to, number)) for to in range(size)]
        for part, elems in enumerate(message.in_elems)
    ]


def _scattered_results(message: Message, place: int, number: int) -> list[Parts]:
    ranks = range(message.num_ranks)
    return [
        [(elems, _reduce(message, [_reduced(message, other, part + place, number) for other in ranks]))]
        for part, elems in enumerate(message.out_elems)
    ]


def _sent(message: Message, place: int, number: int) -> list[Parts]:
    size = message.num_ranks
    parts = message.splits()[0] or (sum(message.in_elems) // size,) * size
    filled = [(elems, _value(place, to, number)) for to, elems in enumerate(parts)]
    return [[part] for part in filled] if message.collective == "all_to_all" else [filled]


def _taken(message: Message, place: int, number: int) -> list[Parts]:
    size = message.num_ranks
    parts = message.splits()[1] or (sum(message.out_elems) // size,) * size
    filled = [(elems, _value(sender, place, number)) for sender, elems in enumerate(parts)]
    return [[part] for part in filled] if message.collective == "all_to_all" else [filled]


def _rooted(message: Message, place: int, number: int) -> list[Parts] | None:
    root = message.root or 0
    if message.collective == "broadcast":
        return [[(elems, _value(root, part, number))] for part, elems in enumerate(message.in_elems)]
    if message.collective == "scatter":
        return [[(elems, _value(root, place, number))] for elems in message.out_elems]
    if message.collective == "gather" and place == root:
        return [[(elems, _value(sender, 0, number))] for sender, elems in enumerate(message.out_elems)]
    if message.collective == "recv" and message.peer is not None:
        return [[(elems, _value(message.peer, 0, number))] for elems in message.out_elems]
    return None
