"""The calls of all threads, as trees and as columns of the frames."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import pandas

from kinetoscope.hta.common.trace_call_stack import CallStackGraph, CallStackIdentity, CallStackNode, DeviceType
from kinetoscope.hta.frame import is_on_device

if TYPE_CHECKING:
    from kinetoscope.hta.common.trace import Trace
    from kinetoscope.hta.common.trace_symbol_table import TraceSymbolTable

_LABELS = {"ProfilerStep": "main", "autograd::": "bwd"}
_BACKWARD = "## backward ##"
_STEP = "ProfilerStep"
_Thread: TypeAlias = tuple[Any, Any]


class CallGraph:
    """What each host event is inside of, and the device work that it launched, as the core nests them.

    The frames gain `depth`, `height`, `parent`, `num_kernels`, `kernel_dur_sum`, `kernel_span`, `first_kernel_start`
    and `last_kernel_end`: of the device work launched inside an event, in µs. `mapping` lists the threads.
    """

    stack_columns = (
        *("depth", "height", "parent", "num_kernels", "kernel_dur_sum", "kernel_span"),
        *("first_kernel_start", "last_kernel_end"),
    )
    """The columns that the frames gain."""

    def __init__(self, trace: Trace, ranks: Sequence[int] | None = None) -> None:
        self.trace_data = trace
        """The traces."""
        self.ranks = list(trace.get_ranks() if ranks is None else ranks)
        """The ranks that are looked at."""
        self._graphs: dict[int, list[CallStackGraph]] = {}
        self._nodes: dict[int, dict[int, CallStackNode]] = {}
        for rank in self.ranks:
            self._add(rank)
        rows = [
            (*graph.identity, _label(trace.symbol_table, trace.get_trace(rank), graph.identity[1:]), at, graph.root)
            for rank in self.ranks
            for at, graph in enumerate(self._graphs[rank])
        ]
        self.mapping = pandas.DataFrame(rows, columns=["rank", "pid", "tid", "label", "stack_index", "stack_root"])
        """The threads: which rank's, what they do (`main`, `bwd`, `other`), their place and their root."""

    def get_call_stacks(
        self,
        rank: int | None = None,
        pid: int | str | None = None,
        tid: int | str | None = None,
        stack_index: int | None = None,
    ) -> Iterator[CallStackGraph]:
        """The threads that have all that is asked for."""
        for number in self.ranks if rank is None else [rank]:
            for at, graph in enumerate(self._graphs[number]):
                wanted = ((pid, graph.identity.pid), (tid, graph.identity.tid), (stack_index, at))
                if all(asked is None or asked == found for asked, found in wanted):
                    yield graph

    def get_node_attributes(self, index: int, rank: int | None = None) -> pandas.Series:
        """The row of an event."""
        return pandas.Series(self._frame(rank).loc[index])

    def get_csg_of_node(self, index: int, rank: int | None = None) -> CallStackGraph:
        """The thread that an event is of, or that launched it. KeyError for what is in none."""
        number = self._rank(rank)
        root = index
        while root >= 0:
            root = self._nodes[number][root].parent
        return next(graph for graph in self._graphs[number] if graph.root == root)

    def get_stack_of_node(self, index: int, rank: int | None = None, skip_ancestors: bool = False) -> pandas.DataFrame:
        """The rows of what an event is inside of, unless left out, of the event, and of all inside it."""
        graph = self.get_csg_of_node(index, rank)
        around = [] if skip_ancestors else graph.get_path_to_root(index)[-2:0:-1]
        inside = graph.get_descendants(index, include_gpu_kernel=True)
        return self._frame(rank).loc[[*around, *inside]]

    def get_gpu_kernels(self, rank: int | None = None) -> pandas.DataFrame:
        """The rows of device work whose launch is known, and of waits."""
        nodes = self._nodes[self._rank(rank)]
        frame = self._frame(rank)
        return frame.loc[frame.index.isin([idx for idx, node in nodes.items() if node.device is DeviceType.GPU])]

    def _rank(self, rank: int | None) -> int:
        return self.ranks[0] if rank is None else rank

    def _frame(self, rank: int | None) -> pandas.DataFrame:
        return self.trace_data.get_trace(self._rank(rank))

    def _add(self, rank: int) -> None:
        frame = self.trace_data.get_trace(rank)
        roots = _roots(frame.loc[~is_on_device(frame, self.trace_data.symbol_table)])
        nodes = _nodes(self.trace_data, rank, roots)
        self._nodes[rank] = nodes
        self._graphs[rank] = [
            CallStackGraph(frame, CallStackIdentity(rank, *place), root, nodes) for place, root in roots.items()
        ]
        columns = _columns(frame, nodes)
        for name in self.stack_columns:
            frame[name] = columns[name]


def _roots(host: pandas.DataFrame) -> dict[_Thread, int]:
    """A negative number for the root of each thread, that of the thread if it is one and free."""
    roots: dict[_Thread, int] = {}
    for pid, tid in host[["pid", "tid"]].drop_duplicates().itertuples(index=False):
        number = -abs(tid) if isinstance(tid, int) and tid else -1 - len(roots)
        while number in roots.values():
            number -= 1
        roots[pid, tid] = number
    return roots


