"""Counters of CUPTI with the operators that launched what they count, in HTA's frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas

from kinetoscope.hta.nesting import Nesting

if TYPE_CHECKING:
    from kinetoscope.hta.common.trace import Trace

_RANGES = "cuda_profiler_range"
_RUNTIME = "cuda_runtime"
_LAUNCHES = "cudaLaunchKernel"


def counters(traces: Trace, rank: int) -> pandas.DataFrame | None:
    """A row for each range of the profiler, with the launch of the same place; None if they differ in number."""
    symbols = traces.symbol_table.get_sym_table()
    frame = traces.get_trace(rank).sort_values("ts", kind="stable")
    names, categories = ([symbols[number] for number in frame[column]] for column in ("name", "cat"))
    frame = frame.assign(cat=categories, name=names)
    rows = zip(frame["index"], categories, names, strict=True)
    launches = [event for event, category, name in rows if category == _RUNTIME and name.startswith(_LAUNCHES)]
    ranges = pandas.DataFrame(frame[frame["cat"] == _RANGES].reset_index(drop=True))
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
