"""Calls of operators with as little work around them as Python allows.

The work counts as time of the step, and an operator may take less than three microseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

Marks = dict[int, tuple[Any, Any]]
"""Begin and end by the index of the unit."""


class KeptResult(NamedTuple):
    """A result that is as recorded, and the slots that keep it."""

    shape: tuple[int, ...]
    slot: int
    holder: int
    """The slot of its storage if that is new, else the same slot."""


class KeptResults(NamedTuple):
    """Results of an operator; none for one that returns its arguments."""

    single: KeptResult | None
    """The only result, of an operator that returns a tensor and no list of them."""
    several: tuple[KeptResult, ...]


class PlainArguments(NamedTuple):
    """Arguments that are tensors of slots, or equal in each pass. The slots must be filled."""

    given: Callable[[list[Any]], Sequence[Any]]
    """Takes the positional arguments from the tensors by slot."""
    named: Mapping[str, Any]
    named_slots: tuple[tuple[str, int], ...]
    """Names of tensors, and their slots."""


class PlainCall(NamedTuple):
    """A call that takes its arguments as they are, and whose results were as recorded."""

    operator: Callable[..., Any]
    missing: tuple[int, ...]
    """Slots of arguments that are empty before it."""
    arguments: PlainArguments
    kept: KeptResults
    freed: tuple[int, ...]
    """Slots to empty after it."""


class Others(NamedTuple):
    """Functions of a pass for all that is no plain call."""

    step: Callable[[int], None]
    """Runs a unit that has no plain call, and frees what ends with it."""
    fill: Callable[[int], Any]
    """Fills a slot."""
    results: Callable[[Any], Sequence[Any]]
    """Returns the tensors among results."""
    take: Callable[[int, Any, Exception | None], None]
    """Takes results of other shapes, or an error."""


def run_pass(calls: Sequence[PlainCall | None], held: list[Any], mark: Callable[[], Any], others: Others) -> Marks:
    """Runs all units in their order, and measures those with plain calls.

    The shapes of results are compared with the recorded ones. Other than shapes, no part of a
    layout depends on values.
    """
    marks: Marks = {}
    for at, call in enumerate(calls):
        if call is None:
            others.step(at)
            continue
        operator, missing, (given, named, named_slots), (single, several), freed = call
        error = None
        try:
            for slot in missing:
                others.fill(slot)
            arguments = given(held)
            if named_slots:
                named = {**named, **{name: held[slot] for name, slot in named_slots}}
            begin = mark()
            made = operator(*arguments, **named)
            marks[at] = (begin, mark())
            if single is None:
                is_kept = not several or _keep(several, others.results(made), held)
            else:
                shape, slot, holder = single
                is_kept = made.shape == shape
                if is_kept:
                    held[slot] = held[holder] = made
        except Exception as caught:  # noqa: BLE001 - torch raises any type
            made, error, is_kept = None, caught, False
        if not is_kept:
            others.take(at, made, error)
        made = arguments = named = error = None  # an error holds this frame, and all hold tensors
        for slot in freed:
            held[slot] = None
    return marks


def _keep(several: Sequence[KeptResult], results: Sequence[Any], held: list[Any]) -> bool:
    if len(results) < len(several):
        return False
    for (shape, slot, holder), result in zip(several, results, strict=False):
        if result.shape != shape:
            return False
        held[slot] = held[holder] = result
    return True
