"""Reading beside Holistic Trace Analysis loading the same file: time and memory."""

from __future__ import annotations

import subprocess

from case import Measured, Skipped, compared
from fresh import Read, read_once
from inputs import LARGE, ROOT, Input, large, long_gzip
from pairs import Pairs

NUM_PAIRS = 5


def measure() -> list[Measured]:
    """On the large trace."""
    return _measured(large(), NUM_PAIRS)


def measure_long() -> list[Measured]:
    """Runs once on the long trace, which takes a minute, and six times on our own."""
    if not LARGE.exists():
        raise Skipped("HTA takes too long for what is made of our own trace")
    return _measured(long_gzip(), 1)


def _measured(source: Input, num_pairs: int) -> list[Measured]:
    """By turns, each in a fresh process, on all processors."""
    interpreter = python()
    ours: list[Read] = []
    theirs: list[Read] = []
    for _ in range(num_pairs):
        theirs.append(read_once("hta", source.path, python=interpreter))
        ours.append(read_once("kinetoscope", source.path))
    time = Pairs([read.seconds[0] for read in ours], [read.seconds[0] for read in theirs])
    memory = Pairs([float(read.peak_bytes) for read in ours], [float(read.peak_bytes) for read in theirs])
    subject, version = f"{source.name}, gzip", f"HTA {theirs[0].version}"
    return [
        compared(subject, time, time.inverse, "s", version),
        compared(subject, memory, memory.ratios, "MB", version),
    ]


def python() -> str:
    """The interpreter of HTA's own environment."""
    found = subprocess.run([ROOT / "scripts/hta.sh"], stdout=subprocess.PIPE, text=True, check=False)  # noqa: S603 - ours
    if found.returncode:
        raise Skipped("HolisticTraceAnalysis cannot be installed here")
    return str(ROOT / found.stdout.strip())
