//! The links of one trace, as columns beside it.

use super::graph::CapturedKernel;
use super::iteration::Iteration;
use super::launch::LaunchedEvents;
use super::nesting::Nesting;
use super::node::NodeLinks;
use super::owner::NamedOwner;
use super::step_marker::IterationSource;
use crate::column::OptionalColumn;
use crate::trace::Trace;
use crate::trace::arg_key::ArgKey;
use crate::warning::Warnings;

/// Everything that is derived from one trace, one row per event unless stated otherwise.
#[derive(Debug, Clone, Default)]
pub struct Links {
    /// Parents, and the order of each track.
    pub nesting: Nesting,
    /// Row of the host event that enqueued a device event.
    pub launch: OptionalColumn,
    /// The same, from the launch's side.
    pub launched: LaunchedEvents,
    /// Rows of the launches whose device work must have run, and is not in the file; ascending.
    pub lost_launches: Vec<u32>,
    /// Rows of the device work that starts before its launch; ascending.
    pub early_work: Vec<u32>,
    /// Row of the operator or annotation that owns an event: the innermost around it, or around its
    /// launch, or the one that a device event without a launch names.
    pub operator: OptionalColumn,
    /// Device events with an unknown launch that name their operator, and kernels of graphs with
    /// the operator of the call that captured them; by row.
    pub named: Vec<NamedOwner>,
    /// Work of graphs with the call of the same file that captured it, by row.
    pub captured: Vec<CapturedKernel>,
    /// Operators and annotations with their nodes of the Execution Trace.
    pub nodes: NodeLinks,
    /// Iterations in the order of time.
    pub iterations: Vec<Iteration>,
    /// Ranges that mark them, or could.
    pub iteration_source: IterationSource,
    /// Row in `iterations`.
    pub iteration: OptionalColumn,
    /// Rows that should be linked and are not.
    pub warnings: Warnings,
}

impl Links {
    /// The call of this file that captured the work of a graph.
    pub(super) fn captured_by(&self, row: usize) -> Option<&CapturedKernel> {
        let at = self.captured.binary_search_by_key(&(row as u32), |pair| pair.kernel).ok()?;
        self.captured.get(at)
    }

    /// Whether the operator of work is that of a capture, in this file or another.
    pub(super) fn is_captured(&self, trace: &Trace, row: usize) -> bool {
        self.captured_by(row).is_some()
            || (trace.is_on_device(row) && trace.args.template(trace.events.args(row)).has(ArgKey::CapturedOperator))
    }
}
