//! Waits of the host, and the communications that they are for.

use rustc_hash::FxHashMap;

use super::{Collective, Collectives};
use crate::link::LinkedTrace;

/// A wait of the host for a communication.
#[derive(Debug, Clone, Default)]
pub struct Wait {
    /// The call that waits.
    pub call: Collective,
    /// What it waits for, among the communications.
    pub collective: Option<u32>,
}

/// Pairs waits with what they wait for, by the number in sequence that both record.
///
/// Numbers count within a group. Most waits do not say theirs, so where communications of several groups have the
/// number and are still waited for, it stays open.
pub(super) fn pair(linked: &LinkedTrace, found: &mut Collectives) {
    let mut open: FxHashMap<(i64, bool), Vec<u32>> = FxHashMap::default();
    for (at, row) in found.rows.iter().enumerate() {
        if let Some(seq) = row.facts.seq {
            open.entry((seq, row.is_p2p().unwrap_or(false))).or_default().push(at as u32);
        }
    }
    for (at, wait) in found.waits.iter_mut().enumerate() {
        let key = wait.call.facts.seq.map(|seq| (seq, wait.call.facts.is_p2p.unwrap_or(false)));
        let Some(asked) = key.and_then(|key| open.get_mut(&key)) else { continue };
        let fits = |row: &u32| {
            let row = &found.rows[*row as usize];
            is_same_group(row, &wait.call) && is_before(linked, row, &wait.call)
        };
        let mut fitting = asked.iter().copied().filter(fits);
        let (Some(one), None) = (fitting.next(), fitting.next()) else { continue };
        asked.retain(|row| *row != one);
        wait.collective = Some(one);
        found.rows[one as usize].wait = Some(at as u32);
    }
}

/// Whether a wait may be for a communication's group: it is, or the wait does not say.
fn is_same_group(row: &Collective, wait: &Collective) -> bool {
    let says = |wait: &Option<String>, row: &Option<String>| wait.is_none() || row.is_none() || wait == row;
    let ids = (wait.facts.group_id, row.facts.group_id);
    says(&wait.facts.group_name, &row.facts.group_name) && (ids.0.is_none() || ids.1.is_none() || ids.0 == ids.1)
}

fn is_before(linked: &LinkedTrace, row: &Collective, wait: &Collective) -> bool {
    match (row.event, wait.event, row.node, wait.node) {
        (Some(row), Some(wait), ..) => {
            linked.trace.events.start[row as usize] < linked.trace.events.start[wait as usize]
        }
        (.., Some(row), Some(wait)) => linked.trace.nodes[row as usize].id < linked.trace.nodes[wait as usize].id,
        _ => true,
    }
}
