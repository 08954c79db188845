//! Finds the calls of collectives among events and among nodes.

use rustc_hash::{FxHashMap, FxHashSet};

use super::call::{self, CallRole, CollectiveCall, CollectiveCalls, CollectiveRow};
use crate::link::linked_trace::LinkedTrace;
use crate::sort;

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
    let mut calls = call::calls(&parts, trace.events.len(), parent);
    let place = |part: &CollectiveRow| {
        let row = part.row as usize;
        Some((trace.record_id(row)?, trace.events.track.at(row).index() as u64))
    };
    if has_lone_runs(&calls.all) {
        call::join_by_record(&mut calls.all, place);
        call::join_by_order(&mut calls.all, |part| trace.events.start.at(part.row as usize));
    }
    calls
}

pub(super) fn node_calls(linked: &LinkedTrace) -> CollectiveCalls {
    let nodes = &linked.trace.nodes;
    let name = |row: usize| linked.trace.strings.text(nodes[row].name);
    let mut parts: Vec<CollectiveRow> = (0..nodes.len()).filter_map(|row| call::part(row, name(row))).collect();
    // Nodes are numbered as they begin, so enclosing nodes come first.
    sort::by_key(&mut parts, |part| nodes[part.row as usize].id);
    let mut operators: Vec<u64> = parts
        .iter()
        .filter(|part| part.role == CallRole::Operator)
        .map(|part| nodes[part.row as usize].record_id)
        .collect();
    sort::ascending(&mut operators);
    let runs: FxHashSet<u32> = parts.iter().filter(|part| part.role == CallRole::Run).map(|part| part.row).collect();
    // A run ends on another thread than it began on, which confuses the observer's stacks: where
    // the record ids name another operator, they are right.
    let is_told = |row: usize, parent: usize| {
        let [own, outer] = [row, parent].map(|row| nodes[row].record_id);
        let before = operators[..operators.partition_point(|id| *id < own)].last();
        !runs.contains(&(row as u32)) || own == 0 || before == Some(&outer)
    };
    let parent = |row: usize| {
        let parent = linked.links.nodes.parent_of_node.get(row).map(|parent| parent as usize);
        parent.filter(|parent| is_told(row, *parent))
    };
    let mut calls = call::calls(&parts, nodes.len(), parent);
    let place = |part: &CollectiveRow| {
        let node = &nodes[part.row as usize];
        (node.record_id != 0).then(|| (node.record_id, node.thread.unwrap_or(0)))
    };
    if has_lone_runs(&calls.all) {
        call::join_by_record(&mut calls.all, place);
        call::join_by_order(&mut calls.all, |part| (nodes[part.row as usize].record_id, nodes[part.row as usize].id));
    }
    calls
}

fn has_lone_runs(calls: &[CollectiveCall]) -> bool {
    calls.iter().any(|call| matches!(call[..], [CollectiveRow { role: CallRole::Run, .. }]))
}

/// The row of the part that stands for a call: its record, or else the outermost; a run only when
/// there is no other.
pub(super) fn stands_for(call: &CollectiveCall) -> Option<u32> {
    let record = call.iter().find(|part| part.role == CallRole::Record);
    record.or_else(|| call.iter().find(|part| part.role != CallRole::Run)).map(|part| part.row)
}

/// The name that the innermost part gives that has one, when the record has none. A run of another
/// pattern is the backend's affair.
pub(super) fn name_in(call: &CollectiveCall, name: impl Fn(u32) -> Option<&'static str>) -> Option<&'static str> {
    let named = call.iter().rev().filter(|part| part.role != CallRole::Record && !is_stand_in(call, **part));
    named.map(|part| part.row).find_map(name)
}

/// Whether a part is a run of another pattern than its operator's.
pub(super) fn is_stand_in(call: &CollectiveCall, part: CollectiveRow) -> bool {
    let outer = call.iter().find_map(|outer| outer.pattern);
    part.role == CallRole::Run && outer.is_some() && part.pattern != outer
}

/// Calls by the rows of their parts.
pub(super) fn by_part(calls: &[CollectiveCall]) -> FxHashMap<u32, usize> {
    let parts = calls.iter().enumerate().flat_map(|(at, call)| call.iter().map(move |part| (part.row, at)));
    parts.collect()
}
