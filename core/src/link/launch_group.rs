//! Groups the calls of the threads that launch, by the long gaps between them.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use crate::id::TrackId;
use crate::sort;
use crate::strings::TextCache;
use crate::time::Ts;
use crate::trace::Trace;
use crate::trace::kind::EventKind;
use crate::vendor::enqueues;

/// Gaps between groups are at least this much longer than the gaps inside of them.
const MUCH_LONGER: i64 = 3;

/// Shorter gaps, in nanoseconds, are as long as this: their ratios mean nothing.
const SHORT_NS: i64 = 1_000;

/// Threads with less than this part of the launches of the busiest one do not run the loop.
const MIN_PART: usize = 20;

/// Fewer groups are no loop.
const MIN_GROUPS: usize = 3;

/// Operators and launches without a long gap between them.
#[derive(Debug, Clone, Copy)]
pub(super) struct LaunchGroup {
    /// The first of them.
    pub(super) row: u32,
    /// The busiest thread, for all groups.
    pub(super) track: TrackId,
    pub(super) start: Ts,
    pub(super) end: Ts,
}

/// Groups of operators and launches on the threads that launch, or that have operators where
/// nothing is launched. None if no gaps are much longer than all others.
///
/// A thread of its own may launch the backward pass, so all that launch much count. A wait right
/// after a group is part of it.
pub(super) fn launch_groups(trace: &Trace) -> Vec<LaunchGroup> {
    let calls = LoopCalls::of(trace);
    let Some(track) = calls.busiest else { return Vec::new() };
    let events = &trace.events;
    let mut groups: Vec<LaunchGroup> = Vec::new();
    for row in &calls.work {
        let (start, end) = (events.start.at(*row as usize), events.end(*row as usize));
        match groups.last_mut() {
            Some(last) if start < last.end => last.end = last.end.max(end),
            _ => groups.push(LaunchGroup { row: *row, track, start, end }),
        }
    }
    let gap_before = |group: &[LaunchGroup]| group[1].start.since(group[0].end).0.max(SHORT_NS);
    let mut gaps: Vec<i64> = groups.windows(2).map(gap_before).collect();
    sort::ascending(&mut gaps);
    let Some(limit) = shortest_between(&gaps) else { return Vec::new() };
    groups.dedup_by(|next, last| {
        let is_inside = next.start.since(last.end).0.max(SHORT_NS) < limit;
        if is_inside {
            last.end = last.end.max(next.end);
        }
        is_inside
    });
    for wait in calls.waits {
        let (start, end) = (events.start.at(wait as usize), events.end(wait as usize));
        let after = groups.partition_point(|group| group.start <= start);
        let next = groups.get(after).map_or(end, |next| next.start);
        let Some(last) = after.checked_sub(1).map(|at| &mut groups[at]) else { continue };
        if start.since(last.end).0 < limit {
            last.end = last.end.max(end.min(next));
        }
    }
    groups
}

/// The shortest of the gaps between groups, where they stand out the most; gaps ascend.
fn shortest_between(gaps: &[i64]) -> Option<i64> {
    let last = (gaps.len() + 1).checked_sub(MIN_GROUPS)?;
    let ratio = |at: usize| gaps[at] / gaps[at - 1];
    let at = (1..=last).filter(|at| *at < gaps.len()).max_by_key(|at| (ratio(*at), Reverse(*at)))?;
    (ratio(at) >= MUCH_LONGER).then(|| gaps[at])
}

/// Calls of the threads that run the loop, by start.
#[derive(Default)]
struct LoopCalls {
    /// The thread with most launches.
    busiest: Option<TrackId>,
    /// Operators and calls that enqueue work.
    work: Vec<u32>,
    /// Calls that enqueue nothing.
    waits: Vec<u32>,
}

impl LoopCalls {
    fn of(trace: &Trace) -> Self {
        let events = &trace.events;
        let mut is_enqueueing = TextCache::new(&trace.strings, enqueues);
        let mut num_launches: FxHashMap<TrackId, usize> = FxHashMap::default();
        let mut num_operators: FxHashMap<TrackId, usize> = FxHashMap::default();
        let mut is_work = vec![false; events.len()];
        for row in (0..events.len()).filter(|row| !trace.is_on_device(*row)) {
            let counts = match events.kind[row] {
                EventKind::Operator => &mut num_operators,
                EventKind::Launch if is_enqueueing.of(events.name.at(row)) => &mut num_launches,
                _ => continue,
            };
            is_work[row] = true;
            *counts.entry(events.track.at(row)).or_default() += 1;
        }
        let counts = if num_launches.is_empty() { num_operators } else { num_launches };
        let Some((busiest, most)) = counts.iter().max_by_key(|(track, count)| (**count, Reverse(**track))) else {
            return Self::default();
        };
        let process = |track: &TrackId| trace.tracks[track.index()].process;
        let is_of_loop = |track: &TrackId| {
            let count = counts.get(track).copied().unwrap_or(0);
            process(track) == process(busiest) && count.saturating_mul(MIN_PART) >= *most
        };
        let is_call = |row: &usize| matches!(events.kind[*row], EventKind::Operator | EventKind::Launch);
        let rows = (0..events.len()).filter(|row| is_call(row) && is_of_loop(&events.track.at(*row)));
        let mut rows: Vec<u32> = rows.map(|row| row as u32).collect();
        sort::by_key(&mut rows, |row| (events.start.at(*row as usize), Reverse(events.end(*row as usize))));
        let (work, waits) = rows.into_iter().partition(|row| is_work[*row as usize]);
        Self { busiest: Some(*busiest), work, waits }
    }
}
