"""Call trees of all threads, and their columns in the frames."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pandas

from kinetoscope.hta.common.trace import Trace, get_cpu_gpu_correlation
from kinetoscope.hta.common.trace_call_stack import CallStackGraph, CallStackIdentity, CallStackNode
from kinetoscope.hta.common.trace_symbol_table import TraceSymbolTable
from kinetoscope.hta.common.types import DeviceType, infer_device_type

_MAIN, _BACKWARD = "main", "bwd"
_STEP, _PASS, _ENGINE = "ProfilerStep#", "## backward ##", "autograd::"
_MAPPING = ["rank", "pid", "tid", "label", "stack_index", "stack_root", "count"]
# Values of events outside all trees, in the order of the added columns.
_DEFAULTS = {
    "depth": -1.0,
    "height": -1.0,
    "parent": -1.0,
    "num_kernels": 0.0,
    "kernel_dur_sum": 0.0,
    "kernel_span": 0.0,
    "first_kernel_start": -1.0,
    "last_kernel_end": -1.0,
}


class CallGraph:
    """Nests the host events of each rank, and places device work below its launch.

    Adds `stack_columns` to the frames. Five of the columns summarize the device work launched
    inside each event (times in µs). The outermost events of a backward thread move below the
    backward pass, or the step, of the main thread.
    """

    stack_columns = [  # noqa: RUF012 - a list in HTA
        "parent",
        "depth",
        "height",
        "first_kernel_start",
        "last_kernel_end",
        "num_kernels",
        "kernel_dur_sum",
        "kernel_span",
    ]
    """Columns added to the frames."""

    def __init__(self, trace: Trace, ranks: list[int] | None = None) -> None:
        """Nests the events of `ranks`, or of all ranks.

        Raises ValueError if the trace has none of the ranks.
        """
        self.trace_data: Trace = trace
        """Frames and symbols."""
        known = trace.get_ranks()
        self.ranks: list[int] = [rank for rank in ranks if rank in known] if ranks else known
        if not self.ranks:
            raise ValueError(f"expected some of the ranks {known}, found {ranks}")
        self.rank_to_nodes: dict[int, dict[int, CallStackNode]] = {}
        """Nodes of each rank by their events."""
        self.rank_to_stacks: dict[int, dict[CallStackIdentity, CallStackGraph]] = {}
        """Trees of each rank by their threads."""
        self.call_stacks: list[CallStackGraph] = []
        """Trees of all ranks."""
        self._labels: list[str] = []
        self._rank = self.ranks[0]
        for rank in self.ranks:
            self._add(rank)
        self.mapping: pandas.DataFrame = self._mapping()
        """Threads with their label, position in `call_stacks` and root.

        `count` numbers the threads of a root from 1.

        The label is `main` for a thread with steps, `bwd` for a thread with `autograd::` events,
        otherwise the name of an event.
        """

    @staticmethod
    def from_dataframe(df: pandas.DataFrame, symbol_table: TraceSymbolTable | None = None, rank: int = -1) -> CallGraph:
        """Nests the events of one frame, which stays unchanged.

        `trace_data` holds a copy with the columns.
        """
        trace = Trace(trace_files={}, trace_dir="")
        trace.symbol_table = symbol_table or TraceSymbolTable.create_from_df(df)
        trace.traces[rank] = df.copy()
        trace.is_parsed = True
        return CallGraph(trace)

    def get_call_stacks(
        self, rank: int | None = None, pid: int | None = None, tid: int | None = None, stack_index: int | None = None
    ) -> Generator[CallStackGraph, None, None]:
        """Yields the trees of the threads that match each given value."""
        for place, stack in enumerate(self.call_stacks):
            wanted = zip((rank, pid, tid, stack_index), (*stack.identity, place), strict=True)
            if all(asked is None or asked == found for asked, found in wanted):
                yield stack

    def get_node_attributes(self, index: int, rank: int | None = None) -> pandas.Series:
        """Returns the row of an event. Raises ValueError for an unknown event.

        Without a rank, this method and the others use the rank of the previous call, initially the
        first rank.
        """
        frame = self._frame(rank)
        if index not in frame.index:
            raise ValueError(f"expected an event of rank {self._rank}, found {index}")
        return frame.loc[index]

    def get_csg_of_node(self, index: int, rank: int | None = None) -> CallStackGraph:
        """Returns the tree of an event's thread; device work belongs to its launch's thread.

        Raises ValueError if there is no such tree.
        """
        row: Any = self.get_node_attributes(index, rank)
        if row["stream"] != -1 and row["parent"] >= 0:
            row = self.get_node_attributes(int(row["parent"]))
        stack = next(self.get_call_stacks(self._rank, row["pid"], row["tid"]), None)
        if stack is None:
            raise ValueError(f"expected an event of a thread with a tree, found {index} of rank {self._rank}")
        return stack

    def get_stack_of_node(self, index: int, rank: int | None = None, skip_ancestors: bool = False) -> pandas.DataFrame:
        """Returns the rows of an event, its ancestors and its descendants, sorted by `ts`.

        `skip_ancestors` drops the ancestors. Raises the errors of `get_csg_of_node`.
        """
        stack = self.get_csg_of_node(index, rank)
        around = [] if skip_ancestors else stack.get_path_to_root(index)[:0:-1]
        events = [*around, *stack.get_descendants(index, include_gpu_kernel=True)]
        return stack.full_df.loc[[event for event in events if event >= 0]].sort_values("ts", kind="stable")

    def get_gpu_kernels(self, rank: int | None = None) -> pandas.DataFrame:
        """Returns the rows with a stream."""
        frame = self._frame(rank)
        return frame.loc[frame["stream"] != -1]

    def _frame(self, rank: int | None) -> pandas.DataFrame:
        if rank is not None and rank not in self.ranks:
            raise ValueError(f"expected one of the ranks {self.ranks}, found {rank}")
        self._rank = self._rank if rank is None else rank
        return self.trace_data.get_trace(self._rank)

    # --- making of the trees ----------------------------------------------------------------------

    def _add(self, rank: int) -> None:
        frame = self.trace_data.get_trace(rank)
        if "end" not in frame.columns:
            frame["end"] = frame["ts"] + frame["dur"]
        for name, value in _DEFAULTS.items():
            frame[name] = value
        stacks = self._nested(rank, frame)
        self.rank_to_stacks[rank] = {stack.identity: stack for stack in stacks}
        self.call_stacks += stacks
        labels = [_label(stack.df, self.trace_data.symbol_table) for stack in stacks]
        self._labels += labels
        if labels.count(_MAIN) == labels.count(_BACKWARD) == 1:
            self._link(stacks[labels.index(_MAIN)], stacks[labels.index(_BACKWARD)])
        if stacks:
            stacks[0].save_call_stack_to_dataframe(apply_whole_graph=True)
        for name in ("depth", "height", "parent", "num_kernels"):
            frame[name] = pandas.to_numeric(frame[name], downcast="integer")

    def _nested(self, rank: int, frame: pandas.DataFrame) -> list[CallStackGraph]:
        nodes: dict[int, CallStackNode] = {}
        self.rank_to_nodes[rank] = nodes
        # stream 0 holds device work, too
        links = get_cpu_gpu_correlation(frame[["index", "index_correlation"]].assign(stream=frame["stream"] + 1))
        columns = {"use_existing_stack_columns": False, "save_call_stack_to_df": False}
        by_thread: Any = frame.groupby(["pid", "tid"])
        threads = {
            CallStackIdentity(rank, *place): rows
            for place, rows in by_thread
            if infer_device_type(rows) != DeviceType.GPU
        }
        return [
            CallStackGraph(rows, thread, links, frame, self.trace_data.symbol_table, nodes, **columns)
            for thread, rows in threads.items()
        ]

    def _link(self, main: CallStackGraph, backward: CallStackGraph) -> None:
        """Moves outermost events of a backward thread below passes or steps of the main thread."""
        texts = _texts(main.df, self.trace_data.symbol_table)
        found = (main.df.loc[texts.str.startswith(prefix), "index"] for prefix in (_PASS, _STEP))
        for event in next((events for events in found if len(events)), []):
            backward.update_parent_of_first_layer_nodes(event)

    def _mapping(self) -> pandas.DataFrame:
        columns: list[list[Any]] = [[stack.identity[place] for stack in self.call_stacks] for place in range(3)]
        roots = [stack.root_index for stack in self.call_stacks]
        columns += [self._labels, list(range(len(roots))), roots]
        if not roots:
            return pandas.DataFrame(columns=_MAPPING)
        mapping = pandas.DataFrame(dict(zip(_MAPPING, columns, strict=False)))
        return mapping.assign(count=mapping.groupby(["rank", "stack_root"]).cumcount() + 1)


def _texts(rows: pandas.DataFrame, symbols: TraceSymbolTable) -> pandas.Series:
    """Returns the names as text."""
    names = {name: name if isinstance(name, str) else symbols.sym_table[name] for name in rows["name"].unique()}
    return rows["name"].map(names).astype("str")


def _label(rows: pandas.DataFrame, symbols: TraceSymbolTable) -> str:
    texts = _texts(rows.drop_duplicates("name"), symbols)
    if texts.str.startswith(_STEP).any():
        return _MAIN
    if texts.str.contains(_ENGINE, regex=False).any():
        return _BACKWARD
    return texts.iloc[0] if len(texts) else "empty"
