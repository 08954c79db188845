//! Reduces a trace to the collectives that are compared with other ranks.

use super::kept_rows::KeptRows;
use super::trim::LinkedEvents;
use crate::link::{LinkedTrace, communicates};
use crate::trace::Trace;
use crate::trace::node::NodeKind;

/// Reduces a trace to its collectives and iterations, with the events around them: a few kilobytes
/// for a trace of any size. Ids and times stay, so the collectives keep their rows and compare with
/// those of other ranks.
///
/// ```
/// use kinetoscope::edit::communications;
/// use kinetoscope::{Input, Limits, LinkedTrace, read};
/// let json = br#"[{"ph": "X", "cat": "cpu_op", "name": "aten::add", "tid": 1, "ts": 1, "dur": 2},
///     {"ph": "X", "cat": "cpu_op", "name": "c10d::allreduce_", "tid": 1, "ts": 5, "dur": 2}]"#;
/// let linked = LinkedTrace::new(read([Input::new(json)], Limits::default())?);
/// let part = communications(&linked);
/// assert_eq!((part.events.len(), part.event_name(0)), (1, "c10d::allreduce_"));
/// # Ok::<(), kinetoscope::Error>(())
/// ```
pub fn communications(linked: &LinkedTrace) -> Trace {
    let trace = &linked.trace;
    let found = linked.collectives();
    let rows = found.rows.iter().chain(found.waits.iter().map(|wait| &wait.call));
    let of_rows = rows.flat_map(|row| {
        row.event.into_iter().chain(row.launch).chain(row.runs()).chain(row.device_events.iter().copied())
    });
    let named = (0..trace.events.len()).filter(|row| communicates(trace.event_name(*row))).map(|row| row as u32);
    let iterations = linked.links.iterations.iter().map(|iteration| iteration.event);
    let events = LinkedEvents::of(linked, of_rows.chain(named).chain(iterations)).owners();
    let kept = KeptRows {
        nodes: nodes(linked, &events),
        events,
        instants: vec![false; trace.instants.len()],
        counters: vec![false; trace.counters.len()],
        flows: vec![false; trace.flows.len()],
    };
    kept.of(trace)
}

/// Nodes of these events and collectives, and metadata nodes of the Execution Trace, with their
/// parents.
fn nodes(linked: &LinkedTrace, is_kept: &[bool]) -> Vec<bool> {
    let (trace, links) = (&linked.trace, &linked.links.nodes);
    let mut stays = vec![false; trace.nodes.len()];
    for (row, node) in trace.nodes.iter().enumerate() {
        let name = trace.strings.text(node.name);
        let is_own = matches!(node.kind(name), NodeKind::Root | NodeKind::ProcessGroup);
        let is_of_event = links.event_of_node.get(row).is_some_and(|event| is_kept[event as usize]);
        let mut open = (is_own || is_of_event || communicates(name)).then_some(row);
        while let Some(row) = open.filter(|row| !std::mem::replace(&mut stays[*row], true)) {
            open = links.parent_of_node.get(row).map(|parent| parent as usize);
        }
    }
    stays
}
