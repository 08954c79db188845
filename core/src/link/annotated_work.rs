//! Device work by the thread whose annotations enclose its launch.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::id::TrackId;
use crate::sort;
use crate::time::{Ts, add_ns};
use crate::trace::event::EventTable;

/// Device work of each thread: launched by it, or by the backward pass that it waited for.
///
/// Annotations enclose launches by time on their thread. A backward thread works for another
/// thread, found in this order:
///
/// 1. The thread of the forward operator of the innermost backward operator around the launch.
/// 2. The forward thread of the last backward operator before it, if that thread is idle.
/// 3. If that thread has no annotation then, it may be a backward thread itself: the thread that it
///    works for.
/// 4. Otherwise the only thread of the process that is in an annotation while the backward operator
///    lasts, and idle; of several, the one in an iteration. If it is still unclear, none has the
///    work, and their device time is unknown.
#[derive(Debug, Clone, Default)]
pub(super) struct AnnotatedWork {
    threads: FxHashMap<TrackId, LaunchedWork>,
    /// Launches of each thread that may have been for it, ascending.
    unclear: FxHashMap<TrackId, Vec<Ts>>,
}

impl AnnotatedWork {
    /// Gathers work by thread: the start of its launch, and its row; and the starts of launches
    /// that may have been for a thread.
    pub(super) fn of(
        events: &EventTable,
        launches: FxHashMap<TrackId, Vec<(Ts, u32)>>,
        mut unclear: FxHashMap<TrackId, Vec<Ts>>,
    ) -> Self {
        unclear.values_mut().for_each(|starts| sort::ascending(starts));
        let threads = launches.into_iter().map(|(track, launches)| (track, LaunchedWork::of(events, launches)));
        Self { threads: threads.collect(), unclear }
    }

    /// Whether work was launched during an event that may have been for its thread.
    pub(super) fn is_unclear(&self, events: &EventTable, row: usize) -> bool {
        let Some(starts) = self.unclear.get(&events.track.at(row)) else { return false };
        let after = starts.partition_point(|start| *start < events.start.at(row));
        starts.get(after).is_some_and(|start| *start < events.end(row))
    }

    /// Rows of the work launched by or for the thread of an event while the event lasted.
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
        let work = self.threads.get(&events.track.at(row))?;
        let until = |time: Ts| work.at.partition_point(|at| *at < time);
        let start = until(events.start.at(row));
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
            add_ns(&mut sum_ns, events.dur.at(row as usize).0);
            work.at.push(at);
            work.rows.push(row);
            work.until_ns.push(sum_ns);
        }
        work
    }
}
