"""Sequences of kernels that come again and again, in HTA's frame."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pandas

if TYPE_CHECKING:
    from kinetoscope.hta.common.trace import Trace

_NS = 1000
_COLUMNS = ("pattern", "count", "GPU kernel duration (us)", "CPU op duration (us)")


def frequent_sequences(traces: Trace, rank: int, operator: str, min_length: int) -> pandas.DataFrame:
    """An operator with its device work, by how many calls have the same."""
    found = traces.analyze(rank, "sequences", operator=operator, min_length=min_length)
    rows = found.select("operator", "kernels", "count", "device_total_ns", "total_ns").rows()
    patterns = [
        ("|".join([name, *json.loads(kernels)]), count, device_ns / _NS, host_ns / _NS)
        for name, kernels, count, device_ns, host_ns in rows
    ]
    patterns.sort(key=lambda row: (-row[1], row[0]))
    return pandas.DataFrame(patterns, columns=list(_COLUMNS))
