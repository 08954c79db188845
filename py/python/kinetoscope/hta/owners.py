"""Enclosing operators of host events."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pandas

from kinetoscope.hta.nested import nested

if TYPE_CHECKING:
    from kinetoscope.hta.common.trace_symbol_table import TraceSymbolTable


def owners(
    frame: pandas.DataFrame, symbols: TraceSymbolTable, is_owner: Callable[[str], bool], *, innermost: bool
) -> dict[int, int]:
    """Finds the innermost or outermost owner of each host event.

    An owner is the event itself or an ancestor whose name `is_owner` accepts.

    Keys and values are labels of the frame. Events without an owner have no entry.
    """
    names = symbols.get_sym_table()
    wanted = {number for number in frame["name"].unique() if is_owner(names[number])}
    has_name = dict(zip(frame["index"], frame["name"].isin(wanted), strict=True))
    found: dict[int, int] = {}
    for _, thread in frame[frame["stream"] == -1].groupby(["pid", "tid"], sort=False):
        events = nested(pandas.DataFrame(thread), stacks_instants=True)
        for event, parent in zip(events.events, events.parents, strict=True):
            around = None if parent is None else found.get(parent)
            owner = event if has_name[event] and (innermost or around is None) else around
            if owner is not None:
                found[event] = owner
    return found
