//! Finds the nodes of each iteration.

use rustc_hash::FxHashSet;

use super::links::Links;
use crate::trace::Trace;
use crate::trace::node::NodeSpan;

/// The first and the last linked node of each iteration. Iterations without links, and repeated
/// numbers, are skipped.
pub(super) fn spans(trace: &Trace, links: &Links) -> Vec<NodeSpan> {
    let mut spans: Vec<Option<NodeSpan>> = vec![None; links.iterations.len()];
    for row in 0..trace.nodes.len() {
        let event = links.nodes.event_of_node.get(row);
        let Some(at) = event.and_then(|event| links.iteration.get(event as usize)) else { continue };
        let (order, iteration) = (trace.nodes[row].order(), links.iterations[at as usize].number);
        let span = spans[at as usize].get_or_insert(NodeSpan { iteration, first: order, last: order });
        (span.first, span.last) = (span.first.min(order), span.last.max(order));
    }
    let mut known = FxHashSet::default();
    spans.into_iter().flatten().filter(|span| known.insert(span.iteration)).collect()
}
