"""Execution Traces, and what they know of the events in a frame."""

from __future__ import annotations

import json
import math
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas

from kinetoscope.notice import warn
from kinetoscope.read import read

if TYPE_CHECKING:
    from kinetoscope import trace as recorded
    from kinetoscope.hta.common.trace import Trace

_FIELDS = (  # of the table, in the order of Node's
    *("node_id", "name", "parent", "record_id", "seq_num", "fw_parent", "scope", "thread", "fw_thread", "schema"),
    *("inputs", "input_shapes", "input_types", "outputs", "output_shapes", "output_types"),
)
_ET_COLUMNS = {
    "et_node_name": "name",
    "op_schema": "op_schema",
    "input_shapes": "input_shapes",
    "input_types": "input_types",
    "output_shapes": "output_shapes",
    "output_types": "output_types",
}


class Node(NamedTuple):
    """A vertex of the Execution Trace, with the names of et_replay. What the file does not say is None."""

    id: int
    name: str
    parent_id: int | None
    rf_id: int | None
    seq_id: int | None
    fw_parent_id: int | None
    scope: int | None
    tid: int | None
    fw_tid: int | None
    op_schema: str
    inputs: list[Any]
    input_shapes: list[Any]
    input_types: list[str]
    outputs: list[Any]
    output_shapes: list[Any]
    output_types: list[str]


class ExecutionTrace:
    """The nodes of a file."""

    def __init__(self, trace: recorded.Trace) -> None:
        self.trace = trace
        """Its tables."""

    @cached_property
    def nodes(self) -> dict[int, Node]:
        """The nodes by their ids."""
        rows = self.trace.nodes.select(*_FIELDS).rows()
        return {row[0]: Node._make((*row[:9], row[9] or "", *map(_list, row[10:]))) for row in rows}


def load_execution_trace(et_file: str) -> ExecutionTrace:
    """Reads an Execution Trace of any version. TraceError or OSError when that is not possible."""
    return ExecutionTrace(read(Path(et_file).expanduser(), et=False))


def correlate_execution_trace(trace: Trace, rank: int, et: ExecutionTrace) -> None:
    """Adds `et_node` to the frame of a rank: the node that each event was, NaN for those that were none.

    RuntimeWarning when no event was any. ValueError when there is no such rank.
    """
    if getattr(et, "trace", None) is None:
        raise TypeError(f"expected what load_execution_trace gives, found {type(et).__name__}")
    frame = trace.get_trace(rank)
    linked = read(trace.trace_files[rank], et=et.trace.source)
    nodes = dict(linked.events.select("id", "node_id").rows())
    frame["et_node"] = pandas.Series([nodes[event] for event in frame["index"]], frame.index, dtype="float64")
    if frame["et_node"].isna().all():
        warn(f"no event of {trace.trace_files[rank]} was found in {et.trace.source}: are they of the same run?")


def add_et_column(trace_df: pandas.DataFrame, et: ExecutionTrace, column: str) -> None:
    """Adds what the nodes say to a frame that has `et_node`: NaN for events that were no node.

    `column` is `et_node_name`, `op_schema`, `input_shapes`, `input_types`, `output_shapes` or `output_types`.
    ValueError for another, and when `correlate_execution_trace` was not called before.
    """
    if "et_node" not in trace_df:
        raise ValueError("expected a frame with et_node, found none: call correlate_execution_trace first")
    if column not in _ET_COLUMNS:
        raise ValueError(f"expected one of {', '.join(_ET_COLUMNS)}, found {column}")
    values = {node_id: getattr(node, _ET_COLUMNS[column]) for node_id, node in et.nodes.items()}
    cells = [values.get(node_id, math.nan) for node_id in trace_df["et_node"]]
    trace_df[column] = pandas.Series(cells, trace_df.index, dtype=object)


def _list(text: str | None) -> list[Any]:
    return json.loads(text) if text else []
