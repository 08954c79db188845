"""Reading the ranks of a job on two processors beside reading them on one."""

from __future__ import annotations

from pathlib import Path

from case import Measured, Skipped, compared
from fresh import on, processors, read_once
from inputs import Input, archive, folder, size
from pairs import Measure, alternate

NUM_PAIRS = 9
TIMES = 15
"""Reads in each process, of which the quickest counts: with other work on one of two processors there is but one."""


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
    pairs = alternate(_seconds(source.path, usable[:2]), _seconds(source.path, usable[:1]), NUM_PAIRS)
    subject = f"{source.name}, {size(source.path) / 1e6:.1f} MB"
    return [compared(subject, pairs, pairs.inverse, "ms", "one processor")]


def _seconds(path: Path, chosen: list[int]) -> Measure:
    def seconds() -> float:
        with on(chosen):
            return min(read_once("kinetoscope", path, times=TIMES).seconds)

    return seconds
