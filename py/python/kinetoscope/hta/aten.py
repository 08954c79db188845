"""ATen operators with the kernels that they launch, and how long these take to begin, in HTA's frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas

from kinetoscope.hta.nesting import Nesting

if TYPE_CHECKING:
    from kinetoscope.hta.common.trace import Trace

_NS = 1000
_CALL = ["aten_op_name", "kernel_sequence"]
_DELAYS = ["avg_aten_op_launch_delay", "avg_runtime_delay"]


def kernels_and_delays(traces: Trace, rank: int, sort_by: Sequence[str]) -> pandas.DataFrame:
    """A row for each operator with each sequence of kernels: how often, and its first kernel's mean delays in µs.

    From the start of the operator to that of the launch, and from there to the kernel's.
    """
    calls = _calls(traces, rank)
    frame = pandas.DataFrame(calls, columns=[*_CALL, *_DELAYS])
    groups = frame.groupby(_CALL)
    found = pandas.DataFrame(groups[_DELAYS].mean()).round(3)
    found.insert(0, "occurrence_count", groups.size())
    return pandas.DataFrame(found.reset_index().sort_values(list(sort_by), ascending=False, kind="stable"))


def _calls(traces: Trace, rank: int) -> list[tuple[str, str, float, float]]:
    nesting = Nesting(traces.recorded(rank))
    launches = traces.analyze(rank, "launches").select("kind", "id", "device_id").rows()
    launched: dict[int, list[tuple[int, int]]] = {}
    for kind, launch, device in launches:
        inner = (operator.id for operator in nesting.operators(launch) if operator.name.startswith("aten::"))
        call = next(inner, None)
        if kind == "kernel" and call is not None:
            launched.setdefault(call, []).append((launch, device))
    rows = []
    for call, pairs in launched.items():
        launch, kernel = (nesting.events[event] for event in min(pairs))
        sequence = " -> ".join(nesting.events[device].name for _, device in sorted(pairs))
        operator = nesting.events[call]
        delays = (launch.start_ns - operator.start_ns, kernel.start_ns - launch.start_ns)
        rows.append((operator.name, sequence, *(ns / _NS for ns in delays)))
    return rows
