"""Reading the ranks of a job on two processors beside reading them on one."""

from __future__ import annotations

from pathlib import Path

from case import Measured, Skipped, compared
from fresh import on, processors, read_once
from inputs import Input, archive, folder, size
from others import Others
from pairs import Measure, Pairs, alternate

NUM_PAIRS = 9
MAX_PAIRS = 20
QUIET = 0.15
"""Maximum load of other processes: pairs with more load do not count."""
TIMES = 15
"""Reads in each process, of which the quickest counts."""


def measure() -> list[Measured]:
    """From a folder."""
    return _measured(folder())


def measure_archive() -> list[Measured]:
    """From an archive."""
    found = archive()
    if found is None:
        raise Skipped("no archive of eight ranks at hand")
    return _measured(found)


def _measured(source: Input) -> list[Measured]:
    usable = processors()
    if len(usable) < 2:  # noqa: PLR2004 - two are what is asked
        raise Skipped("two processors are needed, and a system that says which to use")
    pairs = _quiet(_seconds(source.path, usable[:2]), _seconds(source.path, usable[:1]))
    subject = f"{source.name}, {size(source.path) / 1e6:.1f} MB"
    return [compared(subject, pairs, pairs.inverse, "ms", "one processor")]


def _quiet(ours: Measure, peer: Measure) -> Pairs:
    found = Pairs([], [])
    for _ in range(MAX_PAIRS):
        others = Others.now()
        pair = alternate(ours, peer, 1, num_warm=0)
        if others.processors() < QUIET:
            found.ours.extend(pair.ours)
            found.peers.extend(pair.peers)
        if len(found.ours) == NUM_PAIRS:
            break
    if not found.ours:
        raise Skipped(f"other work was on the machine during each of {MAX_PAIRS} pairs")
    return found


def _seconds(path: Path, chosen: list[int]) -> Measure:
    def seconds() -> float:
        with on(chosen):
            return min(read_once("kinetoscope", path, times=TIMES).seconds)

    return seconds
