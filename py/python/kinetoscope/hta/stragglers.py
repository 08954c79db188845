"""Ranks that the others wait for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import pandas

if TYPE_CHECKING:
    from kinetoscope.hta.common.trace import Trace

    Find = Callable[[pandas.DataFrame, object, int, bool], pandas.Series]


def stragglers(traces: Trace, steps: Sequence[int] | None, count: int, find: Find | None, *, drawn: bool) -> list[int]:
    """At most `count` ranks, those first that were late in the most steps.

    Where no long communication of a step tells, those first that came last to communications the most often.

    `find` takes the frames of all ranks in one, and gives for each rank how often it was late.
    """
    known = sorted({step for rank in traces.get_ranks() for step in traces.get_iterations(rank)})
    asked = known if steps is None else list(steps)
    if unknown := set(asked) - set(known):
        raise ValueError(f"expected some of the steps {known}, found {min(unknown)}")
    if find is None:
        return (_begins_late(traces, asked, max(count, 1)) or _comes_last(traces, asked))[: max(count, 1)]
    frames = pandas.concat([traces.get_trace(rank).assign(rank=rank) for rank in traces.get_ranks()])
    found = find(frames.loc[frames["iteration"].isin(asked)], traces.symbol_table, count, drawn)
    return [int(rank) for rank in found.nlargest(max(count, 1)).index]


def _begins_late(traces: Trace, steps: Sequence[int], count: int) -> list[int]:
    """Ranks by how many steps their last long communication begins late in, the most first, as HTA has it."""
    part = {"like": "hta", "candidates": count, "iterations": ",".join(map(str, steps))}
    answer = traces.analyze_job("stragglers", **part)
    late: Counter[int] = Counter()
    for rank, is_late in answer.select("rank", "is_late").rows():
        late[rank] += is_late
    return sorted(late, key=lambda rank: (-late[rank], rank))


def _comes_last(traces: Trace, steps: Sequence[int]) -> list[int]:
    """Ranks that came last at all, the most often first; of those, that the others waited for the longest."""
    parts = [{"iteration": step} for step in steps] or [{}]
    last: Counter[int] = Counter()
    waits: Counter[int] = Counter()
    for part in parts:
        answer = traces.analyze_job("stragglers", **part)
        for rank, num_last, wait_ns in answer.select("rank", "num_last", "caused_wait_ns").rows():
            last[rank] += num_last
            waits[rank] += wait_ns
    return sorted((rank for rank in last if last[rank]), key=lambda rank: (-last[rank], -waits[rank], rank))
