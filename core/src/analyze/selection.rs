//! Which events an analysis looks at: all, or those in a range, cut to it.

use super::interval::clip;
use crate::link::LinkedTrace;
use crate::time::{TimeRange, add_ns};

/// A linked trace and a range of it.
#[derive(Debug, Clone, Copy)]
pub struct Selection<'a> {
    /// The trace.
    pub linked: &'a LinkedTrace,
    /// The range, where not everything is looked at.
    pub range: Option<TimeRange>,
}

impl<'a> Selection<'a> {
    /// Everything in the trace.
    pub fn all(linked: &'a LinkedTrace) -> Self {
        Self { linked, range: None }
    }

    /// Rows of the events that overlap the range, in the order of the file.
    pub fn rows(&self) -> impl Iterator<Item = usize> + '_ {
        let events = &self.linked.trace.events;
        let is_inside =
            |row: &usize| self.range.is_none_or(|range| range.overlaps(events.start[*row], events.dur[*row]));
        (0..events.len()).filter(is_inside)
    }

    /// The event's time, cut to the range.
    pub fn time(&self, row: usize) -> TimeRange {
        let events = &self.linked.trace.events;
        let time = TimeRange { start: events.start[row], end: events.end(row) };
        self.range.map_or(time, |range| clip(time, range))
    }

    /// The event's duration inside the range, in nanoseconds.
    pub fn dur_ns(&self, row: usize) -> i64 {
        self.time(row).dur().0
    }

    /// For each event, the time inside the range that none of its children has, in nanoseconds.
    pub fn self_ns(&self) -> Vec<i64> {
        let nesting = &self.linked.links.nesting;
        let mut self_ns = vec![0; self.linked.trace.events.len()];
        for row in self.rows() {
            let dur = self.dur_ns(row);
            add_ns(&mut self_ns[row], dur);
            if let Some(parent) = nesting.parent.get(row) {
                add_ns(&mut self_ns[parent as usize], -dur);
            }
        }
        self_ns.iter_mut().for_each(|ns| *ns = (*ns).max(0));
        self_ns
    }

    /// The range that is looked at.
    pub fn span(&self) -> TimeRange {
        self.range.unwrap_or_else(|| self.linked.trace.range())
    }
}
