"""CUPTI counters with the operators around each kernel launch."""

from __future__ import annotations

import pandas

from kinetoscope._base.warnings import warn
from kinetoscope.hta import cupti
from kinetoscope.hta.common.trace import Trace
from kinetoscope.hta.common.trace_call_graph import CallGraph

_COUNTER = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"
# a fused multiply-add (fma) is two operations
_OPERATIONS = {"fma": 2, "mul": 1, "add": 1}

CUDA_SASS_INSTRUCTION_COUNTER_FLOPS = {
    _COUNTER.format(f"{precision}{operation}"): count
    for precision in ("f", "h", "d")
    for operation, count in _OPERATIONS.items()
}
"""Floating-point operations per counted instruction, by the name of the counter."""


class CuptiCounterAnalysis:
    """Assigns CUPTI profiler ranges to kernel launches."""

    cuda_profiler_cat = cupti.RANGES
    """The category of the ranges."""

    @classmethod
    def get_counter_data_with_operators(cls, t: Trace, ranks: list[int] | None = None) -> list[pandas.DataFrame]:
        """Lists the counters of each rank with the operators around the launch.

        `op_stack` holds the operators, outermost first.

        Pairs ranges and launches by their order. Skips a rank with a RuntimeWarning if the numbers
        of ranges and launches differ.
        """
        if cls.cuda_profiler_cat not in t.symbol_table.get_sym_id_map():
            return []
        wanted = list(ranks) if ranks else t.get_ranks()[:1]
        CallGraph(t, ranks=wanted)
        found = {rank: cupti.counters(t, rank) for rank in wanted}
        for rank in (rank for rank, frame in found.items() if frame is None):
            warn(f"expected a launch for each CUPTI range of rank {rank}, found another number: skipped rank {rank}")
        return [frame for frame in found.values() if frame is not None]
