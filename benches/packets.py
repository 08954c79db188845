"""How fast packets of Perfetto are read, and in how much memory."""

from __future__ import annotations

import time
from functools import partial

from case import Measured, compared, short
from fresh import on, processors, read_once
from inputs import long_packets, packets
from pairs import alternate, timed
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace
from speed import linked

NUM_PAIRS, NUM_READ = 9, 5
processor = partial(timed, clock=time.process_time)


def measure() -> list[Measured]:
    """Compares one thread with the parser of protobuf, which makes messages of the same bytes."""
    source = packets()
    content = source.path.read_bytes()
    with on(processors()[-1:]):
        pairs = alternate(processor(lambda: linked(content)), processor(lambda: Trace.FromString(content)), NUM_PAIRS)
    subject = f"{source.name}, {len(content) / 1e6:.1f} MB of packets"
    return [compared(subject, pairs, pairs.ratios, "s", "protobuf's own parser")]


def measure_long() -> list[Measured]:
    """Reads a gigabyte in fresh processes, on all processors. The fastest one counts."""
    source = long_packets()
    size = source.path.stat().st_size
    reads = [read_once("kinetoscope", source.path) for _ in range(NUM_READ)]
    seconds = min(read.seconds[0] for read in reads)
    subject = f"{source.name}, {size / 1e6:.0f} MB"
    peak, start = reads[0].peak_bytes, reads[0].start_bytes
    memory = f"{peak / 1e6:.0f} MB, {start / 1e6:.0f} MB of them before reading"
    return [
        Measured(subject, [size / 1e6 / seconds], f"{short(seconds)} s, the fastest of {NUM_READ}", "—"),
        Measured(subject, [(peak - start) / size], memory, f"{size / 1e6:.0f} MB of packets"),
    ]
