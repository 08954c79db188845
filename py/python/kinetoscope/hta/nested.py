"""Nesting of the events of a thread by their starts and durations."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy
import pandas

Array = numpy.ndarray[Any, Any]

OPEN = -1
CLOSE = 1
# Places among the ends that share a time: an instant belongs to the event that begins with it, if there is one.
_BEFORE, _CLOSING, _OPENING, _AFTER = range(4)


class Nested(NamedTuple):
    """Events of a thread by their labels in the column `index`, in the order of their starts."""

    events: list[int]
    """Labels; an event precedes the events inside it."""
    parents: list[int | None]
    """Label of the event around each event; None for an outermost event."""


def nested(frame: pandas.DataFrame, *, stacks_instants: bool) -> Nested:
    """Nests the events of a thread, from the columns `index`, `ts` and `dur`.

    A negative duration counts as 0. Events without a duration that share a time are inside one another with
    `stacks_instants`, and beside one another without.
    """
    labels, starts = frame["index"].to_numpy(), frame["ts"].to_numpy()
    durs = frame["dur"].clip(lower=0).to_numpy()
    kinds = numpy.repeat([OPEN, CLOSE], len(labels))
    times = numpy.concatenate([starts, starts + durs])
    order = order_of_ends(numpy.tile(labels, 2), numpy.tile(durs, 2), kinds, times, stacks_instants=stacks_instants)
    events = order[order < len(labels)]
    parents = _parents(kinds[order])
    around: list[int | None] = labels[events][parents].tolist()
    for place in numpy.flatnonzero(parents < 0).tolist():
        around[place] = None
    return Nested(labels[events].tolist(), around)


def order_of_ends(labels: Array, durs: Array, kinds: Array, times: Array, *, stacks_instants: bool = True) -> Array:
    """Returns the places of the starts and ends of events, sorted.

    Ends at the same time follow these rules: events close before others open, longer events enclose shorter ones,
    and among equal events the lower label encloses the higher one.
    """
    is_instant = durs == 0
    is_opening = (kinds == OPEN) & ~is_instant
    begins_with = numpy.isin(times, times[is_opening])
    classes = numpy.where(is_opening, _OPENING, _CLOSING)
    classes = numpy.where(is_instant, numpy.where(begins_with, _AFTER, _BEFORE), classes)
    first, second = kinds * durs, -kinds * labels
    if stacks_instants:
        first = numpy.where(is_instant, kinds, first)
    else:
        first, second = numpy.where(is_instant, labels, first), numpy.where(is_instant, kinds, second)
    return numpy.lexsort((second, first, classes, times))


def _parents(kinds: Array) -> Array:
    """Returns, for each start, the place among the starts of the one around it; -1 without one.

    That is the last start before it at the next lower level.
    """
    levels = numpy.cumsum(-kinds)[kinds == OPEN]
    count = len(levels)
    keys = levels * count + numpy.arange(count)
    order = numpy.argsort(levels, kind="stable")
    places = numpy.searchsorted(keys[order], keys - count) - 1
    return numpy.where(levels > 1, order[places], -1)
