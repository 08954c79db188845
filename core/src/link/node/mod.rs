//! Host events and the nodes of the Execution Trace that the same calls made.

mod align;
mod band;
mod certain;
mod fill;
mod gram;
mod id;
mod name;
mod parent;
mod process;
mod sequence;
mod shape;
mod span;
mod thread;
mod window;

pub(super) use self::sequence::FIT;
use self::shape::Shapes;
use self::window::Recordings;
pub use self::window::Window;
use super::How;
use super::iteration::Iteration;
use crate::error::Position;
use crate::id::OptionalColumn;
use crate::trace::Trace;
use crate::trace::arg_key::ArgKey;
use crate::trace::kind::EventKind;
use crate::trace::node::Node;
use crate::warning::{WarningKind, Warnings};

/// What two sequences have in common: places in the first and in the second, both ascending, each as early as it can be.
pub(crate) fn aligned(a: &[u32], b: &[u32]) -> Vec<(u32, u32)> {
    align::Walk::new(a, b).run()
}

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
    /// How sure they are, from 0 to 1: by ids, the share of those in both files that have one name; by names, the `fit`,
    /// which is the share of events that have a node times the share of nodes that have an event. When nothing is linked,
    /// what was not enough.
    ///
    /// Where one recording fits into the other in several places, `fit × (0.5 + 0.5 × min(1, (fit − next) / (0.1 × fit)))`:
    /// as much as the fit if the next best one is a tenth worse, half as much if it is as good, unless the iteration
    /// was asked for.
    pub confidence: f32,
    /// Where one recording fits into the other, when they are not of the same length; in their order, the linked one
    /// and the first thousand.
    pub windows: Vec<Window>,
}

/// Events with their nodes, and how they were found.
#[derive(Debug, Default)]
struct Found {
    /// Row of the event, row of the node.
    rows: Vec<(u32, u32)>,
    how: Option<How>,
    confidence: f32,
    windows: Vec<Window>,
}

pub(super) fn link_nodes(trace: &Trace, iterations: &[Iteration], warnings: &mut Warnings) -> NodeLinks {
    let found = find(trace, iterations, warnings);
    let mut links = NodeLinks {
        node_of_event: OptionalColumn::empty(trace.events.len()),
        event_of_node: OptionalColumn::empty(trace.nodes.len()),
        parent_of_node: parent::link_parents(trace, warnings),
        how: found.how,
        confidence: found.confidence,
        windows: found.windows,
    };
    for (event, node) in found.rows {
        links.node_of_event.set(event as usize, node);
        if links.event_of_node.get(node as usize).is_none() {
            links.event_of_node.set(node as usize, event);
        }
    }
    links
}

/// Whether an event is a call on the host that the Execution Trace has a node for: an operator or an annotation.
pub fn is_call(trace: &Trace, row: usize) -> bool {
    matches!(trace.events.kind[row], EventKind::Operator | EventKind::Annotation) && !trace.is_on_device(row)
}

/// Where a node is in the order in which nodes were entered: `rf_id`, or `id` where it has none.
pub fn node_order(node: &Node) -> u64 {
    node.order()
}

/// In the header of the Execution Trace, the iteration to link (see `LinkedTrace::linked_to`): so a snapshot keeps it.
pub(super) const ASKED_FOR: &str = "linked_iteration";

fn find(trace: &Trace, iterations: &[Iteration], warnings: &mut Warnings) -> Found {
    if trace.nodes.is_empty() || !(0..trace.events.len()).any(|row| is_call(trace, row)) {
        return Found::default();
    }
    let asked = trace.execution_header.iter().find(|(key, _)| trace.strings.text(*key) == ASKED_FOR);
    if let Some((_, iteration)) = asked {
        return by_names(trace, iterations, trace.strings.text(*iteration).parse().ok(), warnings);
    }
    if process::are_of_two_processes(trace) {
        warnings.push_many(WarningKind::OtherProcess, 1, Position::default);
        return Found::default();
    }
    let recorded = id::shared(trace, ArgKey::RecordId);
    if recorded.count > 0 {
        // Ids count from 1 in every run, so those of another run are shared too, but they name other operators.
        if !recorded.are_of_one_run() {
            warnings.push_many(WarningKind::ForeignExecutionTrace, 1, Position::default);
            return Found { confidence: recorded.agreement(), ..Found::default() };
        }
        return recorded.found(How::RecordId);
    }
    let external = id::shared(trace, ArgKey::ExternalId);
    if external.is_one_numbering() {
        return external.found(How::ExternalId);
    }
    by_names(trace, iterations, None, warnings)
}

/// Links by the order of names: from end to end, or else the one recording within the other.
fn by_names(trace: &Trace, iterations: &[Iteration], iteration: Option<i64>, warnings: &mut Warnings) -> Found {
    let threads = thread::threads(trace);
    let shapes = Shapes::new(trace);
    let mut found = Found::default();
    if iteration.is_none() {
        found = sequence::found(sequence::align_threads(&threads, &shapes), How::Sequence);
    }
    if found.how.is_none() {
        let chosen = Recordings::new(trace, iterations, &threads, &shapes).link(iteration);
        let part = sequence::found(chosen.linked, How::Window);
        let confidence = match part.how {
            Some(_) => part.confidence * chosen.sureness,
            None => part.confidence.max(found.confidence),
        };
        let mut windows = chosen.windows;
        windows.iter_mut().for_each(|window| window.is_linked &= part.how.is_some());
        found = Found { confidence, windows, ..part };
    }
    if found.how.is_some() {
        fill::fill(trace, &mut found.rows);
    } else {
        warnings.push_many(WarningKind::UnlikeExecutionTrace, 1, Position::default);
    }
    found
}
