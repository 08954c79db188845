//! Settles kernels, and copies, that share the launch of a single one.
//!
//! Some recordings give several kernels the `correlation` of one launch: merged ranks whose
//! processes are unknown, and runtimes that repeat the first number. A launch of a single kernel
//! keeps one; the others go, in order of time, to launches that lack theirs.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::launch_index::LaunchIndex;
use crate::id::{OptionalColumn, TrackId};
use crate::sort;
use crate::strings::TextCache;
use crate::trace::Trace;
use crate::trace::kind::EventKind;
use crate::vendor::single_work;

/// Kernels that did not stay with the launch that their `correlation` names.
#[derive(Debug, Default)]
pub(super) struct SurplusKernels {
    /// Rows of kernels that got another launch.
    pub(super) moved: Vec<u32>,
    /// Rows of kernels left without a launch, in order: more than one could be theirs.
    pub(super) ambiguous: Vec<usize>,
}

/// Leaves each launch of a single kernel at most one. A copy may be split, so several copies leave
/// their call only if as many calls lack theirs.
pub(super) fn settle(trace: &Trace, launches: &LaunchIndex, launch: &mut OptionalColumn) -> SurplusKernels {
    let mut single = TextCache::new(&trace.strings, single_work);
    let events = &trace.events;
    // By launch, its first work; the others are rare.
    let mut first = OptionalColumn::empty(events.len());
    let mut crowded: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for row in (0..events.len()).filter(|row| matches!(events.kind[*row], EventKind::Kernel | EventKind::Copy)) {
        let Some(host) = launch.get(row) else { continue };
        if single.of(events.name[host as usize]) != Some(events.kind[row]) {
            continue;
        }
        match first.get(host as usize) {
            None => first.set(host as usize, row as u32),
            Some(first) => crowded.entry(host).or_insert_with(|| vec![first]).push(row as u32),
        }
    }
    let mut settled = SurplusKernels::default();
    for kind in [EventKind::Kernel, EventKind::Copy] {
        let is_kind = |row: &u32| events.kind[*row as usize] == kind;
        let crowded = crowded.iter().filter(|(_, rows)| rows.iter().all(is_kind));
        let mut crowded = crowded.map(|(host, rows)| (*host, rows.clone())).peekable();
        if crowded.peek().is_some() {
            let singles = launches.rows().filter(|row| single.of(events.name[*row]) == Some(kind)).collect();
            let free = FreeLaunches::of(trace, &first, singles);
            crowded.for_each(|(host, rows)| settle_launch(trace, &free, (host, rows), launch, &mut settled));
        }
    }
    sort::ascending(&mut settled.ambiguous);
    settled
}

/// Gives the work of one launch to it and to free launches.
fn settle_launch(
    trace: &Trace,
    free: &FreeLaunches,
    (host, mut rows): (u32, Vec<u32>),
    launch: &mut OptionalColumn,
    settled: &mut SurplusKernels,
) {
    let events = &trace.events;
    sort::by_key(&mut rows, |row| (events.start[*row as usize], *row));
    let candidates = free.beside(trace, host, rows.len());
    let is_before = |(host, row): (&u32, &u32)| events.start[*host as usize] <= events.start[*row as usize];
    let is_in_order = candidates.len() == rows.len() && candidates.iter().zip(&rows).all(is_before);
    if !is_in_order && events.kind[rows[0] as usize] == EventKind::Copy {
        return;
    }
    for (at, row) in rows.into_iter().enumerate() {
        match candidates.get(at).filter(|_| is_in_order) {
            Some(other) if *other == host => {}
            Some(other) => {
                launch.set(row as usize, *other);
                settled.moved.push(row);
            }
            None => {
                launch.clear(row as usize);
                settled.ambiguous.push(row as usize);
            }
        }
    }
}

/// Launches of a single kernel, and whether each lacks its kernel.
struct FreeLaunches {
    /// By correlation id, in order of time.
    by_number: FxHashMap<u64, Vec<(u32, bool)>>,
    /// By thread, in order of time.
    by_thread: FxHashMap<TrackId, Vec<(u32, bool)>>,
}

impl FreeLaunches {
    /// `kernel` is the first kernel of each launch that has one.
    fn of(trace: &Trace, kernel: &OptionalColumn, mut rows: Vec<usize>) -> Self {
        sort::by_key(&mut rows, |row| trace.events.start[*row]);
        let mut free = Self { by_number: FxHashMap::default(), by_thread: FxHashMap::default() };
        for row in rows {
            let launch = (row as u32, kernel.get(row).is_none());
            if let Some(id) = trace.correlation_id(row) {
                free.by_number.entry(id).or_default().push(launch);
            }
            free.by_thread.entry(trace.events.track[row]).or_default().push(launch);
        }
        free
    }

    /// A launch together with the free ones among which its kernels may be: those of the same
    /// number, else those that follow on its thread before the next launch with a kernel. In order
    /// of time; of the latter no more than there are kernels, and the next.
    fn beside(&self, trace: &Trace, host: u32, num_kernels: usize) -> Vec<u32> {
        let same = trace.correlation_id(host as usize).and_then(|id| self.by_number.get(&id));
        let same: Vec<_> = same.into_iter().flatten().filter(|(row, is_free)| *is_free || *row == host).collect();
        if same.len() > 1 {
            return same.into_iter().map(|(row, _)| *row).collect();
        }
        let of_thread = self.by_thread.get(&trace.events.track[host as usize]).map_or(&[][..], Vec::as_slice);
        let key = |row: u32| (trace.events.start[row as usize], row);
        let at = of_thread.partition_point(|(row, _)| key(*row) <= key(host));
        let free = of_thread[at..].iter().take_while(|(_, is_free)| *is_free).map(|(row, _)| *row);
        std::iter::once(host).chain(free).take(num_kernels + 1).collect()
    }
}
