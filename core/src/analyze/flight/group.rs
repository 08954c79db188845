//! A process group across ranks.

use std::sync::Arc;

/// A process group, as all dumps together describe it.
#[derive(Debug, Clone, Default)]
pub(super) struct FlightJobGroup {
    pub(super) name: String,
    pub(super) desc: String,
    /// Its global ranks, by their index in the group; `None` where no dump tells them.
    pub(super) ranks: Option<Arc<Vec<i64>>>,
    /// Dumps of its ranks, ascending.
    pub(super) dumps: Vec<u32>,
    /// The first and the last collective in each of `dumps`; `None` without one.
    pub(super) recorded: Vec<Option<[i64; 2]>>,
    /// The last collective that each of `dumps` may have enqueued; `None` where it is unknown.
    pub(super) last_possible: Vec<Option<i64>>,
}

impl FlightJobGroup {
    /// The number of its ranks, where it is known.
    pub(super) fn size(&self) -> Option<i64> {
        self.ranks.as_ref().map(|ranks| ranks.len() as i64)
    }

    /// The global rank at an index in the group.
    pub(super) fn rank_at(&self, index: i64) -> Option<i64> {
        self.ranks.as_ref()?.get(usize::try_from(index).ok()?).copied()
    }

    /// Whether the rank of a dump never enqueued a collective, by its place in `dumps`.
    pub(super) fn never_enqueued(&self, at: usize, seq: i64) -> bool {
        self.last_possible[at].is_some_and(|last| seq > last)
    }

    /// Name and description in words.
    pub(super) fn words(&self) -> String {
        match (self.name.as_str(), self.desc.as_str()) {
            ("", "") => String::from("a group without a name"),
            (name, "" | "undefined") | ("", name) => format!("group {name}"),
            (name, desc) => format!("group {name} ({desc})"),
        }
    }
}
