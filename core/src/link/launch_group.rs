//! Groups the calls of the thread that launches, by the long gaps between them.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use crate::id::TrackId;
use crate::sort;
use crate::time::Ts;
use crate::trace::Trace;
use crate::trace::kind::EventKind;

/// Gaps between groups are at least this much longer than the gaps inside of them.
const MUCH_LONGER: i64 = 3;

/// Shorter gaps, in nanoseconds, are as long as this: their ratios mean nothing.
const SHORT_NS: i64 = 1_000;

/// Fewer groups are no loop.
const MIN_GROUPS: usize = 3;

/// Operators and launches without a long gap between them.
#[derive(Debug, Clone, Copy)]
pub(super) struct LaunchGroup {
    /// The first of them.
    pub(super) row: u32,
    pub(super) track: TrackId,
    pub(super) start: Ts,
    pub(super) end: Ts,
}

/// Groups of operators and launches on the thread that launches most, or has most operators where
/// nothing is launched. None if no gaps are much longer than all others.
pub(super) fn launch_groups(trace: &Trace) -> Vec<LaunchGroup> {
    let track = busiest(trace, EventKind::Launch).or_else(|| busiest(trace, EventKind::Operator));
    let Some(track) = track else { return Vec::new() };
    let events = &trace.events;
    let mut groups: Vec<LaunchGroup> = Vec::new();
    for row in work_of(trace, track) {
        let (start, end) = (events.start[row as usize], events.end(row as usize));
        match groups.last_mut() {
            Some(last) if start < last.end => last.end = last.end.max(end),
            _ => groups.push(LaunchGroup { row, track, start, end }),
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
    groups
}

/// The shortest of the gaps between groups, where they stand out the most; gaps ascend.
fn shortest_between(gaps: &[i64]) -> Option<i64> {
    let last = (gaps.len() + 1).checked_sub(MIN_GROUPS)?;
    let ratio = |at: usize| gaps[at] / gaps[at - 1];
    let at = (1..=last).filter(|at| *at < gaps.len()).max_by_key(|at| (ratio(*at), Reverse(*at)))?;
    (ratio(at) >= MUCH_LONGER).then(|| gaps[at])
}

/// The thread with most host events of a kind.
fn busiest(trace: &Trace, kind: EventKind) -> Option<TrackId> {
    let events = &trace.events;
    let mut counts: FxHashMap<TrackId, usize> = FxHashMap::default();
    for row in (0..events.len()).filter(|row| events.kind[*row] == kind && !trace.is_on_device(*row)) {
        *counts.entry(events.track[row]).or_default() += 1;
    }
    counts.into_iter().max_by_key(|(track, count)| (*count, Reverse(*track))).map(|(track, _)| track)
}

/// Rows of the operators and launches of a thread, by start.
fn work_of(trace: &Trace, track: TrackId) -> Vec<u32> {
    let events = &trace.events;
    let is_work = |row: &usize| matches!(events.kind[*row], EventKind::Operator | EventKind::Launch);
    let rows = (0..events.len()).filter(|row| events.track[*row] == track).filter(is_work);
    let mut rows: Vec<u32> = rows.map(|row| row as u32).collect();
    sort::by_key(&mut rows, |row| (events.start[*row as usize], Reverse(events.end(*row as usize))));
    rows
}
