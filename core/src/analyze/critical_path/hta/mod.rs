//! Builds the graph of `HolisticTraceAnalysis` step by step; its nodes, edges and weights differ
//! from ours.

mod device;
mod edges;
mod frame;
mod graph;
mod lock;
mod name_facts;
mod queue;
mod stack;

use super::path::CriticalPath;
use crate::analyze::selection::Selection;
use frame::HtaFrame;
use graph::HtaGraph;

/// The critical path through the graph of `HolisticTraceAnalysis` 0.6.1.
///
/// Times that are not whole microseconds all over the file are rounded first: starts up, ends down.
/// On request, the last iteration is left out, as that program does when it loads
/// traces. Host events that begin inside the range are selected, and the device events that they
/// launched.
pub fn critical_path_of_hta(selection: &Selection<'_>, is_last_left_out: bool) -> CriticalPath {
    let frame = HtaFrame::of(selection, is_last_left_out);
    let mut graph = HtaGraph::of(&frame);
    lock::add(&mut graph);
    stack::add(&mut graph);
    device::add(&mut graph);
    graph.finish(selection)
}
