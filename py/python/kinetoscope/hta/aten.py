"""ATen operators with the kernels that they launch, and how long these take to begin, in HTA's frame."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas

if TYPE_CHECKING:
    from kinetoscope.hta.common.trace import Trace

_NS = 1000
_COLUMNS = {
    "aten_op_name": "operator",
    "kernel_sequence": "kernels",
    "occurrence_count": "count",
    "avg_aten_op_launch_delay": "mean_until_launch_ns",
    "avg_runtime_delay": "mean_until_kernel_ns",
}


def kernels_and_delays(traces: Trace, rank: int, sort_by: Sequence[str]) -> pandas.DataFrame:
    """A row for each operator with each sequence of kernels: how often, and its first kernel's mean delays in µs.

    From the start of the operator to that of the launch, and from there to the kernel's.
    """
    table = traces.analyze(rank, "launches", prefix="aten::").tables["launches_by_operator"]
    rows = [
        (operator, " -> ".join(json.loads(kernels)), count, *(ns / _NS for ns in delays))
        for operator, kernels, count, *delays in table.select(*_COLUMNS.values()).rows()
    ]
    frame = pandas.DataFrame(sorted(rows), columns=list(_COLUMNS)).round(3)
    return frame.sort_values(list(sort_by), ascending=False, kind="stable")
