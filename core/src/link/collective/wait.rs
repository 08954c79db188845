//! Pairs host waits with their collectives.

use std::collections::BTreeSet;
use std::hash::Hash;

use rustc_hash::FxHashMap;

use super::row::{Collective, Collectives};
use crate::link::linked_trace::LinkedTrace;
use crate::sort;
use crate::trace::tensor::tensor_uses;

/// Pairs waits with collectives: by the sequence number in both records, or else by a tensor that
/// one outputs and the other takes.
///
/// Numbers count within a group. Most waits do not say theirs, so where communications of several
/// groups have the number and are still waited for, it stays open.
pub(super) fn pair(linked: &LinkedTrace, found: &mut Collectives) {
    let mut open = OpenCollectives::default();
    for (_, is_wait, at) in in_order(linked, found) {
        if !is_wait {
            open.add(linked, at, &found.rows[at as usize]);
            continue;
        }
        let wait = &mut found.waits[at as usize];
        let Some(row) = open.find(linked, &wait.call) else { continue };
        open.close(row, &found.rows[row as usize]);
        wait.collective = Some(row);
        found.rows[row as usize].wait = Some(at);
    }
}

/// When a call is made, whether it is a wait, and its row.
type TimedCallRow = ((bool, bool, i64, u64), bool, u32);

fn in_order(linked: &LinkedTrace, found: &Collectives) -> Vec<TimedCallRow> {
    let rows = found.rows.iter().enumerate().map(|(at, row)| (row.order(linked), false, at as u32));
    let waits = found.waits.iter().enumerate().map(|(at, wait)| (wait.call.order(linked), true, at as u32));
    let mut steps: Vec<_> = rows.chain(waits).collect();
    sort::ascending(&mut steps);
    steps
}

/// A number in sequence, and whether two ranks have it to themselves.
type SequenceKey = (i64, bool);
/// The process group in a record.
type RecordedGroup = (Option<String>, Option<i64>);

/// Communications that nothing has waited for yet.
#[derive(Default)]
struct OpenCollectives {
    of_number: FxHashMap<SequenceKey, BTreeSet<u32>>,
    of_group: FxHashMap<(SequenceKey, RecordedGroup), BTreeSet<u32>>,
    of_tensor: FxHashMap<u64, BTreeSet<u32>>,
    tensors: FxHashMap<u32, Vec<u64>>,
}

impl OpenCollectives {
    fn add(&mut self, linked: &LinkedTrace, at: u32, row: &Collective) {
        if let Some(number) = number(row) {
            self.of_number.entry(number).or_default().insert(at);
            self.of_group.entry((number, group(row))).or_default().insert(at);
        }
        let tensors = tensors(linked, row, true);
        for tensor in &tensors {
            self.of_tensor.entry(*tensor).or_default().insert(at);
        }
        self.tensors.insert(at, tensors);
    }

    fn find(&self, linked: &LinkedTrace, wait: &Collective) -> Option<u32> {
        let Some(number) = number(wait) else {
            // A tensor is not given to anything else before it has been waited for, so it is of the
            // last that gave it.
            let given =
                tensors(linked, wait, false).into_iter().filter_map(|tensor| self.of_tensor.get(&tensor)?.last());
            return given.copied().max();
        };
        let fitting = match group(wait) {
            (None, None) => self.of_number.get(&number)?,
            group => self.of_group.get(&(number, group))?,
        };
        fitting.first().copied().filter(|_| fitting.len() == 1)
    }

    fn close(&mut self, at: u32, row: &Collective) {
        if let Some(number) = number(row) {
            remove(&mut self.of_number, &number, at);
            remove(&mut self.of_group, &(number, group(row)), at);
        }
        for tensor in self.tensors.remove(&at).unwrap_or_default() {
            remove(&mut self.of_tensor, &tensor, at);
        }
    }
}

fn remove<K: Hash + Eq>(rows: &mut FxHashMap<K, BTreeSet<u32>>, key: &K, at: u32) {
    if let Some(rows) = rows.get_mut(key) {
        rows.remove(&at);
    }
}

fn number(row: &Collective) -> Option<SequenceKey> {
    Some((row.facts.seq?, row.facts.is_p2p.unwrap_or(false)))
}

fn group(row: &Collective) -> RecordedGroup {
    (row.facts.group_name.clone(), row.facts.group_id)
}

/// Ids of the tensors that a call takes or gives, as its outermost node records them.
fn tensors(linked: &LinkedTrace, call: &Collective, is_output: bool) -> Vec<u64> {
    let node = call.outer_node.map(|node| std::slice::from_ref(&linked.trace.nodes[node as usize]));
    let uses = tensor_uses(node.unwrap_or_default(), &linked.trace.strings);
    uses.into_iter().filter(|tensor| tensor.is_output == is_output).map(|tensor| tensor.tensor_id).collect()
}
