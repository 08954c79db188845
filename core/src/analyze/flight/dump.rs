//! The dump of one rank, and the part of the rank's calls that it can have.

use std::sync::Arc;

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
}

impl RankedDump {
    pub(super) fn new(rank: i64, recorder: Arc<FlightRecorder>) -> Self {
        let ids: Option<Vec<i64>> = recorder.entries.iter().map(|entry| entry.record_id).collect();
        let ids = ids.unwrap_or_default();
        let ends = ids.iter().min().zip(ids.iter().max());
        let has_gaps = ends.is_some_and(|(first, last)| last.saturating_sub(*first) != ids.len() as i64 - 1);
        Self { rank, num_dropped: ends.map(|(first, _)| *first), has_gaps, recorder }
    }

    pub(super) fn text(&self, id: StrId) -> &str {
        self.recorder.strings.text(id)
    }

    pub(super) fn entry(&self, row: u32) -> &FlightEntry {
        &self.recorder.entries[row as usize]
    }

    /// Whether the rank never enqueued a collective that the dump does not have.
    ///
    /// `recorded` are the first and the last number that the dump has of the group. A later number
    /// would be in the dump, as a ring buffer drops the oldest entries.
    pub(super) fn never_enqueued(&self, recorded: Option<[i64; 2]>, seq: i64) -> bool {
        match recorded {
            _ if self.has_gaps => false,
            Some([_, last]) => seq > last,
            None if self.recorder.entries.is_empty() => {
                // A buffer that was emptied has no entries either.
                self.recorder.groups.iter().all(|group| group.last_enqueued.is_none_or(|last| last <= 0))
            }
            None => self.num_dropped == Some(0),
        }
    }

    /// Whether the dump has every call since the first of the rank.
    pub(super) fn is_whole(&self) -> bool {
        !self.has_gaps && self.num_dropped == Some(0)
    }
}
