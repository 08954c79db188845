//! Waits for device work, each with its end.

use std::collections::BTreeMap;

use crate::analyze::selection::Selection;
use crate::sort;
use crate::time::Ts;

/// Waits of calls and of device work, for selected work.
#[derive(Debug, Default)]
pub(super) struct WorkWaits {
    /// Pairs of device work and the row of its waiter, sorted by waiter.
    pairs: Vec<(u32, u32)>,
    /// When the last work had ended that a call waited for.
    until: BTreeMap<u32, Ts>,
}

impl WorkWaits {
    /// All that are known (see `LinkedTrace::sync_edges`).
    pub(super) fn of(selection: &Selection<'_>) -> Self {
        let known = selection.linked.sync_edges().iter().map(|edge| (edge.target, edge.source));
        let mut pairs: Vec<_> = known.collect();
        pairs.retain(|(target, source)| selection.contains(*target as usize) && selection.contains(*source as usize));
        sort::ascending(&mut pairs);
        pairs.dedup();
        let mut until: BTreeMap<u32, Ts> = BTreeMap::new();
        for (target, source) in &pairs {
            let ended = selection.time(*source as usize).end;
            let known = until.entry(*target).or_insert(ended);
            *known = ended.max(*known);
        }
        Self { pairs, until }
    }

    /// Pairs of waiter and awaited work, by rows.
    pub(super) fn pairs(&self) -> &[(u32, u32)] {
        &self.pairs
    }

    /// Work that an event waited for.
    pub(super) fn sources(&self, target: u32) -> impl Iterator<Item = u32> + '_ {
        let start = self.pairs.partition_point(|(other, _)| *other < target);
        self.pairs[start..].iter().take_while(move |(other, _)| *other == target).map(|(_, source)| *source)
    }

    /// When the last work had ended that an event waited for.
    pub(super) fn until(&self, target: u32) -> Option<Ts> {
        self.until.get(&target).copied()
    }
}
