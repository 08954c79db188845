//! Settles kernels, and copies, that share the launch of a single one.
//!
//! Some recordings give several kernels the `correlation` of one launch: merged ranks whose
//! processes are unknown, and runtimes that repeat the first number. A launch of a single kernel
//! keeps one; the others go, in order of time, to launches that lack theirs.

use rustc_hash::FxHashMap;

use super::launch_index::LaunchIndex;
use crate::column::OptionalColumn;
use crate::id::TrackId;
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
/// their call only if as many calls lack theirs. `pairs` are those of `launch`, sorted.
pub(super) fn settle(
    trace: &Trace,
    launches: &LaunchIndex,
    pairs: &[(u32, u32)],
    launch: &mut OptionalColumn,
) -> SurplusKernels {
    let mut single = TextCache::new(&trace.strings, single_work);
    let events = &trace.events;
    let mut crowded: Vec<(u32, EventKind, Vec<u32>)> = Vec::new();
    for work in pairs.chunk_by(|(host, _), (next, _)| host == next).filter(|work| work.len() > 1) {
        let host = work[0].0;
        if let Some(kind) = single.of(events.name.at(host as usize)) {
            let rows = work.iter().map(|(_, row)| *row).filter(|row| events.kind[*row as usize] == kind);
            crowded.push((host, kind, rows.collect()));
        }
    }
    crowded.retain(|(.., rows)| rows.len() > 1);
    let mut settled = SurplusKernels::default();
    for kind in [EventKind::Kernel, EventKind::Copy] {
        let of_kind: Vec<_> = crowded.iter().filter(|(_, other, _)| *other == kind).collect();
        if !of_kind.is_empty() {
            let singles =
                launches.rows().filter(|row| single.of(events.name.at(*row as usize)) == Some(kind)).collect();
            let free = FreeLaunches::of(trace, pairs, singles);
            for (host, _, rows) in of_kind {
                settle_launch(trace, &free, (*host, rows.clone()), launch, &mut settled);
            }
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
    sort::by_key(&mut rows, |row| (events.start.at(*row as usize), *row));
    let candidates = free.beside(trace, host, rows.len());
    let is_before = |(host, row): (&u32, &u32)| events.start.at(*host as usize) <= events.start.at(*row as usize);
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

/// Launches of a single kernel.
struct FreeLaunches {
    /// Those that lack their kernel by correlation id, each with its place in the order of time.
    by_number: FxHashMap<u64, Vec<(u32, u32)>>,
    /// The place of each in that order.
    places: FxHashMap<u32, u32>,
    /// All by thread, in order of time, and whether each lacks its kernel.
    by_thread: FxHashMap<TrackId, Vec<(u32, bool)>>,
}

impl FreeLaunches {
    /// `pairs` are launches with their work.
    fn of(trace: &Trace, pairs: &[(u32, u32)], mut rows: Vec<u32>) -> Self {
        sort::by_key(&mut rows, |row| trace.events.start.at(*row as usize));
        let mut free = Self {
            by_number: FxHashMap::default(),
            places: (0..).zip(&rows).map(|(place, row)| (*row, place)).collect(),
            by_thread: FxHashMap::default(),
        };
        for (place, row) in (0..).zip(rows) {
            let is_free = pairs.binary_search_by_key(&row, |(host, _)| *host).is_err();
            if let Some(id) = trace.correlation_id(row as usize).filter(|_| is_free) {
                free.by_number.entry(id).or_default().push((place, row));
            }
            free.by_thread.entry(trace.events.track.at(row as usize)).or_default().push((row, is_free));
        }
        free
    }

    /// A launch together with the free ones among which its kernels may be: those of the same
    /// number, else those that follow on its thread before the next launch with a kernel. In order
    /// of time, no more than there are kernels, and a further one.
    fn beside(&self, trace: &Trace, host: u32, num_kernels: usize) -> Vec<u32> {
        if let Some(same) = trace.correlation_id(host as usize).and_then(|id| self.by_number.get(&id)) {
            let own = (self.places.get(&host).copied().unwrap_or_default(), host);
            let mut all: Vec<_> = same.iter().copied().take(num_kernels + 1).collect();
            all.insert(all.partition_point(|other| *other < own), own);
            return all.into_iter().map(|(_, row)| row).collect();
        }
        let key = |row: u32| (trace.events.start.at(row as usize), row);
        let of_thread = self.by_thread.get(&trace.events.track.at(host as usize)).map_or(&[][..], Vec::as_slice);
        let at = of_thread.partition_point(|(row, _)| key(*row) <= key(host));
        let free = of_thread[at..].iter().take_while(|(_, is_free)| *is_free).map(|(row, _)| *row);
        std::iter::once(host).chain(free).take(num_kernels + 1).collect()
    }
}
