"""Counters of CUPTI with the operators that launched what they count, in HTA's frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas

from kinetoscope.hta.nesting import Nesting

if TYPE_CHECKING:
    from kinetoscope.hta.common.trace import Trace

_RANGES = "cuda_profiler_range"
_LAUNCHES = "cudaLaunchKernel"


def counters(traces: Trace, rank: int) -> pandas.DataFrame | None:
    """A row for each range of the profiler, with the launch of the same place; None if they differ in number."""
    symbols = traces.symbol_table.get_sym_table()
    frame = traces.get_trace(rank).sort_values("ts", kind="stable")
    names = [symbols[number] for number in frame["name"]]
    categories = pandas.Series([symbols[number] for number in frame["cat"]], frame.index)
    frame = frame.assign(cat=categories, name=names)
    is_launch = (categories == "cuda_runtime") & frame["name"].str.startswith(_LAUNCHES)
    launches = frame.loc[is_launch, "index"].tolist()
    ranges = pandas.DataFrame(frame[categories == _RANGES].reset_index(drop=True))
    if len(ranges) == 0:
        return ranges
    if len(ranges) != len(launches):
        return None
    nesting = Nesting(traces.recorded(rank))
    stacks = [[operator.name for operator in reversed(nesting.operators(launch))] for launch in launches]
    return ranges.assign(
        index_runtime=launches,
        op_stack=stacks,
        top_level_op=[stack[0] if stack else None for stack in stacks],
        bottom_level_op=[stack[-1] if stack else None for stack in stacks],
    )
