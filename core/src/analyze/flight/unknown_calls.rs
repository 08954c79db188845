//! Entries that may be collectives, and do not tell which.

use rustc_hash::FxHashMap;

/// Rows of entries that may be any collective of their group, or of any group.
#[derive(Debug, Clone, Default)]
pub(super) struct UnknownCalls {
    /// By dump and group; `None` for those of an unknown group. Rows are ascending.
    rows: FxHashMap<(u32, Option<u32>), Vec<u32>>,
}

impl UnknownCalls {
    /// Adds an entry that stands before the row of this number, or in it.
    pub(super) fn push(&mut self, dump: u32, group: Option<u32>, row: u32) {
        self.rows.entry((dump, group)).or_default().push(row);
    }

    pub(super) fn sort(&mut self) {
        self.rows.values_mut().for_each(|rows| rows.sort_unstable());
    }

    /// Whether a dump has entries that may be of a group.
    pub(super) fn has(&self, dump: u32, group: u32) -> bool {
        self.count_after(dump, group, None) > 0
    }

    /// The number of such entries behind a row, or of all.
    pub(super) fn count_after(&self, dump: u32, group: u32, row: Option<u32>) -> usize {
        let of = |group| self.rows.get(&(dump, group)).map(Vec::as_slice).unwrap_or_default();
        let after = |rows: &[u32]| rows.len() - rows.partition_point(|at| Some(*at) <= row);
        after(of(Some(group))) + after(of(None))
    }
}
