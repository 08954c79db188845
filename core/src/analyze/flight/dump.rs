//! The dump of one rank, and the part of the rank's calls that it can have.

use std::sync::Arc;

use super::operation::FlightOperation;
use crate::flight::{FlightEntry, FlightRecorder};
use crate::id::StrId;

/// A dump with its rank.
#[derive(Debug, Clone)]
pub(super) struct RankedDump {
    pub(super) rank: i64,
    pub(super) recorder: Arc<FlightRecorder>,
    /// Entries before the first one, which the ring buffer has dropped; `None` where it is unknown.
    pub(super) num_dropped: Option<i64>,
    /// Whether entries between the first and the last are left out, as by `onlyActive`.
    pub(super) has_gaps: bool,
    /// Whether an entry may be a send or a receive, and does not tell of whom.
    has_unknown_transfer: bool,
}

impl RankedDump {
    pub(super) fn new(rank: i64, recorder: Arc<FlightRecorder>) -> Self {
        let ids = || recorder.entries.iter().zip(0_u32..).filter_map(|(entry, row)| Some((entry.record_id?, row)));
        let ends = ids().min().zip(ids().max());
        let (num_known, num_unreadable) = (ids().count(), recorder.unreadable.len());
        // Entries without a number may stand in any gap.
        let possible = num_known as i64..=(recorder.entries.len() + num_unreadable) as i64;
        let num_between = |first: i64, last: i64| last.saturating_sub(first).saturating_add(1);
        let has_gaps = ends.is_some_and(|((first, _), (last, _))| !possible.contains(&num_between(first, last)));
        let num_dropped = ends.map(|((first, row), _)| {
            let unnumbered = recorder.entries[..row as usize].iter().filter(|entry| entry.record_id.is_none()).count();
            let unreadable = recorder.unreadable.partition_point(|before| *before <= row);
            first.saturating_sub((unnumbered + unreadable) as i64)
        });
        // An empty dump has all of no calls, unless a counter proves that it was emptied.
        let is_empty = recorder.entries.is_empty() && num_unreadable == 0;
        let has_counted = recorder.groups.iter().any(|group| group.last_enqueued.is_some_and(|last| last > 0));
        let num_dropped = num_dropped.or((is_empty && !has_counted).then_some(0));
        let mut found = Self { rank, num_dropped, has_gaps, has_unknown_transfer: num_unreadable > 0, recorder };
        found.has_unknown_transfer |= found.recorder.entries.iter().any(|entry| found.is_unknown_transfer(entry));
        found
    }

    pub(super) fn text(&self, id: StrId) -> &str {
        self.recorder.strings.text(id)
    }

    pub(super) fn entry(&self, row: u32) -> &FlightEntry {
        &self.recorder.entries[row as usize]
    }

    /// Whether the dump has no entry at all.
    pub(super) fn is_empty(&self) -> bool {
        self.recorder.entries.is_empty() && self.recorder.unreadable.is_empty()
    }

    /// Whether an entry is a send, a receive, or the end of several; `None` where it does not tell.
    pub(super) fn is_p2p(&self, entry: &FlightEntry) -> Option<bool> {
        let is_named = entry.name != StrId::EMPTY;
        let by_name = is_named.then(|| FlightOperation::parse(self.text(entry.name)).is_p2p());
        if entry.is_p2p == Some(true) { Some(true) } else { by_name.or(entry.is_p2p) }
    }

    fn is_unknown_transfer(&self, entry: &FlightEntry) -> bool {
        let operation = FlightOperation::parse(self.text(entry.name));
        let tells_ends = match entry.name {
            StrId::EMPTY => false,
            // The end of several has no ends of its own.
            _ => operation.ends.is_some() || !operation.is_p2p(),
        };
        self.is_p2p(entry) != Some(false) && (entry.has_unknown_group || !tells_ends)
    }

    /// The last collective of a group that the rank may have enqueued; later ones it never did.
    /// `None` where the dump does not tell.
    ///
    /// `recorded` are the first and the last number that the dump has of the group, `first` is the
    /// first one of all dumps. A ring buffer drops the oldest entries, so a later one would be in
    /// the dump: as one of the `num_unknown` entries behind the last, or readable.
    pub(super) fn last_possible(&self, recorded: Option<[i64; 2]>, first: i64, num_unknown: usize) -> Option<i64> {
        let before_first = (self.num_dropped == Some(0)).then(|| first.saturating_sub(1));
        let last = recorded.map(|[_, last]| last).or(before_first).filter(|_| !self.has_gaps);
        last.map(|last| last.saturating_add(num_unknown as i64))
    }

    /// Whether the dump has every call since the first of the rank, and tells which they are.
    pub(super) fn is_whole(&self) -> bool {
        !self.has_gaps && self.num_dropped == Some(0) && !self.has_unknown_transfer
    }
}
