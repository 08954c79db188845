"""Nesting of the events of a thread by their starts and durations."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy
import pandas

Array = numpy.ndarray[Any, Any]

OPEN = -1
CLOSE = 1
# Order of starts and ends at equal times: an instant belongs to an event that begins at its time.
_BEFORE, _CLOSING, _OPENING, _AFTER = range(4)


class Nested(NamedTuple):
    """Events of a thread by their labels in the column `index`, in the order of their starts."""

    events: list[int]
    """Labels; an event precedes the events inside it."""
    parents: list[int | None]
    """Label of the parent of each event; None for an outermost event."""


def nested(frame: pandas.DataFrame, *, stacks_instants: bool) -> Nested:
    """Nests the events of a thread, from the columns `index`, `ts` and `dur`.

    A negative duration counts as 0. `stacks_instants` nests events without a duration that share a
    time; otherwise they are siblings.
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
    """Returns the positions of the starts and ends of events, sorted.

    At equal times, ends precede starts, and longer events enclose shorter events. Among equal
    events, the lower label encloses the higher label.
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
    """Returns the position of each start's parent among the starts; -1 without a parent.

    The parent is the last earlier start at the next lower level.
    """
    levels = numpy.cumsum(-kinds)[kinds == OPEN]
    count = len(levels)
    keys = levels * count + numpy.arange(count)
    order = numpy.argsort(levels, kind="stable")
    places = numpy.searchsorted(keys[order], keys - count) - 1
    return numpy.where(levels > 1, order[places], -1)
