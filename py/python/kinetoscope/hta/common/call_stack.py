"""Older form of `trace_call_stack` and `trace_call_graph`: call trees without device work."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, NamedTuple

import numpy
import pandas

from kinetoscope.hta import call_tree
from kinetoscope.hta.call_tree import CallTree
from kinetoscope.hta.common.trace import Trace
from kinetoscope.hta.common.trace_filter import Filter
from kinetoscope.hta.configs import env_options
from kinetoscope.hta.nested import Array, nested

NON_EXISTENT_NODE_INDEX: int = call_tree.NON_EXISTENT_NODE_INDEX
"""Parent index of an unknown event."""
NULL_NODE_INDEX: int = call_tree.NULL_NODE_INDEX
"""Parent index of a root."""
EVENT_START: int = 1
"""Type of the start of an event, for `compare_events`."""
EVENT_END: int = -1
"""Type of the end of an event, for `compare_events`."""


class DeviceType(Enum):
    """Device type of events."""

    UNKNOWN = 0
    CPU = 1
    GPU = 2


def infer_device_type(df: pandas.DataFrame) -> DeviceType:
    """Infers the device type from `stream`: positive on a device, negative on the host."""
    if df.empty:
        return DeviceType.UNKNOWN
    if (df["stream"] > 0).all():
        return DeviceType.GPU
    return DeviceType.CPU if (df["stream"] < 0).all() else DeviceType.UNKNOWN


class Event(NamedTuple):
    """Start or end of an event."""

    idx: int
    time: int
    dur: int
    type: int


def compare_events(x: Event, y: Event) -> int:
    """Compares starts and ends: negative if `x` precedes `y`, positive if `x` follows `y`.

    At equal times, ends precede starts, and longer events enclose shorter events. An event without
    a duration lies inside an event that begins or ends at the same time.
    """
    if x.idx == y.idx:
        return -x.type
    if x.time != y.time:
        return x.time - y.time
    if x.type == y.type:
        return (y.dur - x.dur or x.idx - y.idx) * x.type
    if x.dur == y.dur == 0:
        return x.idx - y.idx
    return x.type if min(x.dur, y.dur) > 0 else -x.type


class CallStackNode(NamedTuple):
    """Event with its parent and children."""

    parent: int = NULL_NODE_INDEX
    """Parent event, or the root."""
    depth: int = -1
    """Number of ancestors; -1 for the root."""
    children: list[int] = []  # noqa: RUF012 - as in HTA
    """Child events, in the order of their starts."""


class CallStackIdentity(NamedTuple):
    """Rank, process and thread, or stream, of calls."""

    rank: int = -1
    pid: int = -1
    tid: int = -1


class CallStackGraph(CallTree[CallStackNode]):
    """Call tree of a host thread. Keys are event labels; `NULL_NODE_INDEX` is the root."""

    def __init__(self, df: pandas.DataFrame, identity: CallStackIdentity, filter_func: Filter | None = None) -> None:
        """Nests the rows of a thread that `filter_func` keeps; device rows give no nodes.

        Raises ValueError if the frame has no column `index_correlation`.
        """
        if "index_correlation" not in df.columns:
            raise ValueError(f"expected the column index_correlation, found {list(df.columns)}")
        self.df = df
        self.identity: CallStackIdentity = identity
        self.root_index = NULL_NODE_INDEX
        self.device_type: DeviceType = infer_device_type(df)
        """Device of the rows."""
        self.filter_func: Filter | None = filter_func
        """Filter of the rows."""
        self.correlations: pandas.Series | None = df["index_correlation"]
        """Label of the device event of each launch, and of the launch of each device event."""
        self.nodes: dict[int, CallStackNode] = {}
        self.depth: pandas.Series | None = pandas.Series(-1, index=df.index, name="depth")
        """Number of ancestors of each event, by label; -1 for device work."""
        if self.device_type != DeviceType.GPU:
            self.nodes = _nodes(df if filter_func is None else filter_func(df))
            depths = {idx: node.depth for idx, node in self.nodes.items() if idx >= 0}
            self.depth = pandas.Series(depths, name="depth", dtype="int64" if depths else "object")

    def get_paths_to_leaves(self, idx: int) -> list[list[int]]:
        """Returns the paths from an event to its leaves; an empty list for an unknown event."""
        return self._paths(idx, lambda _: True)

    def get_leaf_nodes(self, idx: int) -> list[int]:
        """Returns the leaves below an event, or the event itself if it has no children."""
        return [node for node, _, is_leaf in self._walk(idx, lambda _: True) if is_leaf]

    def get_depth(self) -> pandas.Series | None:
        """Returns the number of ancestors of each event, by label; -1 for device work."""
        return self.depth


class CallGraph:
    """Nests the host events of each rank.

    Adds the columns `depth` and `parent` to the frames. The parent of device work is its launch.
    """

    def __init__(
        self,
        trace: Trace,
        ranks: list[int] | None = None,
        filter_func: Filter | None = None,
        remapped_tids: dict[int, dict[int, int]] | None = None,
        pre_process_trace_data: bool = False,
    ) -> None:
        """Nests the events of `ranks`, or of all ranks, that `filter_func` keeps.

        `remapped_tids` maps thread ids to other thread ids, for each rank. `pre_process_trace_data`
        first applies `constrain_child_time_withinin_parent` to the frames.
        """
        self.trace_data: Trace = trace
        """Frames of the ranks."""
        self.call_stacks: list[CallStackGraph] = []
        """Trees of all threads and streams."""
        self.pre_process_trace_data = pre_process_trace_data
        """Whether Python calls were shortened."""
        for rank in list(trace.get_all_traces()) if ranks is None else ranks:
            if pre_process_trace_data:
                self.constrain_child_time_withinin_parent(trace.get_trace(rank))
            stacks = self._stacks(rank, filter_func, (remapped_tids or {}).get(rank, {}))
            self.call_stacks += stacks
            _add_columns(trace.get_trace(rank), stacks)
        threads = pandas.DataFrame([stack.identity for stack in self.call_stacks], columns=["rank", "pid", "tid"])
        self.mapping: pandas.DataFrame = threads.assign(csg_index=range(len(threads))).set_index(["rank", "pid", "tid"])
        """Positions in `call_stacks`, by rank, process and thread."""

    def get_stack_of_node(self, node_id: int, rank: int, skip_ancestors: bool = False) -> pandas.DataFrame:
        """Returns the rows of an event, its ancestors, its leaves, and their device work.

        The leaves of the event launched the device work. For a device event, starts from its
        launch. A root has an empty row. Raises KeyError for an unknown event, and for device work
        without a launch.
        """
        frame = self.trace_data.get_trace(rank)
        event = frame.loc[node_id]
        if event["stream"] > -1:
            return self.get_stack_of_node(int(event["index_correlation"]), rank, skip_ancestors)
        stack = self.call_stacks[self.mapping.loc[(rank, event["pid"], event["tid"]), "csg_index"]]
        leaves = stack.get_leaf_nodes(node_id)
        around = [] if skip_ancestors else stack.get_path_to_root(node_id)
        work = frame.loc[leaves, "index_correlation"]
        return frame.reindex([*leaves, *around, *work[work > 0]])

    def constrain_child_time_withinin_parent(self, df: pandas.DataFrame) -> None:
        """Shortens Python calls in place so that none ends after an enclosing call.

        Only calls of the same thread enclose each other. Without the columns `python_id` and
        `python_parent_id`, nothing changes.
        """
        if not {"python_id", "python_parent_id"} <= set(df.columns):
            return
        calls = df.loc[df["python_id"] > -1].drop_duplicates("python_id", keep="last")
        around = pandas.Index(calls["python_id"]).get_indexer(calls["python_parent_id"])
        threads = calls["tid"].to_numpy()
        ends = (calls["ts"] + calls["dur"]).to_numpy()
        earliest = _earliest(ends, numpy.where(threads[around] == threads, around, -1))
        is_late = ends > earliest
        df.loc[calls.index[is_late], "dur"] = (earliest - calls["ts"].to_numpy())[is_late]

    def _stacks(self, rank: int, chosen: Filter | None, remapped: Mapping[int, int]) -> list[CallStackGraph]:
        frame = self.trace_data.get_trace(rank)
        threads = frame.assign(tid=frame["tid"].replace(remapped)) if remapped else frame
        stacks: list[CallStackGraph] = []
        by_thread: Any = threads.groupby(["pid", "tid"])
        for (pid, tid), rows in by_thread:
            on_device = rows["stream"] > 0  # annotations and waits of the device share its threads
            kept = rows.loc[on_device] if on_device.any() else rows
            stacks.append(CallStackGraph(kept, CallStackIdentity(rank, pid, tid), chosen))
        return stacks


def _nodes(rows: pandas.DataFrame) -> dict[int, CallStackNode]:
    nodes = {NULL_NODE_INDEX: CallStackNode(NULL_NODE_INDEX, -1, [])}
    for event, parent in zip(*nested(rows, stacks_instants=False), strict=True):
        around = NULL_NODE_INDEX if parent is None else parent
        nodes[around].children.append(event)
        nodes[event] = CallStackNode(around, nodes[around].depth + 1, [])
    return nodes


def _add_columns(frame: pandas.DataFrame, stacks: list[CallStackGraph]) -> None:
    parents = {idx: node.parent for stack in stacks for idx, node in stack.nodes.items() if idx >= 0}
    depths = [stack.depth for stack in stacks if stack.depth is not None]
    if depths and not env_options.disable_call_graph_depth():
        frame["depth"] = pandas.concat(depths)
    parents.update(frame.loc[frame["stream"] != -1, "index_correlation"].to_dict())
    frame["parent"] = pandas.Series(parents)


def _earliest(ends: Array, around: Array) -> Array:
    """Returns the earliest end of each call and its ancestors.

    Each round doubles the number of ancestors that are covered.
    """
    for _ in range(len(ends).bit_length()):
        is_inside = around >= 0
        ends = numpy.where(is_inside, numpy.minimum(ends, ends[around]), ends)
        around = numpy.where(is_inside, around[around], -1)
    return ends
