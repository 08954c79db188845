//! Kernels of graphs with the calls that captured them, in one trace or in two.

use std::borrow::Cow;
use std::sync::Arc;

use super::graph::{CapturedKernel, LaunchView, ReplayedGraph, captured, captures, replays};
use super::linked_trace::LinkedTrace;
use crate::trace::kind::EventKind;

/// The graphs in a trace, with the trace of their capture.
#[derive(Debug, Clone)]
pub struct CapturedGraphs {
    /// Where the graphs ran.
    pub trace: Arc<LinkedTrace>,
    /// Where they were captured.
    pub capture: Arc<LinkedTrace>,
    /// All kernels, copies and fills with a known call, by row.
    pub kernels: Vec<CapturedKernel>,
}

impl CapturedGraphs {
    /// Finds the calls that captured the work of each graph. A graph of which not all are found has
    /// none. In this order:
    ///
    /// 1. Calls of one thread, one after another, that name the same kernels.
    /// 2. Calls of one capture with the same kinds of work, in the order of `graph node id`.
    /// 3. The same in the order of time, where the graph ran on one stream.
    pub fn new(trace: Arc<LinkedTrace>, capture: Arc<LinkedTrace>) -> Self {
        let kernels = captured(launch_view(&trace), launch_view(&capture));
        Self { trace, capture, kernels }
    }
}

fn launch_view(linked: &LinkedTrace) -> LaunchView<'_> {
    let links = &linked.links;
    LaunchView { trace: &linked.trace, nesting: &links.nesting, launched: &links.launched, operator: &links.operator }
}

impl LinkedTrace {
    /// The call of this file that captured the work of a graph.
    pub fn captured(&self, row: usize) -> Option<&CapturedKernel> {
        self.links.captured_by(row)
    }

    /// Whether a graph was captured in this file.
    pub(crate) fn has_captures(&self) -> bool {
        !captures(launch_view(self)).is_empty()
    }

    /// The graphs that were launched, in the order of their first launch.
    pub(crate) fn replayed_graphs(&self) -> Vec<ReplayedGraph> {
        replays(launch_view(self))
    }

    /// The name of the operator that captured the work of a graph, in this file or another.
    pub fn captured_operator(&self, row: usize) -> Option<Cow<'_, str>> {
        if self.captured(row).is_some() {
            let operator = self.links.operator.get(row)? as usize;
            let is_operator = self.trace.events.kind[operator] == EventKind::Operator;
            return is_operator.then(|| Cow::Borrowed(self.trace.event_name(operator)));
        }
        self.trace.stated_operator(row).map(Cow::Owned)
    }
}
