//! Tells calls from other events, and orders nodes.

use crate::trace::Trace;
use crate::trace::kind::EventKind;
use crate::trace::node::Node;

/// Whether an event is a call on the host that the Execution Trace has a node for: an operator or
/// an annotation.
pub fn is_call(trace: &Trace, row: usize) -> bool {
    matches!(trace.events.kind[row], EventKind::Operator | EventKind::Annotation) && !trace.is_on_device(row)
}

/// The rows of all such calls.
pub(crate) fn calls(trace: &Trace) -> impl Iterator<Item = usize> + Clone {
    let rows = trace.events.rows_of(|kind| matches!(kind, EventKind::Operator | EventKind::Annotation));
    rows.filter(|row| !trace.is_on_device(*row))
}

/// Where a node is in the order in which nodes were entered: `rf_id`, or `id` where it has none.
pub fn node_order(node: &Node) -> u64 {
    node.order()
}
