"""Call tree of a thread, with the device work that its calls launched."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy
import pandas

from kinetoscope.hta import call_tree
from kinetoscope.hta.call_tree import CallTree, Levels
from kinetoscope.hta.common.trace_symbol_table import TraceSymbolTable
from kinetoscope.hta.common.types import DeviceType, infer_device_type
from kinetoscope.hta.configs.config import logger
from kinetoscope.hta.nested import Array, nested, order_of_ends

NON_EXISTENT_NODE_INDEX: int = call_tree.NON_EXISTENT_NODE_INDEX
"""Parent index of an unknown event."""
NULL_NODE_INDEX: int = call_tree.NULL_NODE_INDEX
"""Parent index of a root."""
EVENT_START: int = 1
EVENT_END: int = -1
OPEN_END: int = -1
"""Kind of the start of an event, for `sort_events`."""
CLOSE_END: int = 1
"""Kind of the end of an event, for `sort_events`."""

_OPENING, _INSTANT, _CLOSING = range(3)
_LARGEST = 2**63 - 1


def sort_events(a: Array) -> None:
    """Sorts the starts and ends of events in place.

    The columns are label, duration, kind and time.
    """
    a[:] = a[order_of_ends(*a.T)]


def is_events_sorted(arr: Array) -> bool:
    """Returns whether the rows are in an order that `sort_events` could give."""
    return bool(_less_than(arr[:-1], arr[1:]).all())


def _less_than(x: Array, y: Array) -> Array:
    """Returns whether each row of `x` precedes the same row of `y`.

    At equal times, ends precede starts, and instants lie inside both events.
    """
    labels, durs, kinds, times = numpy.moveaxis(numpy.stack([x, y]), -1, 0)
    is_instant = durs == 0
    classes = numpy.where(is_instant, _INSTANT, numpy.where(kinds == OPEN_END, _OPENING, _CLOSING))
    turn = (classes[1] - classes[0]) % 3  # cyclic order: opening < instant < closing < opening
    lengths = numpy.where(is_instant, kinds, kinds * durs)
    numbers = -kinds * labels
    return numpy.select(
        [times[0] != times[1], labels[0] == labels[1], turn != 0, lengths[0] != lengths[1]],
        [times[0] < times[1], kinds[0] == OPEN_END, turn == 1, lengths[0] < lengths[1]],
        numbers[0] < numbers[1],
    )


class CallStackIdentity(NamedTuple):
    """Rank, process and thread of calls."""

    rank: int = -1
    pid: int = -1
    tid: int = -1


@dataclass
class CallStackNode:
    """Event with its parent and children."""

    parent: int = NULL_NODE_INDEX
    """Parent event, or the root."""
    depth: int = -1
    """Number of ancestors; -1 for the root."""
    height: int = -1
    """0 for device work, 1 for a host event without children, otherwise 1 + the highest child."""
    device: DeviceType = DeviceType.CPU
    """Device type of the event."""
    children: list[int] = field(default_factory=list[int])
    """Child events in the order of their starts, and the launched device work."""


class CallStackGraph(CallTree[CallStackNode]):
    """Call tree of a host thread.

    Keys are event labels. The key of the root is the negative thread id.
    """

    def __init__(
        self,
        df: pandas.DataFrame,
        identity: CallStackIdentity,
        cpu_gpu_correlation: pandas.DataFrame,
        full_df: pandas.DataFrame,
        symbol_table: TraceSymbolTable,
        nodes: dict[int, CallStackNode] | None = None,
        use_existing_stack_columns: bool = True,
        save_call_stack_to_df: bool = True,
    ) -> None:
        """Builds the tree of the rows `df`; rows of a device give no nodes.

        `full_df` holds all rows of the rank; the column `end` is added if missing.
        `cpu_gpu_correlation` holds the labels of launches, `cpu_index`, and of their device work,
        `gpu_index`. The graphs of a rank share `nodes`. With `use_existing_stack_columns`, the tree
        comes from the columns `parent`, `depth` and `height`, if they have values. With
        `save_call_stack_to_df`, the constructor calls `save_call_stack_to_dataframe`.

        Raises ValueError if `df` has no column `index_correlation`.
        """
        self.df = df
        self.identity: CallStackIdentity = identity
        self.device_type: DeviceType = infer_device_type(df)
        """Device of the thread."""
        self.nodes: dict[int, CallStackNode] = {} if nodes is None else nodes
        self.root_index: int = _root(identity, self.nodes)
        self.correlations: pandas.DataFrame = cpu_gpu_correlation
        """Launches with their device work."""
        self.full_df = full_df
        """Rows of the rank."""
        self.symbol_table = symbol_table
        """Symbols that `name` and `cat` refer to."""
        if self.device_type == DeviceType.GPU:
            logger.error("expected the rows of a host thread, found rows of a device: %s", identity)
            return
        self._build(use_existing_stack_columns, save_call_stack_to_df)

    def save_call_stack_to_dataframe(self, apply_whole_graph: bool = False) -> None:
        """Computes depths and heights, and fills the existing columns of `full_df`.

        The columns are `parent`, `depth` and `height`. Five columns describe the device work inside
        each event: `num_kernels`, and in µs `kernel_dur_sum`, `kernel_span`, `first_kernel_start`
        and `last_kernel_end`. `apply_whole_graph` saves all graphs that share the nodes.
        """
        roots = [idx for idx in self.nodes if idx < 0] if apply_whole_graph else [self.root_index]
        levels = Levels(self.nodes, roots)
        nodes = [self.nodes[event] for event in levels.events]
        is_work = [node.device == DeviceType.GPU for node in nodes]
        heights: list[int] = levels.fold(numpy.maximum, numpy.where(is_work, 0, 1), 1).tolist()
        for node, depth, height in zip(nodes, levels.depths, heights, strict=True):
            node.depth, node.height = depth, height
        self._add_kernel_info_to_cpu_ops(levels)
        self._save_call_stack_to_df()

    def update_parent_of_first_layer_nodes(self, new_parent_index: int) -> None:
        """Moves the outermost events within the time of an event below that event.

        Replaces a root without remaining events by the root of that event.

        Raises ValueError if the event is no node, or has no row in `full_df`.
        """
        if new_parent_index not in self.nodes or new_parent_index not in self.full_df.index:
            raise ValueError(f"expected an event with a node and a row, found {new_parent_index}")
        start, end = self.full_df.loc[new_parent_index, ["ts", "end"]]
        around = self.get_path_to_root(new_parent_index)
        first = [child for child in self.nodes[self.root_index].children if child not in around]
        times = self.full_df[["ts", "end"]].reindex(first)
        inside = times.loc[(times["ts"] >= start) & (times["end"] <= end)]
        self._update_parent(inside.index.tolist(), new_parent_index)
        if self.root_index not in self.nodes:
            self.root_index = self.get_root(new_parent_index)

    def get_root(self, idx: int) -> int:
        """Returns the root of an event; `NULL_NODE_INDEX` for an unknown event."""
        root = self.nodes[idx].parent if idx in self.nodes else NULL_NODE_INDEX
        while root >= 0 and root in self.nodes:
            root = self.nodes[root].parent
        return root

    def get_paths_to_leaves(self, idx: int, include_cuda_kernel: bool = False) -> list[list[int]]:
        """Returns the paths from an event to its leaves; an empty list for an unknown event."""
        return self._paths(idx, self._keeps(include_cuda_kernel))

    def get_leaf_nodes(self, idx: int, include_gpu_kernel: bool = False) -> list[int]:
        """Returns the leaves below an event, or the event itself if it has no children."""
        return [node for node, _, is_leaf in self._walk(idx, self._keeps(include_gpu_kernel)) if is_leaf]

    def get_descendants(self, idx: int, include_gpu_kernel: bool = False) -> list[int]:
        """Returns an event and its descendants, parents before children.

        Returns an empty list for an unknown event.
        """
        return [node for node, _, _ in self._walk(idx, self._keeps(include_gpu_kernel))]

    def get_depth(self) -> pandas.Series:
        """Returns the number of ancestors of each event of the thread, by label."""
        if "depth" in self.full_df:
            return self.full_df.loc[self.df["index"], "depth"]
        depths = {idx: node.depth for idx, node in self.nodes.items() if idx >= 0}
        return pandas.Series(depths, name="depth", dtype="Int16").loc[self.df["index"]]

    def _keeps(self, is_work_kept: bool) -> Callable[[int], bool]:
        return lambda idx: is_work_kept or self.nodes[idx].device != DeviceType.GPU

    # --- making of the tree -----------------------------------------------------------------------

    def _build(self, reads_columns: bool, saves_columns: bool) -> None:
        self.nodes.setdefault(self.root_index, CallStackNode(device=self.device_type))
        if "end" not in self.full_df.columns:
            self.full_df.loc[:, "end"] = self.full_df["ts"] + self.full_df["dur"]
        if reads_columns and self._has_valid_stack_columns():
            self._read_columns()
            return
        self._nest()
        if saves_columns:
            self.save_call_stack_to_dataframe()

    def _nest(self) -> None:
        if "index_correlation" not in self.df.columns:
            raise ValueError(f"expected the column index_correlation, found {list(self.df.columns)}")
        tree = nested(self.df.loc[self.df["stream"] == -1], stacks_instants=True)
        links = self.correlations.loc[self.correlations["cpu_index"].isin(self.df["index"])]
        edges = [(self.root_index if parent is None else parent, event) for event, parent in zip(*tree, strict=True)]
        known = [event for parent, event in edges if not self._add_edge(parent, event)]
        for launch, work in zip(links["cpu_index"].tolist(), links["gpu_index"].tolist(), strict=True):
            if launch not in self.nodes:
                self._add_edge(self.root_index, launch)
            known += [] if self._add_edge(launch, work, DeviceType.GPU) else [work]
        if known:
            logger.error("expected each event once, found %d again in %s: %s …", len(known), self.identity, known[0])

    def _add_edge(self, parent_index: int, child_index: int, device: DeviceType = DeviceType.CPU) -> bool:
        """Adds an event unless it already has a node; returns whether it was added."""
        if child_index in self.nodes:
            return False
        parent = self.nodes[parent_index]
        parent.children.append(child_index)
        self.nodes[child_index] = CallStackNode(parent_index, parent.depth + 1, device=device)
        return True

    def _has_valid_stack_columns(self) -> bool:
        if not {"parent", "depth", "height"} <= set(self.full_df.columns):
            return False
        columns = self.full_df.loc[self.df.index, ["parent", "depth", "height"]]
        return not columns.isna().to_numpy().any() and not (columns["parent"] == NULL_NODE_INDEX).all()

    def _read_columns(self) -> None:
        children: dict[int, list[int]] = defaultdict(list)
        for idx, parent in zip(self.full_df["index"].tolist(), self.full_df["parent"].tolist(), strict=True):
            children[parent].append(idx)
        is_launched = self.full_df["parent"].isin(self.df["index"]) & (self.full_df["stream"] != -1)
        work = self.full_df.loc[is_launched & ~self.full_df["index"].isin(self.df["index"])]
        for rows, device in ((self.full_df.loc[self.df["index"]], self.device_type), (work, DeviceType.GPU)):
            columns = rows[["index", "parent", "depth", "height"]].astype("int64")
            for idx, parent, depth, height in columns.itertuples(index=False, name=None):
                self.nodes[idx] = CallStackNode(parent, depth, height, device, children[idx])
        root = self.nodes[self.root_index]
        root.children = children[self.root_index]
        root.height = 1 + max((self.nodes[child].height for child in root.children), default=0)

    def _update_parent(self, node_indices: Iterable[int], new_parent_index: int) -> None:
        if new_parent_index not in self.nodes:
            raise ValueError(f"expected an event with a node, found {new_parent_index}")
        moved = [idx for idx in node_indices if idx in self.nodes and self.nodes[idx].parent != new_parent_index]
        left = {self.nodes[idx].parent for idx in moved}
        for idx in moved:
            self.nodes[idx].parent = new_parent_index
        self.nodes[new_parent_index].children += moved
        for parent in left:
            children = self.nodes[parent].children
            children[:] = [child for child in children if self.nodes[child].parent == parent]
            if not children:
                del self.nodes[parent]

    # --- columns ----------------------------------------------------------------------------------

    def _add_kernel_info_to_cpu_ops(self, levels: Levels | None = None) -> None:
        if "num_kernels" not in self.full_df.columns:
            logger.warning("expected the column num_kernels, found none: device work is not summed up")
            return
        levels = levels or Levels(self.nodes, [self.root_index])
        starts, durs, ends = self._device_times(levels.events)
        is_work = ~numpy.isnan(starts)
        count = levels.fold(numpy.add, is_work.astype("int64"))
        first = levels.fold(numpy.minimum, numpy.where(is_work, starts, numpy.inf))
        last = levels.fold(numpy.maximum, numpy.where(is_work, ends, -numpy.inf))
        columns = {
            "num_kernels": count,
            "kernel_dur_sum": levels.fold(numpy.add, numpy.where(is_work, durs, 0)),
            "kernel_span": numpy.where(count > 0, last - first, 0),
            "first_kernel_start": numpy.where(count > 0, first, -1),
            "last_kernel_end": numpy.where(count > 0, last, -1),
        }
        self._write(levels.events, columns)

    def _device_times(self, events: list[int]) -> Array:
        """Returns rows of starts, durations and ends; NaN for host events."""
        on_device = self.full_df.loc[self.full_df["stream"] != -1, ["ts", "dur", "end"]]
        times = on_device.reindex(events).to_numpy("float64", na_value=numpy.nan).T
        return numpy.where([self.nodes[event].device == DeviceType.GPU for event in events], times, numpy.nan)

    def _save_call_stack_to_df(self) -> None:
        if self.device_type == DeviceType.GPU:
            return
        if "parent" not in self.full_df.columns:
            logger.warning("expected the column parent, found none: calls are not saved")
            return
        nodes = {idx: node for idx, node in self.nodes.items() if idx >= 0}
        for name in ("parent", "depth", "height"):
            self._write(list(nodes), {name: numpy.array([getattr(node, name) for node in nodes.values()], "int64")})

    def _write(self, events: list[int], columns: Mapping[str, Array]) -> None:
        """Writes columns of `full_df` for labels with a row."""
        has_row = numpy.isin(events, self.full_df.index)
        labels = numpy.array(events)[has_row]
        for name, values in columns.items():
            column = pandas.Series(values[has_row], index=labels)
            self.full_df.loc[labels, name] = column.astype(self.full_df[name].dtype)


def _root(identity: CallStackIdentity, nodes: Iterable[int]) -> int:
    """Returns the negative thread id.

    Returns an unused negative number if the thread has no id, or an id above 63 bits.
    """
    if isinstance(identity.tid, str) or not 0 < abs(identity.tid) <= _LARGEST:
        return min([*nodes, NON_EXISTENT_NODE_INDEX]) - 1
    return -abs(identity.tid)
