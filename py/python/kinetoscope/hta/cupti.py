"""CUPTI counters with the operators around each kernel launch, in HTA's frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas

if TYPE_CHECKING:
    from kinetoscope.hta.common.trace import Trace

RANGES = "cuda_profiler_range"
_RUNTIME = "cuda_runtime"
_LAUNCHES = "cudaLaunchKernel"
_OPERATORS = "cpu_op"


def counters(traces: Trace, rank: int) -> pandas.DataFrame | None:
    """Pairs each profiler range with the launch at the same position.

    Returns None if the numbers of ranges and launches differ. The frame needs the columns of a call
    graph.
    """
    symbols = traces.symbol_table
    names = symbols.get_sym_table()
    frame = traces.get_trace(rank).sort_values("ts", kind="stable")
    category = {name: symbols.get_sym_id_map().get(name, -1) for name in (RANGES, _RUNTIME)}
    is_launch = (frame["cat"] == category[_RUNTIME]) & frame["name"].map(
        {number: names[number].startswith(_LAUNCHES) for number in frame["name"].unique()}
    )
    launches = frame.loc[is_launch, "index"].to_numpy()
    ranges = frame[frame["cat"] == category[RANGES]].reset_index(drop=True)
    if len(ranges) != len(launches):
        return None
    stacks = _stacks(traces, rank, launches.tolist())
    return ranges.assign(
        name=[names[number] for number in ranges["name"]],
        cat=RANGES,
        index_runtime=launches,
        op_stack=pandas.Series(stacks, dtype=object),
        top_level_op=pandas.Series([stack[0] if stack else "" for stack in stacks], dtype=object),
        bottom_level_op=pandas.Series([stack[-1] if stack else "" for stack in stacks], dtype=object),
    )


def _stacks(traces: Trace, rank: int, launches: list[int]) -> list[list[str]]:
    """Lists the operators around each launch, outermost first."""
    names = traces.symbol_table.get_sym_table()
    operator = traces.symbol_table.get_sym_id_map().get(_OPERATORS, -1)
    frame = traces.get_trace(rank)
    parents, categories, symbols = (frame[column].to_dict() for column in ("parent", "cat", "name"))
    stacks = []
    for launch in launches:
        around, event = [], parents[launch]
        while event in parents:
            if categories[event] == operator:
                around.append(names[symbols[event]])
            event = parents[event]
        stacks.append(around[::-1])
    return stacks
