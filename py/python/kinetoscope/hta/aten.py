"""ATen operators with their kernels and launch delays, in HTA's frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas

from kinetoscope.hta.launches import kernel_launches
from kinetoscope.hta.owners import owners
from kinetoscope.hta.work import device_work

if TYPE_CHECKING:
    from kinetoscope.hta.common.trace import Trace

_KERNEL = ["aten_op_name", "kernel_sequence"]
_DELAYS = ["avg_aten_op_launch_delay", "avg_runtime_delay"]


def kernels_and_delays(traces: Trace, rank: int, sort_by: Sequence[str]) -> pandas.DataFrame:
    """Counts each operator and kernel sequence, with the first kernel's mean delays in µs.

    The first delay runs from the start of the operator to the start of the launch. The second delay
    runs from the start of the launch to the start of the kernel.
    """
    calls = _calls(traces, rank)
    first = calls.groupby("operator")[["aten_op_name", *_DELAYS]].first()
    first["kernel_sequence"] = calls.groupby("operator")["kernel"].agg(" -> ".join)
    grouped = first.groupby(_KERNEL)[_DELAYS]
    found = pandas.DataFrame(grouped.mean()).round(3)
    found.insert(0, "occurrence_count", grouped.size())
    return found.reset_index().sort_values(list(sort_by), ascending=False, kind="stable")


def _calls(traces: Trace, rank: int) -> pandas.DataFrame:
    """Lists kernels whose launch is inside an ATen operator of the same thread.

    Rows are in the order of the launches.
    """
    frame, symbols = traces.get_trace(rank), traces.symbol_table
    names = symbols.get_sym_table()
    around = owners(frame, symbols, lambda name: name.startswith("aten::"), innermost=True)
    launches = kernel_launches(frame, symbols)
    launches = launches[launches["index"].isin(list(around))]
    work = device_work(frame, symbols).sort_values("ts", kind="stable")
    work = work.loc[work["index_correlation"].isin(launches["index"])]
    start, name = frame["ts"], frame["name"]
    operators = [around[launch] for launch in work["index_correlation"]]
    launched = start.reindex(work["index_correlation"]).to_numpy()
    found = {
        "operator": operators,
        "aten_op_name": [names[number] for number in name.reindex(operators)],
        "kernel": [names[number] for number in work["name"]],
        "launch": launched,
        "avg_aten_op_launch_delay": launched - start.reindex(operators).to_numpy(),
        "avg_runtime_delay": work["ts"].to_numpy() - launched,
    }
    return pandas.DataFrame(found).sort_values("launch", kind="stable")
