"""How long reading takes beside what Python does with the same bytes."""

from __future__ import annotations

import gzip
import platform
import time
from functools import partial

import kinetoscope as ks
import orjson
from case import Measured, compared
from fresh import on, processors
from inputs import large, plain
from pairs import alternate, timed

NUM_PAIRS = 9
processor = partial(timed, clock=time.process_time)
"""Processor seconds of all threads: other processes and a second thread do not change them."""


def measure() -> list[Measured]:
    """Compares JSON with `orjson.loads`, gzip with `gzip.decompress`, and gzip by wall clock."""
    name, text, packed = large().name, plain().path.read_bytes(), large().path.read_bytes()
    with on(processors()[-1:]):
        json = alternate(processor(lambda: linked(text)), processor(lambda: orjson.loads(text)), NUM_PAIRS)
        stream = alternate(processor(lambda: linked(packed)), processor(lambda: gzip.decompress(packed)), NUM_PAIRS)
    clock = alternate(timed(lambda: linked(packed)), timed(lambda: gzip.decompress(packed)), NUM_PAIRS)
    subject, peer = f"{name}, {len(packed) / 1e6:.1f} MB of gzip", f"gzip of Python {platform.python_version()}"
    return [
        compared(f"{name}, {len(text) / 1e6:.1f} MB", json, json.ratios, "s", f"orjson {orjson.__version__}"),
        compared(subject, stream, stream.ratios, "s", peer),
        compared(subject, clock, clock.ratios, "s", peer),
    ]


def linked(content: bytes) -> ks.Trace:
    """The trace, with its links: the coverage counts them."""
    trace = ks.read(content)
    _ = trace.coverage
    return trace
