//! Finds the calls of collectives among events and among nodes.

use rustc_hash::FxHashMap;

use super::call::{self, CallRole, CollectiveCall, CollectiveRow};
use crate::id::OptionalColumn;
use crate::link::linked_trace::LinkedTrace;
use crate::sort;

/// The calls of a trace's host events or of its nodes, by their rows.
pub(super) struct CollectiveCalls {
    pub(super) all: Vec<CollectiveCall>,
    /// The call that each row is in.
    pub(super) of_row: OptionalColumn,
}

/// The calls of host events and of nodes. Where the order of requests does not determine the run of
/// an operator, the other file may: a failed operator has no run, and a recording may begin in
/// between.
pub(super) fn both_calls(linked: &LinkedTrace) -> (CollectiveCalls, CollectiveCalls) {
    let (links, mut hosts, mut nodes) = (&linked.links.nodes, host_calls(linked), node_calls(linked));
    let node_at = by_part(&nodes.all);
    call::join_by_other_file(&mut hosts.all, |part| node_at.get(&links.node_of_event.get(part.row as usize)?).copied());
    let host_at = by_part(&hosts.all);
    call::join_by_other_file(&mut nodes.all, |part| host_at.get(&links.event_of_node.get(part.row as usize)?).copied());
    (hosts, nodes)
}

pub(super) fn host_calls(linked: &LinkedTrace) -> CollectiveCalls {
    let (trace, nesting) = (&linked.trace, &linked.links.nesting);
    let hosts = nesting.order.iter().map(|row| *row as usize).filter(|row| !trace.is_on_device(*row));
    let parts: Vec<CollectiveRow> = hosts.filter_map(|row| call::part(row, trace.event_name(row))).collect();
    let parent = |row: usize| nesting.parent.get(row).map(|parent| parent as usize);
    let (mut all, of_row) = call::calls(&parts, trace.events.len(), parent);
    call::join_runs(&mut all, |part| (trace.record_id(part.row as usize), trace.events.start[part.row as usize]));
    CollectiveCalls { all, of_row }
}

pub(super) fn node_calls(linked: &LinkedTrace) -> CollectiveCalls {
    let nodes = &linked.trace.nodes;
    let name = |row: usize| linked.trace.strings.text(nodes[row].name);
    let mut parts: Vec<CollectiveRow> = (0..nodes.len()).filter_map(|row| call::part(row, name(row))).collect();
    // Nodes are numbered as they begin, so enclosing nodes come first.
    sort::by_key(&mut parts, |part| nodes[part.row as usize].id);
    let parent = |row: usize| linked.links.nodes.parent_of_node.get(row).map(|parent| parent as usize);
    let (mut all, of_row) = call::calls(&parts, nodes.len(), parent);
    call::join_runs(&mut all, |part| (nodes[part.row as usize].record_id, nodes[part.row as usize].id));
    CollectiveCalls { all, of_row }
}

/// The row of the part that stands for a call: its record, or else the outermost; a run only when
/// there is no other.
pub(super) fn stands_for(call: &CollectiveCall) -> Option<u32> {
    let record = call.iter().find(|part| part.role == CallRole::Record);
    record.or_else(|| call.iter().find(|part| part.role != CallRole::Run)).map(|part| part.row)
}

/// The name that the innermost part gives that has one, when the record has none.
pub(super) fn name_in(call: &CollectiveCall, name: impl Fn(u32) -> Option<&'static str>) -> Option<&'static str> {
    call.iter().rev().filter(|part| part.role != CallRole::Record).find_map(|part| name(part.row))
}

/// Calls by the rows of their parts.
pub(super) fn by_part(calls: &[CollectiveCall]) -> FxHashMap<u32, usize> {
    let parts = calls.iter().enumerate().flat_map(|(at, call)| call.iter().map(move |part| (part.row, at)));
    parts.collect()
}
