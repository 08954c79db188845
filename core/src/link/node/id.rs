//! Events and nodes with equal ids.

use rustc_hash::FxHashMap;

use super::name::plain;
use super::{Found, is_call};
use crate::link::How;
use crate::trace::Trace;
use crate::trace::arg_key::ArgKey;

/// Host events and nodes that share an id.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// Those whose names are equal too: row of the event, row of the node.
    agreeing: Vec<(u32, u32)>,
    /// All of them.
    pub(super) count: usize,
    /// Nodes that have an id.
    num_nodes: usize,
}

impl Shared {
    /// The share of them whose names are equal.
    pub(super) fn agreement(&self) -> f32 {
        self.agreeing.len() as f32 / self.count.max(1) as f32
    }

    /// Whether both files number the same calls alike. Ids of two numberings meet by chance, and then names differ.
    pub(super) fn is_one_numbering(&self) -> bool {
        self.count * 2 > self.num_nodes && self.agreeing.len() * 100 >= self.count * 99
    }

    pub(super) fn found(self, how: How) -> Found {
        Found { confidence: self.agreement(), rows: self.agreeing, how: Some(how), ..Found::default() }
    }
}

/// Finds the operators and annotations whose `key` is the `rf_id` of a node; 0 is none.
pub(super) fn shared(trace: &Trace, key: ArgKey) -> Shared {
    let mut by_record: FxHashMap<u64, u32> = FxHashMap::default();
    for (row, node) in trace.nodes.iter().enumerate() {
        if node.record_id != 0 {
            by_record.entry(node.record_id).or_insert(row as u32);
        }
    }
    let mut shared = Shared { num_nodes: by_record.len(), ..Shared::default() };
    if by_record.is_empty() {
        return shared;
    }
    for row in (0..trace.events.len()).filter(|row| is_call(trace, *row)) {
        let id = trace.args.identifier(&trace.strings, trace.events.args(row), key);
        if let Some(node) = id.and_then(|id| by_record.get(&id).copied()) {
            shared.count += 1;
            let node_name = trace.nodes[node as usize].name;
            let is_same = node_name == trace.events.name[row]
                || plain(trace.event_name(row)) == plain(trace.strings.text(node_name));
            if is_same {
                shared.agreeing.push((row as u32, node));
            }
        }
    }
    shared
}
