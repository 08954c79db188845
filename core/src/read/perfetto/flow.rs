//! Flows: which have begun, and their names.

use rustc_hash::FxHashSet;

/// The flows so far.
#[derive(Debug, Default)]
pub(super) struct PerfettoFlows {
    begun: FxHashSet<u64>,
    /// First numbers of flows, ascending, with category and name.
    named: Vec<(u64, String, String)>,
}

impl PerfettoFlows {
    /// Takes names of flows as [`write_perfetto`](crate::write::perfetto) gives them; false if they
    /// are none.
    pub(super) fn name(&mut self, json: &[u8]) -> bool {
        let named = serde_json::from_slice(json).ok();
        let is_named = named.is_some();
        self.named = named.unwrap_or_default();
        is_named
    }

    /// Start or step, for a flow that goes on.
    pub(super) fn phase(&mut self, number: u64) -> &'static [u8; 1] {
        if self.begun.insert(number) { b"s" } else { b"t" }
    }

    /// Category and name of a flow.
    pub(super) fn names(&self, number: u64) -> (&[u8], &[u8]) {
        let end = self.named.partition_point(|(first, ..)| *first <= number);
        match self.named[..end].last() {
            Some((_, category, name)) => (category.as_bytes(), name.as_bytes()),
            None => (b"flow", b"flow"),
        }
    }
}
