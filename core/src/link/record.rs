//! Host events and the Execution Trace's nodes that the same `RecordFunction` made.

use rustc_hash::FxHashMap;

use crate::error::Position;
use crate::id::OptionalColumn;
use crate::trace::Trace;
use crate::warning::{WarningKind, Warnings};

/// Joined on `Record function id` and `rf_id`, where 0 is none.
#[derive(Debug, Clone, Default)]
pub struct RecordLinks {
    /// Row of the node of an event.
    pub node_of_event: OptionalColumn,
    /// Row of the event of a node; a row a node.
    pub event_of_node: OptionalColumn,
    /// Row of the parent of a node; a row a node.
    pub parent_of_node: OptionalColumn,
}

pub(super) fn link_records(trace: &Trace, warnings: &mut Warnings) -> RecordLinks {
    let mut by_record: FxHashMap<u64, u32> = FxHashMap::default();
    for (row, node) in trace.nodes.iter().enumerate() {
        if node.record_id != 0 {
            by_record.entry(node.record_id).or_insert(row as u32);
        }
    }
    let mut links = RecordLinks {
        node_of_event: OptionalColumn::empty(trace.events.len()),
        event_of_node: OptionalColumn::empty(trace.nodes.len()),
        parent_of_node: OptionalColumn::empty(trace.nodes.len()),
    };
    let (pairs, num_agreeing) = shared_ids(trace, &by_record);
    // Ids count from 1 in every run, so those of another run are shared too, but they name other operators.
    if num_agreeing * 4 < pairs.len() * 3 {
        warnings.push_many(WarningKind::ForeignExecutionTrace, 1, Position::default);
    } else {
        for (row, node) in pairs {
            links.node_of_event.set(row, node);
            if links.event_of_node.get(node as usize).is_none() {
                links.event_of_node.set(node as usize, row as u32);
            }
        }
    }
    link_parents(trace, &mut links, warnings);
    links
}

/// Host events and nodes with the same record id, and how many of the pairs have the same name.
fn shared_ids(trace: &Trace, by_record: &FxHashMap<u64, u32>) -> (Vec<(usize, u32)>, usize) {
    let (mut pairs, mut num_agreeing) = (Vec::new(), 0);
    for row in 0..trace.events.len() {
        if trace.is_on_device(row) || by_record.is_empty() {
            continue;
        }
        if let Some(node) = trace.record_id(row).and_then(|id| by_record.get(&id).copied()) {
            let node_name = trace.nodes[node as usize].name;
            let is_same = node_name == trace.events.name[row]
                || is_same_name(trace.event_name(row), trace.strings.text(node_name));
            num_agreeing += usize::from(is_same);
            pairs.push((row, node));
        }
    }
    (pairs, num_agreeing)
}

/// Whether two names are equal but for quotes and backslashes, which Kineto writes in another way.
fn is_same_name(event: &str, node: &str) -> bool {
    let plain = |name: &str| name.replace(['"', '\\'], "'");
    plain(event) == plain(node)
}

fn link_parents(trace: &Trace, links: &mut RecordLinks, warnings: &mut Warnings) {
    let mut by_id: FxHashMap<u64, u32> = FxHashMap::default();
    let (mut duplicates, mut missing) = (Places::default(), Places::default());
    for (row, node) in trace.nodes.iter().enumerate() {
        if *by_id.entry(node.id).or_insert(row as u32) != row as u32 {
            duplicates.add(row);
        }
    }
    for (row, node) in trace.nodes.iter().enumerate() {
        let Some(parent) = node.parent.filter(|parent| *parent != node.id) else { continue };
        match by_id.get(&parent) {
            Some(parent) => links.parent_of_node.set(row, *parent),
            None => missing.add(row),
        }
    }
    warnings.push_many(WarningKind::DuplicateNode, duplicates.count, || duplicates.position());
    warnings.push_many(WarningKind::MissingParent, missing.count, || missing.position());
}

#[derive(Debug, Default)]
struct Places {
    count: u64,
    first: Option<u64>,
}

impl Places {
    fn add(&mut self, row: usize) {
        self.count += 1;
        self.first.get_or_insert(row as u64);
    }

    fn position(&self) -> Position {
        Position { event: self.first, ..Position::default() }
    }
}
