//! Device work that the backward pass launched on its own thread, by the thread that waited for it.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::LinkedTrace;
use crate::id::TrackId;
use crate::sort;
use crate::time::{Ts, add_ns};
use crate::trace::kind::EventKind;

/// Device work of each thread that waited.
///
/// A thread works for the one on which those operators ran whose backward operators it runs: for a launch, that of the last
/// of them that had begun, or of the first.
#[derive(Debug, Clone, Default)]
pub struct BackwardWork(FxHashMap<TrackId, Work>);

impl BackwardWork {
    pub(super) fn of(linked: &LinkedTrace) -> Self {
        let events = &linked.trace.events;
        let served = served(linked);
        let mut launches: FxHashMap<TrackId, Vec<(Ts, u32)>> = FxHashMap::default();
        for row in (0..events.len()).filter(|row| events.kind[*row].is_device_work()) {
            let Some(launch) = linked.links.launch.get(row).map(|launch| launch as usize) else { continue };
            let Some(served) = served.get(&events.track[launch]) else { continue };
            let at = events.start[launch];
            let num_begun = served.partition_point(|(begun, _)| *begun <= at);
            launches.entry(served[num_begun.saturating_sub(1)].1).or_default().push((at, row as u32));
        }
        Self(launches.into_iter().map(|(track, launches)| (track, Work::of(linked, launches))).collect())
    }

    /// Rows of the work that was launched for a thread while an annotation lasted on it; of other events none.
    pub fn of_annotation(&self, linked: &LinkedTrace, row: usize) -> &[u32] {
        self.range(linked, row).map_or(&[], |(work, range)| &work.rows[range])
    }

    /// How long that work took, summed, in nanoseconds.
    pub fn annotation_ns(&self, linked: &LinkedTrace, row: usize) -> i64 {
        let ns =
            |(work, range): (&Work, Range<usize>)| work.until_ns[range.end].saturating_sub(work.until_ns[range.start]);
        self.range(linked, row).map_or(0, ns)
    }

    fn range(&self, linked: &LinkedTrace, row: usize) -> Option<(&Work, Range<usize>)> {
        let events = &linked.trace.events;
        let work = self.0.get(&events.track[row]).filter(|_| events.kind[row] == EventKind::Annotation)?;
        let until = |time: Ts| work.at.partition_point(|at| *at < time);
        let start = until(events.start[row]);
        Some((work, start..until(events.end(row)).max(start)))
    }
}

/// Work in the order of its launches.
#[derive(Debug, Clone, Default)]
struct Work {
    at: Vec<Ts>,
    rows: Vec<u32>,
    /// How long all work before each took.
    until_ns: Vec<i64>,
}

impl Work {
    fn of(linked: &LinkedTrace, mut launches: Vec<(Ts, u32)>) -> Self {
        sort::ascending(&mut launches);
        let mut work = Self { until_ns: vec![0], ..Self::default() };
        let mut sum_ns = 0;
        for (at, row) in launches {
            add_ns(&mut sum_ns, linked.trace.events.dur[row as usize].0);
            work.at.push(at);
            work.rows.push(row);
            work.until_ns.push(sum_ns);
        }
        work
    }
}

/// For each thread of the backward pass when it began operators, and on which thread their forward operators ran.
fn served(linked: &LinkedTrace) -> FxHashMap<TrackId, Vec<(Ts, TrackId)>> {
    let events = &linked.trace.events;
    let mut served: FxHashMap<TrackId, Vec<(Ts, TrackId)>> = FxHashMap::default();
    for pair in linked.forward_backward() {
        let [forward, backward] = [pair.forward, pair.backward].map(|row| events.track[row as usize]);
        if forward != backward {
            served.entry(backward).or_default().push((events.start[pair.backward as usize], forward));
        }
    }
    served.values_mut().for_each(|served| sort::ascending(served));
    served
}
