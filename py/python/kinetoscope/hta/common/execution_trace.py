"""Execution Traces, and frame columns from their nodes."""

from __future__ import annotations

import json
import math
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas

from kinetoscope._base.warnings import warn
from kinetoscope._load.read import read
from kinetoscope.hta.common.trace import Trace
from kinetoscope.hta.utils.utils import normalize_path

if TYPE_CHECKING:
    from kinetoscope import trace as recorded
    from kinetoscope.hta.common.trace_symbol_table import TraceSymbolTable

__all__ = [
    "EXECUTION_TRACE_SUPPORTED_EVENTS",
    "IMPORT_EXECUTION_TRACE_SUCCESSFULLY",
    "ExecutionTrace",
    "Node",
    "Trace",
    "add_et_column",
    "correlate_execution_trace",
    "load_execution_trace",
    "normalize_path",
]

_FIELDS = (  # columns of the table, in the order of the fields of Node
    *("node_id", "name", "parent_id", "record_id", "seq_num", "fw_parent_id", "scope", "thread", "fw_thread", "schema"),
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

EXECUTION_TRACE_SUPPORTED_EVENTS: list[str] = ["cpu_op", "user_annotation"]
"""Categories of events that nodes can represent."""

IMPORT_EXECUTION_TRACE_SUCCESSFULLY = True
"""Whether Execution Traces can be read; always true, because no other package is needed."""


class Node(NamedTuple):
    """A node of an Execution Trace, with the attributes of a node of et_replay.

    Values missing in the file are None.
    """

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
    """The nodes of a file, from its JSON document or its tables."""

    def __init__(self, trace: recorded.Trace | dict[str, Any]) -> None:
        self.trace: recorded.Trace = read(json.dumps(trace).encode(), et=False) if isinstance(trace, dict) else trace
        """The tables of the file."""

    @cached_property
    def nodes(self) -> dict[int, Node]:
        """The nodes by their ids."""
        rows = self.trace.nodes.select(*_FIELDS).rows()
        return {row[0]: Node._make((*row[:9], row[9] or "", *map(_list, row[10:]))) for row in rows}


def load_execution_trace(et_file: str) -> ExecutionTrace:
    """Reads an Execution Trace of any version.

    Raises TraceError or OSError for an unreadable file.
    """
    return ExecutionTrace(read(normalize_path(et_file), et=False))


def correlate_execution_trace(trace: Trace, rank: int, et: ExecutionTrace) -> None:
    """Adds `et_node` to the frame of a rank: the node id of each event.

    The value is NaN for events without a node.

    Links events to nodes as the core does. If the rank has no file, or `load_execution_trace` did
    not read the nodes, matches `rf_id` of nodes to `external_id` of events. Warns if no event has a
    node. Raises ValueError for an unknown rank, TypeError for an object without nodes.
    """
    if not hasattr(et, "nodes"):
        raise TypeError(f"expected the result of load_execution_trace, found {type(et).__name__}")
    frame = trace.get_trace(rank)
    source: str | None = getattr(getattr(et, "trace", None), "source", None)
    path = trace.trace_files.get(rank)
    if path and source:
        nodes = _linked_nodes(frame, path, source)
    else:
        nodes = _nodes_by_record_id(frame, trace.symbol_table, et)
    frame["et_node"] = nodes.astype("float64")
    if nodes.isna().all():
        warn(f"no event of {path or f'rank {rank}'} was found in {source or 'the nodes'}: are they of the same run?")


def add_et_column(trace_df: pandas.DataFrame, et: ExecutionTrace, column: str) -> None:
    """Adds a column of the nodes to a frame with `et_node`; NaN for events without a node.

    `column` is `et_node_name`, `op_schema`, `input_shapes`, `input_types`, `output_shapes` or
    `output_types`. Warns and adds nothing for other columns, and if the frame has no `et_node`:
    call `correlate_execution_trace` first.
    """
    if "et_node" not in trace_df:
        warn(f"expected a frame with et_node, found none: call correlate_execution_trace before adding {column}")
        return
    if column not in _ET_COLUMNS:
        warn(f"expected one of {', '.join(_ET_COLUMNS)}, found {column}: nothing is added")
        return
    values = {node_id: getattr(node, _ET_COLUMNS[column]) for node_id, node in et.nodes.items()}
    cells = [values.get(node_id, math.nan) for node_id in trace_df["et_node"]]
    trace_df[column] = pandas.Series(cells, trace_df.index, dtype=object)


def _linked_nodes(frame: pandas.DataFrame, path: str, source: str) -> pandas.Series:
    """Returns the nodes as the core links them."""
    nodes = dict(read(path, et=source).events.select("id", "node_id").rows())
    return pandas.Series([nodes[event] for event in frame["index"]], frame.index)


def _nodes_by_record_id(frame: pandas.DataFrame, symbols: TraceSymbolTable, et: ExecutionTrace) -> pandas.Series:
    ids = symbols.get_sym_id_map()
    kinds = [ids[category] for category in EXECUTION_TRACE_SUPPORTED_EVENTS if category in ids]
    nodes = {node.rf_id: node_id for node_id, node in et.nodes.items() if node.rf_id is not None}
    return frame["external_id"].map(nodes).where(frame["cat"].isin(kinds))


def _list(text: str | None) -> list[Any]:
    return json.loads(text) if text else []
