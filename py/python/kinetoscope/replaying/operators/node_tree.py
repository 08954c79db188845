"""Parents of the nodes of an Execution Trace, where they form no tree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kinetoscope._base import text

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

_MAX_SHOWN = 3


def above_themselves(parents: Mapping[int, int | None]) -> set[int]:
    """Returns the nodes whose parents lead back to them over others.

    A node that is its own parent is a root: torch writes the first node like that.
    """
    found: set[int] = set()
    done: set[int] = set()
    for start in parents:
        path: dict[int, None] = {}
        at: int | None = start
        while at is not None and at in parents and at not in done and at not in path:
            path[at] = None
            at = None if parents[at] == at else parents[at]
        if at is not None and at in path:
            ids = list(path)
            found.update(ids[ids.index(at) :])
        done.update(path)
    return found


def tree_notes(trace: Trace) -> list[str]:
    """Describes the nodes that a replay leaves out, or moves, because they form no tree."""
    rows = trace.nodes.select("node_id", "parent_id").rows()
    parents: dict[int, int | None] = dict(rows)
    notes: list[str] = []
    if len(parents) < len(rows):
        notes.append(f"left out {text.plural(len(rows) - len(parents), 'node')}: other nodes have the same ids")
    circles = sorted(above_themselves(parents))
    if circles:
        shown = ", ".join(map(str, circles[:_MAX_SHOWN]))
        more = f" and {len(circles) - _MAX_SHOWN} more" if len(circles) > _MAX_SHOWN else ""
        notes.append(f"{text.plural(len(circles), 'node')} ({shown}{more}) had themselves above: taken without parents")
    return notes
