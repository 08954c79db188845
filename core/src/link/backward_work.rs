//! Device work of the backward pass, by the thread that waited for it.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::id::TrackId;
use crate::sort;
use crate::time::{Ts, add_ns};
use crate::trace::event::EventTable;

/// Device work of each thread that waited.
///
/// A thread works for the one on which those operators ran whose backward operators it runs: for a
/// launch, that of the innermost of another thread around it; for one around which is none, that of
/// the last that had begun, as long as that thread runs nothing itself. If that one is in no
/// annotation, it is another backward thread, which works for a third; or a replica, and then who
/// waits is the one thread of the process that is in an annotation and runs nothing.
#[derive(Debug, Clone, Default)]
pub(super) struct BackwardWork(FxHashMap<TrackId, LaunchedWork>);

impl BackwardWork {
    /// Gathers launches, each with its time and the row of its work, by the thread that waited.
    pub(super) fn of(events: &EventTable, launches: FxHashMap<TrackId, Vec<(Ts, u32)>>) -> Self {
        Self(launches.into_iter().map(|(track, launches)| (track, LaunchedWork::of(events, launches))).collect())
    }

    /// Rows of the work that was launched for a thread while an event lasted on it.
    pub(super) fn during(&self, events: &EventTable, row: usize) -> &[u32] {
        self.range(events, row).map_or(&[], |(work, range)| &work.rows[range])
    }

    /// How long that work took, summed, in nanoseconds.
    pub(super) fn during_ns(&self, events: &EventTable, row: usize) -> i64 {
        let ns = |(work, range): (&LaunchedWork, Range<usize>)| {
            work.until_ns[range.end].saturating_sub(work.until_ns[range.start])
        };
        self.range(events, row).map_or(0, ns)
    }

    fn range(&self, events: &EventTable, row: usize) -> Option<(&LaunchedWork, Range<usize>)> {
        let work = self.0.get(&events.track[row])?;
        let until = |time: Ts| work.at.partition_point(|at| *at < time);
        let start = until(events.start[row]);
        Some((work, start..until(events.end(row)).max(start)))
    }
}

/// Work in the order of its launches.
#[derive(Debug, Clone, Default)]
struct LaunchedWork {
    at: Vec<Ts>,
    rows: Vec<u32>,
    /// How long all work before each took.
    until_ns: Vec<i64>,
}

impl LaunchedWork {
    fn of(events: &EventTable, mut launches: Vec<(Ts, u32)>) -> Self {
        sort::ascending(&mut launches);
        let mut work = Self { until_ns: vec![0], ..Self::default() };
        let mut sum_ns = 0;
        for (at, row) in launches {
            add_ns(&mut sum_ns, events.dur[row as usize].0);
            work.at.push(at);
            work.rows.push(row);
            work.until_ns.push(sum_ns);
        }
        work
    }
}
