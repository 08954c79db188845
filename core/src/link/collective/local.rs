//! Finds calls of one rank alone, which are no communication.

use super::row::Collective;
use crate::trace::collective::CollectivePattern;

/// Marks calls of one rank alone: those whose group has one rank; where nothing tells of the group,
/// those that launched nothing though others did.
///
/// Calls that are started as a batch launch elsewhere, so a trace with batches tells nothing.
pub(super) fn mark(all: &mut [Collective]) {
    let is_called = |row: &Collective| row.event.is_some();
    let are_found = all.iter().all(|row| row.device_events.is_empty() || is_called(row));
    let do_launch = all.iter().any(|row| row.launch.is_some() && !row.device_events.is_empty());
    let has_batch = all.iter().any(|row| row.pattern == Some(CollectivePattern::Coalesced));
    let do_tell = are_found && do_launch && !has_batch;
    for row in all {
        row.is_local = row.facts.group_size.or_else(|| Some(row.ranks.as_ref()?.size())) == Some(1)
            || do_tell && is_called(row) && row.launched_nothing();
    }
}

impl Collective {
    /// Whether a collective of an unknown group had no work at all.
    fn launched_nothing(&self) -> bool {
        let is_unknown = self.facts.group_size.is_none() && self.facts.group_name.is_none() && self.ranks.is_none();
        let is_idle = self.launch.is_none() && self.device_events.is_empty() && self.run.is_none();
        let is_collective = self.pattern.is_some_and(|pattern| pattern.has_message() && !pattern.is_p2p());
        is_unknown && is_idle && is_collective
    }
}
