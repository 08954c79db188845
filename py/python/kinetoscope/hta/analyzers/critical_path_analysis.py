"""Critical path of a rank: the chain of events that bounds the run time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kinetoscope.hta import overlay, path_graph, path_parts, saved_path, timing
from kinetoscope.hta.path_window import window_of

if TYPE_CHECKING:
    from kinetoscope.hta.common.trace import Trace

# defined in other modules to avoid import cycles
BoundType = path_parts.BoundType
CPEdge = path_parts.CPEdge
CPEdgeType = path_parts.CPEdgeType
CPGraph = path_graph.CPGraph
CPNode = path_parts.CPNode
DEFAULT_EDGE_TYPES_IN_VIZ = path_parts.DEFAULT_EDGE_TYPES_IN_VIZ
PROFILE_TIMES = timing.PROFILE_TIMES
timeit = timing.timeit

CUDA_RUNTIME_EVENTS = frozenset(["cudaHostAlloc", "cudaLaunchKernel", "cudaMemcpyAsync"])
"""Calls that hold the lock of the CUDA runtime.

Changing this value has no effect: the core has its own copy.
"""
KERNEL_KERNEL_DELAY_THRESHOLD_US = 1500
"""Shortest gap (µs) that does not count as a delay between two kernels.

Changing this value has no effect: the core has its own copy.
"""


class CriticalPathAnalysis:
    """Finds critical paths and writes them into traces."""

    def __init__(self) -> None:
        self.cp_nodes: dict[int, CPNode] = {}
        """Empty: the nodes are in the graph's `node_list`."""

    @classmethod
    def critical_path_analysis(
        cls,
        t: Trace,
        rank: int,
        annotation: str,
        instance_id: int | tuple[int, int] | None,
        data_load_events: Sequence[str] | None = None,
    ) -> tuple[CPGraph, bool] | None:
        """Does the same as `TraceAnalysis.critical_path_analysis`, for the traces `t`."""
        window = window_of(t, rank, annotation, instance_id)
        if window is None:
            return None
        graph = CPGraph.in_window(t, rank, window, data_load_events)
        return graph, graph.critical_path()

    @classmethod
    def overlay_critical_path_analysis(
        cls,
        t: Trace,
        rank: int,
        critical_path_graph: CPGraph,
        output_dir: str,
        only_show_critical_events: bool,
        show_all_edges: bool,
        edge_types_to_viz: set[CPEdgeType] | None = None,
    ) -> str:
        """Does the same as `TraceAnalysis.overlay_critical_path_analysis`, for the traces `t`.

        `edge_types_to_viz` selects the types of path edges that become arrows, by default
        DEFAULT_EDGE_TYPES_IN_VIZ. If `output_dir` is no folder, logs an error and returns an empty
        string.
        """
        shown = overlay.Shown(
            only_show_critical_events,
            show_all_edges and not only_show_critical_events,
            DEFAULT_EDGE_TYPES_IN_VIZ if edge_types_to_viz is None else edge_types_to_viz,
        )
        return overlay.write_overlay(t, rank, critical_path_graph, output_dir, shown)

    @staticmethod
    def _is_zero_weight_launch_edge(e: CPEdge) -> bool:
        return overlay.is_zero_weight_launch(e)


def restore_cpgraph(zip_filename: str, t_full: Trace, rank: int) -> CPGraph:
    """Reads a graph that `CPGraph.save` wrote for the same trace.

    Raises ValueError for other files, and for the graph of a different trace.
    """
    return CPGraph.of_saved(saved_path.restore(zip_filename), t_full, rank)
