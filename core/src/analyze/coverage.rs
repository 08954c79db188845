//! How much of a trace was linked.

use serde::Serialize;

use crate::link::LinkedTrace;
use crate::trace::kind::EventKind;

/// Counts of what could be linked and of what was.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Coverage {
    /// Kernels, copies and fills.
    pub num_device_events: u64,
    /// Those whose launch is known.
    pub num_launched: u64,
    /// Those whose operator is known.
    pub num_owned: u64,
    /// Operators and annotations on the host.
    pub num_operators: u64,
    /// Those with a record id that is not 0.
    pub num_recorded: u64,
    /// Those with a node in the Execution Trace.
    pub num_with_node: u64,
    /// Nodes of the Execution Trace that have a record id.
    pub num_nodes: u64,
    /// Those with an event.
    pub num_nodes_linked: u64,
}

/// Counts what was linked, over the whole trace.
pub fn coverage(linked: &LinkedTrace) -> Coverage {
    let (trace, links) = (&linked.trace, &linked.links);
    let mut coverage = Coverage::default();
    for row in 0..trace.events.len() {
        let kind = trace.events.kind[row];
        if kind.is_device_work() {
            coverage.num_device_events += 1;
            coverage.num_launched += u64::from(links.launch.get(row).is_some());
            coverage.num_owned += u64::from(links.operator.get(row).is_some());
        } else if matches!(kind, EventKind::Operator | EventKind::Annotation) && !trace.is_on_device(row) {
            coverage.num_operators += 1;
            coverage.num_recorded += u64::from(trace.record_id(row).is_some());
            coverage.num_with_node += u64::from(links.record.node_of_event.get(row).is_some());
        }
    }
    let recorded = trace.nodes.iter().enumerate().filter(|(_, node)| node.record_id != 0);
    for (row, _) in recorded {
        coverage.num_nodes += 1;
        coverage.num_nodes_linked += u64::from(links.record.event_of_node.get(row).is_some());
    }
    coverage
}
