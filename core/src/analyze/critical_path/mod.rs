//! What would have to be faster for the whole to be faster: the longest chain of what waited for what.

mod across;
mod behind;
mod bound;
mod device;
mod drawn;
mod graph;
mod host;
mod hta;
mod leg;
mod longest;
mod route;
mod row;
mod wait;
mod walk;
mod what_if;

use super::analysis::{Analysis, Plot, Run};
use super::options::{OptionDoc, OptionKind, Options};
use super::selection::Selection;
use crate::time::sum_ns;
pub(super) use across::JOB_CRITICAL_PATH;
pub use bound::Bound;
pub(crate) use drawn::{DrawnStep, drawn_steps, drawn_steps_of_job};
pub use graph::{PathEdge, PathGraph, PathKind, PathNode};
pub use hta::critical_path_of_hta;
pub(super) use leg::{LegBounds, Stops};
pub(crate) use row::{BoundRow, by_bound};
pub use row::{PathRow, rows as path_rows};
pub use what_if::WhatIf;

/// What the time was spent on that nothing else hides.
pub(super) static CRITICAL_PATH: Analysis = Analysis {
    name: "critical_path",
    doc: "the longest chain of what waited for what: host, launches, kernels, waits; and what a change would save",
    options: &[
        OptionDoc {
            name: "what_if",
            doc: "how long the path would be if events with this in their name took another time",
            kind: OptionKind::Text,
        },
        OptionDoc {
            name: "factor",
            doc: "how many times their time they would take: 0.5 is twice as fast",
            kind: OptionKind::Number(1.0),
        },
        OptionDoc {
            name: "like",
            doc: "whose graph: ours, or the one that HolisticTraceAnalysis makes",
            kind: OptionKind::Choice(&["kinetoscope", "hta"]),
        },
        OptionDoc {
            name: "without_last",
            doc: "with like=hta, leave out the last iteration before all else, as that program does",
            kind: OptionKind::Flag,
        },
    ],
    run: Run::Trace(|selection, options: &Options| {
        let path = match options.choice("like") {
            "hta" => critical_path_of_hta(selection, options.flag("without_last")),
            _ => critical_path(selection),
        };
        let what_if = WhatIf::of(selection, &path, options.text("what_if"), options.number("factor"));
        row::answer(selection, path, what_if).drawn(Plot::Bars { label: "name", parts: &["dur_ns"] })
    }),
};

/// The longest path, and the graph that it leads through.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CriticalPath {
    /// Starts and ends of events, and what must come before what.
    pub graph: PathGraph,
    /// Edges of the path from its start to its end, as places in the graph's edges.
    pub path: Vec<u32>,
}

impl CriticalPath {
    /// Edges of the path, from its start to its end.
    pub fn steps(&self) -> impl Iterator<Item = &PathEdge> {
        self.path.iter().map(|edge| &self.graph.edges[*edge as usize])
    }

    /// Its length: `Σ weight_ns`. Never more than the span of what is looked at.
    pub fn length_ns(&self) -> i64 {
        sum_ns(self.steps().map(|edge| edge.weight_ns.max(0)))
    }
}

/// The critical path: the one with the largest sum of weights.
///
/// Nodes are the starts and ends of operators, calls of the runtime, what loads data, and work of devices, cut to what is
/// looked at. Edges, each from an earlier node to a later one, and their weights:
///
/// * operator: from one node to the next inside the same host event; the time between, less the time in which a call
///   waited for a device.
/// * kernel: from the start of device work to its end; its duration.
/// * launch, `kernel_kernel`, sync: to the start of device work from what came last of its launch's start, the end of the
///   work before it on its stream, and the end of the work of another stream that it waited for; the time between. From
///   the others leads a dependency.
/// * sync: from the end of device work to the end of a call that waited for it; the time from the end of the last of them.
/// * dependency: from one host event to the next of its thread that is in no other, from a forward operator to its
///   backward operator, and to the first event of a thread after another one did the other pass; 0.
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
    let graph = graph_of(selection);
    let path = longest::longest(&graph);
    CriticalPath { graph, path }
}

fn graph_of(selection: &Selection<'_>) -> PathGraph {
    let waits = wait::Waits::of(selection);
    let mut builder = graph::Builder::default();
    let mut places = host::Places::new(selection.linked.trace.events.len());
    host::add_host(selection, &waits, &mut builder, &mut places);
    device::add_device(selection, &waits, &mut builder, &mut places);
    builder.finish()
}

/// Why there is no path.
const EMPTY: &str = "no operator, call of the runtime, kernel, copy or fill ran";
