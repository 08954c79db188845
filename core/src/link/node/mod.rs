//! Host events and the nodes of the Execution Trace that the same calls made.

mod id;
mod parent;

use super::How;
use crate::error::Position;
use crate::id::OptionalColumn;
use crate::trace::Trace;
use crate::trace::arg_key::ArgKey;
use crate::trace::kind::EventKind;
use crate::warning::{WarningKind, Warnings};

/// Which node each host event is. All links of a trace are found in one way, the first that fits.
#[derive(Debug, Clone, Default)]
pub struct NodeLinks {
    /// Row of the node of an event; a row an event.
    pub node_of_event: OptionalColumn,
    /// Row of the event of a node; a row a node.
    pub event_of_node: OptionalColumn,
    /// Row of the parent of a node; a row a node.
    pub parent_of_node: OptionalColumn,
    /// How the links were found; `None` when nothing is linked.
    pub how: Option<How>,
    /// How sure they are, from 0 to 1: the share of what could have agreed that did.
    pub confidence: f32,
}

/// Events with their nodes, and how they were found.
#[derive(Debug)]
struct Pairs {
    /// Row of the event, row of the node.
    rows: Vec<(u32, u32)>,
    how: How,
    confidence: f32,
}

/// Ids that two files share name the same operators at least this often when the files are of one run.
const SAME_RUN: f32 = 0.75;

pub(super) fn link_nodes(trace: &Trace, warnings: &mut Warnings) -> NodeLinks {
    let mut links = NodeLinks {
        node_of_event: OptionalColumn::empty(trace.events.len()),
        event_of_node: OptionalColumn::empty(trace.nodes.len()),
        parent_of_node: parent::link_parents(trace, warnings),
        ..NodeLinks::default()
    };
    if let Some(pairs) = find_pairs(trace, warnings) {
        for (event, node) in pairs.rows {
            links.node_of_event.set(event as usize, node);
            if links.event_of_node.get(node as usize).is_none() {
                links.event_of_node.set(node as usize, event);
            }
        }
        (links.how, links.confidence) = (Some(pairs.how), pairs.confidence);
    }
    links
}

/// Whether an event is a call on the host that the Execution Trace has a node for: an operator or an annotation.
pub fn is_call(trace: &Trace, row: usize) -> bool {
    matches!(trace.events.kind[row], EventKind::Operator | EventKind::Annotation) && !trace.is_on_device(row)
}

fn find_pairs(trace: &Trace, warnings: &mut Warnings) -> Option<Pairs> {
    let recorded = id::shared(trace, ArgKey::RecordId);
    if recorded.count > 0 {
        // Ids count from 1 in every run, so those of another run are shared too, but they name other operators.
        if recorded.agreement() < SAME_RUN {
            warnings.push_many(WarningKind::ForeignExecutionTrace, 1, Position::default);
            return None;
        }
        return Some(recorded.pairs(How::RecordId));
    }
    let external = id::shared(trace, ArgKey::ExternalId);
    external.is_one_numbering().then(|| external.pairs(How::ExternalId))
}
