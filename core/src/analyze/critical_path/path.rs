//! Builds the graph of a trace and finds the critical path through it.

use super::graph::{PathEdge, PathGraph, PathGraphBuilder};
use super::wait::WorkWaits;
use super::{device, host, longest};
use crate::analyze::selection::Selection;
use crate::time::{TimeRange, sum_ns};

/// The longest path, and the graph that it leads through.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CriticalPath {
    /// Starts and ends of events, with their dependencies.
    pub graph: PathGraph,
    /// Edges of the path from its start to its end, as places in the graph's edges.
    pub path: Vec<u32>,
}

impl CriticalPath {
    fn of(graph: PathGraph) -> Self {
        let path = longest::longest(&graph);
        Self { graph, path }
    }

    /// Edges of the path, from its start to its end.
    pub fn steps(&self) -> impl Iterator<Item = &PathEdge> {
        self.path.iter().map(|edge| &self.graph.edges[*edge as usize])
    }

    /// Its length: `Σ weight_ns`. Never more than the selected span.
    pub fn length_ns(&self) -> i64 {
        sum_ns(self.steps().map(|edge| edge.weight_ns.max(0)))
    }
}

/// The critical path: the one with the largest sum of weights.
///
/// Nodes are the starts and ends of operators, runtime calls, data loaders and device work, clipped
/// to the selection. Edges lead forward in time; their kinds and weights:
///
/// * operator: from one node to the next inside the same host event; the time between, less the
///   time in which a call waited for a device.
/// * kernel: from the start of device work to its end; its duration.
/// * launch, `kernel_kernel`, sync: to the start of device work, from the latest of its launch's
///   start, the end of earlier work on its stream, and the end of awaited work on another stream;
///   the time between. The others become dependencies.
/// * sync: from the end of device work to the end of a call that waited for it; the time from the
///   end of the last of them.
/// * dependency: from one host event to the next of its thread that is in no other, from a forward
///   operator to its backward operator, and to the first event of a thread after another one did
///   the other pass; 0.
///
/// Where the selection is more than one range, time outside of it weighs nothing.
///
/// ```
/// use std::sync::Arc;
/// use kinetoscope::analyze::{Selection, critical_path};
/// use kinetoscope::{Input, Limits, LinkedTrace, read};
/// let json = br#"[
///     {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 0.0, "dur": 5},
///     {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 1.0, "dur": 3, "args": {"correlation": 7}},
///     {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 6.0, "dur": 9, "args": {"correlation": 7}}]"#;
/// let linked = Arc::new(LinkedTrace::new(read([Input::new(json)], Limits::default())?));
/// let path = critical_path(&Selection::all(&linked));
/// let steps: Vec<_> = path.steps().map(|edge| (edge.kind.name(), edge.weight_ns)).collect();
/// assert_eq!(steps, [("operator", 1_000), ("launch", 5_000), ("kernel", 9_000)]);
/// # Ok::<(), kinetoscope::Error>(())
/// ```
pub fn critical_path(selection: &Selection<'_>) -> CriticalPath {
    let Some(part) = selection.parts() else { return CriticalPath::of(graph_of(selection)) };
    let mut graph = graph_of(&selection.whole());
    let times = part.all_times();
    let time = |node: u32| graph.nodes[node as usize].time;
    for edge in &mut graph.edges {
        let range = TimeRange { start: time(edge.source), end: time(edge.target) };
        edge.weight_ns = edge.weight_ns.min(times.inside_ns(range));
    }
    CriticalPath::of(graph)
}

/// The graph of the selected part of a trace.
pub(super) fn graph_of(selection: &Selection<'_>) -> PathGraph {
    let waits = WorkWaits::of(selection);
    let mut builder = PathGraphBuilder::default();
    let mut places = host::EventNodes::new(selection.linked.trace.events.len());
    host::add_host(selection, &waits, &mut builder, &mut places);
    device::add_device(selection, &waits, &mut builder, &mut places);
    builder.finish()
}

/// Why there is no path.
pub(super) const EMPTY: &str = "no operator, runtime call, kernel, copy or fill was recorded";
