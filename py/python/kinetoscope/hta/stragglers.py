"""Ranks that other ranks wait for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kinetoscope.hta.common.trace import Trace


def comes_last(traces: Trace, steps: Sequence[int]) -> list[int]:
    """Lists ranks that joined collectives last, in descending order of frequency.

    Among equally frequent ranks, the longest total wait comes first.
    """
    parts = [{"iteration": step} for step in steps] or [{}]
    last: Counter[int] = Counter()
    waits: Counter[int] = Counter()
    for part in parts:
        answer = traces.analyze_job("stragglers", **part)
        for rank, num_last, wait_ns in answer.select("rank", "num_last", "caused_wait_ns").rows():
            last[rank] += num_last
            waits[rank] += wait_ns
    return sorted((rank for rank in last if last[rank]), key=lambda rank: (-last[rank], -waits[rank], rank))
