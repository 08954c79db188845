"""Reads, links and writes a pair of traces; compares its time with a pair ten times as long."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

import kinetoscope as ks
from case import Measured, Skipped, compared, short
from fresh import apart
from inputs import Input, pair, size
from pairs import Measure, alternate, timed

NUM_NODES = 67_000
NUM_PAIRS = 5
LINKED = 0.99
"""The share of nodes that has to be linked, for the time to be that of linking."""


def measure() -> list[Measured]:
    """By the clock, each in a fresh process."""
    once, ten_times = pair(NUM_NODES), pair(10 * NUM_NODES)
    pairs = alternate(_per_node(ten_times), _per_node(once), NUM_PAIRS, num_warm=0)
    seconds = [per_node * _num_nodes(once) for per_node in pairs.peers]
    subject = f"{once.name}, {_num_nodes(once)} nodes, {size(once.path) / 1e6:.0f} MB"
    middle = sorted(seconds)[len(seconds) // 2]
    return [
        Measured(subject, seconds, f"{short(middle)} s", "—"),
        compared(ten_times.name, pairs, pairs.ratios, "ns", f"{once.name}; both for each node"),
    ]


def _per_node(source: Input) -> Measure:
    return lambda: apart(partial(_seconds, source)) / _num_nodes(source)


def _seconds(source: Input) -> float:
    with tempfile.TemporaryDirectory() as folder:
        return timed(partial(_link, source, Path(folder) / "linked.json"))()


def _link(source: Input, target: Path) -> None:
    trace = ks.read(source.path / "kineto_trace_0.json", source.path / "torch_et_0.json")
    linked = trace.to_et_plus(target)
    if linked.num_linked < LINKED * linked.num_nodes:
        raise Skipped(f"only {linked.num_linked} of {linked.num_nodes} nodes are linked")


def _num_nodes(source: Input) -> int:
    return int(source.name.rpartition(" ")[2]) * (1672 if source.name.startswith("dlrm") else 3226)