def _nodes(traces: Trace, rank: int, roots: Mapping[_Thread, int]) -> dict[int, CallStackNode]:
    frame = traces.get_trace(rank)
    threads = dict(zip(frame.index, zip(frame["pid"], frame["tid"], strict=True), strict=True))
    streams = frame["stream"].to_dict()
    parents = dict(traces.recorded(rank).events.select("id", "parent").rows())
    launches = frame["index_correlation"].to_dict()
    backward = _backward(traces, frame, roots)

    def around(event: int) -> int | None:
        if streams[event] >= 0:
            return launches[event] if streams.get(launches[event], 0) < 0 else None
        parent = parents[event]
        while parent is not None and parent not in streams:
            parent = parents[parent]
        return backward(event, roots.get(threads[event])) if parent is None else parent

    nodes = {root: CallStackNode() for root in roots.values()}
    for event in frame.sort_values(["ts", "dur", "index"], ascending=[True, False, True])["index"]:
        parent = around(event)
        if parent is not None:
            device = DeviceType.CPU if streams[event] < 0 else DeviceType.GPU
            nodes[int(event)] = CallStackNode(parent=int(parent), device=device)
    for event, node in nodes.items():
        if event >= 0:
            nodes[node.parent].children.append(event)
    _measure(nodes, list(roots.values()))
    return nodes


def _backward(
    traces: Trace, frame: pandas.DataFrame, roots: Mapping[_Thread, int]
) -> Callable[[int, int | None], int | None]:
    """What an event of the backward thread is put into that is in no other: the pass of the main thread around it."""
    symbols = traces.symbol_table
    labels = {root: _label(symbols, frame, place) for place, root in roots.items()}
    threads = {label: [root for root, found in labels.items() if found == label] for label in _LABELS.values()}
    if any(len(found) != 1 for found in threads.values()):
        return lambda _, root: root
    ids = {number for name, number in symbols.get_sym_index().items() if name == _BACKWARD}
    ids = ids or {number for name, number in symbols.get_sym_index().items() if name.startswith(_STEP)}
    main = next(place for place, root in roots.items() if root == threads["main"][0])
    is_pass = frame["name"].isin(ids) & (frame["pid"] == main[0]) & (frame["tid"] == main[1])
    passes = sorted(frame.loc[is_pass, ["ts", "end", "index"]].itertuples(index=False, name=None))
    spans = dict(zip(frame.index, zip(frame["ts"], frame["end"], strict=True), strict=True))

    def around(event: int, root: int | None) -> int | None:
        start, end = spans[event]
        at = bisect_right(passes, start, key=lambda found: found[0]) - 1
        is_inside = root == threads["bwd"][0] and at >= 0 and end <= passes[at][1]
        return passes[at][2] if is_inside else root

    return around


def _measure(nodes: dict[int, CallStackNode], roots: list[int]) -> None:
    """Fills in depths from the roots, and heights from the leaves."""
    order = list(roots)
    for event in order:
        for child in nodes[event].children:
            nodes[child].depth = nodes[event].depth + 1
        order += nodes[event].children
    for event in reversed(order):
        node = nodes[event]
        inside = max((nodes[child].height + 1 for child in node.children), default=0)
        node.height = 0 if node.device is DeviceType.GPU else max(1, inside)


def _columns(frame: pandas.DataFrame, nodes: dict[int, CallStackNode]) -> pandas.DataFrame:
    starts, durs = frame["ts"].to_dict(), frame["dur"].to_dict()
    work: dict[int, tuple[int, float, float, float]] = {}
    for event in sorted((event for event in nodes if event >= 0), key=lambda event: -nodes[event].depth):
        parts = [work[child] for child in nodes[event].children if work[child][0]]
        if nodes[event].device is DeviceType.GPU:
            parts.append((1, durs[event], starts[event], starts[event] + durs[event]))
        counts, sums, first, last = zip(*parts, strict=True) if parts else ((0,), (0.0,), (-1.0,), (-1.0,))
        work[event] = (sum(counts), sum(sums), min(first), max(last))
    nowhere = CallStackNode()
    rows: list[tuple[float, ...]] = []
    for event in frame.index:
        node, (count, total, first, last) = nodes.get(event, nowhere), work.get(event, (0, 0.0, -1.0, -1.0))
        rows.append((node.depth, node.height, node.parent, count, total, last - first, first, last))
    return pandas.DataFrame(rows, frame.index, list(CallGraph.stack_columns))


def _label(symbols: TraceSymbolTable, frame: pandas.DataFrame, thread: _Thread) -> str:
    is_of_thread = (frame["pid"] == thread[0]) & (frame["tid"] == thread[1])
    names = symbols.get_symbol_names(frame.loc[is_of_thread, "name"].unique().tolist()).values()
    found = (label for part, label in _LABELS.items() if any(part in name for name in names))
    return next(found, "other")
