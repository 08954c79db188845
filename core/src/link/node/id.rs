//! Links events and nodes with equal ids.

use rustc_hash::{FxHashMap, FxHashSet};

use super::call::calls;
use super::matched_nodes::MatchedNodes;
use super::name_ids::{NameIds, may_stand_for};
use crate::link::link_method::LinkMethod;
use crate::trace::Trace;
use crate::trace::arg_key::ArgKey;

/// Host events and nodes that share an id.
#[derive(Debug, Default)]
pub(super) struct SharedIds {
    /// Pairs with equal names: row of the event, row of the node.
    agreeing: Vec<(u32, u32)>,
    /// All of them.
    pub(super) count: usize,
    /// Pairs with different names that occur in both files.
    num_contradicting: usize,
    /// Nodes that have an id.
    num_nodes: usize,
}

/// Ids that two files share name the same operators at least this often when the files are of one
/// run.
const SAME_RUN: f32 = 0.75;

impl SharedIds {
    /// The share of pairs with equal names.
    pub(super) fn agreement(&self) -> f32 {
        self.agreeing.len() as f32 / self.count.max(1) as f32
    }

    /// Whether the ids are of one run. One that is another up to some call shares the ids and names
    /// before it.
    ///
    /// Runs that make the same calls in the same order have equal ids and names throughout: only
    /// the process tells them apart. The order of ids does not, which is that of time in either
    /// run.
    pub(super) fn are_of_one_run(&self) -> bool {
        self.agreement() >= SAME_RUN && self.num_contradicting * 100 <= self.count
    }

    /// Whether both files number the same calls alike. Ids of two numberings meet by chance, and
    /// then names differ.
    pub(super) fn is_one_numbering(&self) -> bool {
        self.count * 2 > self.num_nodes && self.agreeing.len() * 100 >= self.count * 99
    }

    pub(super) fn found(self, how: LinkMethod) -> MatchedNodes {
        MatchedNodes { confidence: self.agreement(), rows: self.agreeing, how: Some(how), ..MatchedNodes::default() }
    }
}

/// Finds the operators and annotations whose `key` is the `rf_id` of a node; 0 is none.
pub(super) fn shared(trace: &Trace, key: ArgKey) -> SharedIds {
    let mut by_record: FxHashMap<u64, u32> = FxHashMap::default();
    for (row, node) in trace.nodes.iter().enumerate() {
        if node.record_id != 0 {
            by_record.entry(node.record_id).or_insert(row as u32);
        }
    }
    let mut shared = SharedIds { num_nodes: by_record.len(), ..SharedIds::default() };
    if by_record.is_empty() {
        return shared;
    }
    let mut names = NameIds::new(&trace.strings);
    let mut differing = Vec::new();
    for row in calls(trace) {
        let id = trace.args.identifier(&trace.strings, trace.events.args(row), key);
        let Some(node) = id.and_then(|id| by_record.get(&id).copied()) else { continue };
        shared.count += 1;
        let name = trace.nodes[node as usize].name;
        let pair = (names.name(trace.events.name.at(row)), names.name(name));
        if pair.0 == pair.1 || may_stand_for(trace.event_name(row), trace.strings.text(name)) {
            shared.agreeing.push((row as u32, node));
        } else {
            differing.push(pair);
        }
    }
    shared.num_contradicting = num_contradicting(trace, &mut names, &differing);
    shared
}

/// How many of these pairs, of an event's name and a node's, are of names that both files have.
///
/// A call that one of the files gives a name of its own is no sign of another run.
fn num_contradicting(trace: &Trace, names: &mut NameIds<'_>, differing: &[(u32, u32)]) -> usize {
    if differing.is_empty() {
        return 0;
    }
    let of_nodes: FxHashSet<_> = trace.nodes.iter().map(|node| names.name(node.name)).collect();
    let calls = calls(trace);
    let of_events: FxHashSet<_> = calls.map(|row| names.name(trace.events.name.at(row))).collect();
    differing.iter().filter(|(event, node)| of_nodes.contains(event) && of_events.contains(node)).count()
}
