"""Measures two functions alternately, so that other load slows both."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

Measure = Callable[[], float]
"""Gives seconds, or bytes: whatever is compared."""


class Pairs(NamedTuple):
    """Paired measurements of ours and of the peer's."""

    ours: list[float]
    peers: list[float]

    @property
    def ratios(self) -> list[float]:
        """Ours as a multiple of the peer's, of each pair."""
        return [our / peer for our, peer in zip(self.ours, self.peers, strict=True)]

    @property
    def inverse(self) -> list[float]:
        """Peer over ours, per pair: how many times faster or smaller ours is."""
        return [1 / ratio for ratio in self.ratios]

    @property
    def medians(self) -> tuple[float, float]:
        """Of ours and of the peer's."""
        return statistics.median(self.ours), statistics.median(self.peers)


def alternate(ours: Measure, peer: Measure, num_pairs: int, *, num_warm: int = 1) -> Pairs:
    """Measures both alternately, after warm-up pairs; the order alternates, too."""
    pairs = Pairs([], [])
    for index in range(num_warm + num_pairs):
        steps = [(ours, pairs.ours), (peer, pairs.peers)]
        for measure, kept in steps if index % 2 else reversed(steps):
            value = measure()
            if index >= num_warm:
                kept.append(value)
    return pairs


def timed(work: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> Measure:
    """The seconds that `work` takes. Freeing what it gives is not counted."""

    def seconds() -> float:
        start = clock()
        answer = work()
        took = clock() - start
        del answer
        return took

    return seconds
