//! Measures host activity during idle times of a stream.

use std::collections::BTreeMap;

use crate::analyze::interval::clip;
use crate::id::TrackId;
use crate::link::LinkedTrace;
use crate::time::{TimeRange, sum_ns};

/// Host activity during a gap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostActivity {
    /// Id of the event.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// Self time of the event during the gap.
    pub self_ns: i64,
}

/// Maximum number of host events per gap; the first ones are used.
const MAX_LOOKED_AT: usize = 10_000;

/// Host activity during most of a gap: of the thread that launched the next work, or of another
/// thread of its process where that one was idle. The thread of the backward pass is idle until the
/// pass begins.
pub(in crate::analyze) fn host_during(linked: &LinkedTrace, launch: u32, time: TimeRange) -> Option<HostActivity> {
    thread_activity(linked, launch, time)?.most(linked)
}

/// The activity of a thread during a time.
pub(crate) struct ThreadActivity {
    /// The thread.
    pub(crate) thread: TrackId,
    /// Self time of each event, by row.
    pub(crate) self_ns: BTreeMap<u32, i64>,
    /// For how long it did anything.
    all_ns: i64,
}

impl ThreadActivity {
    fn of(linked: &LinkedTrace, thread: TrackId, time: TimeRange) -> Self {
        let self_ns = self_during(linked, thread, time);
        Self { thread, all_ns: sum_ns(self_ns.values().copied()), self_ns }
    }

    /// The longest activity, if it covers most of the time.
    fn most(&self, linked: &LinkedTrace) -> Option<HostActivity> {
        let (row, self_ns) = self.self_ns.iter().max_by_key(|(row, ns)| (**ns, std::cmp::Reverse(**row)))?;
        let (id, name) =
            (linked.trace.events.position.at(*row as usize), linked.trace.event_name(*row as usize).to_owned());
        (*self_ns > 0).then_some(HostActivity { id, name, self_ns: *self_ns })
    }
}

/// The activity of a launching thread, or of another thread of its process as chosen by
/// `host_during`.
pub(crate) fn thread_activity(linked: &LinkedTrace, launch: u32, time: TimeRange) -> Option<ThreadActivity> {
    let trace = &linked.trace;
    let thread = trace.events.track.at(launch as usize);
    let own = ThreadActivity::of(linked, thread, time);
    if own.all_ns > 0 && own.all_ns * 2 >= time.dur().0 {
        return Some(own);
    }
    let process = trace.track(thread).process;
    let of_process =
        |at: &TrackId| *at != thread && trace.track(*at).stream.is_none() && trace.track(*at).process == process;
    let others = (0..trace.tracks.len()).map(TrackId::from).filter(of_process);
    let busiest = others.max_by_key(|other| covered_ns(linked, *other, time));
    let other = busiest.map(|busiest| ThreadActivity::of(linked, busiest, time));
    // Of threads that did as much, the one that launched.
    let most =
        std::iter::once(own).chain(other).reduce(|best, next| if next.all_ns > best.all_ns { next } else { best });
    most.filter(|doing| doing.all_ns > 0)
}

/// For how long of a time a thread did anything.
fn covered_ns(linked: &LinkedTrace, thread: TrackId, time: TimeRange) -> i64 {
    let parent = |row: u32| linked.links.nesting.parent.get(row as usize);
    let (begun, before) = during(linked, thread, time);
    let around = std::iter::successors(before, |row| parent(*row)).last();
    let outermost = begun.iter().copied().filter(|row| parent(*row).is_none());
    sum_ns(outermost.chain(around).map(|row| inside_ns(linked, row, time)))
}

/// A thread's events that begin in a time, the first of them, and the last that began before.
fn during(linked: &LinkedTrace, thread: TrackId, time: TimeRange) -> (&[u32], Option<u32>) {
    let (events, rows) = (&linked.trace.events, linked.links.nesting.track_rows(thread));
    let first = rows.partition_point(|row| events.start.at(*row as usize) < time.start);
    let last = rows.partition_point(|row| events.start.at(*row as usize) < time.end);
    let end = last.max(first).min(first + MAX_LOOKED_AT);
    (&rows[first..end], first.checked_sub(1).map(|at| rows[at]))
}

/// How long of a time an event was.
fn inside_ns(linked: &LinkedTrace, row: u32, time: TimeRange) -> i64 {
    let events = &linked.trace.events;
    let own = TimeRange { start: events.start.at(row as usize), end: events.end(row as usize) };
    clip(own, time).dur().0
}

/// Self time of each event of a thread during a time, by row.
pub(in crate::analyze) fn self_during(linked: &LinkedTrace, thread: TrackId, time: TimeRange) -> BTreeMap<u32, i64> {
    let parent = |row: u32| linked.links.nesting.parent.get(row as usize);
    let mut self_ns: BTreeMap<u32, i64> = BTreeMap::new();
    let mut add = |row: u32| {
        let inside_ns = inside_ns(linked, row, time);
        *self_ns.entry(row).or_insert(0) += inside_ns;
        if let Some(parent) = parent(row) {
            *self_ns.entry(parent).or_insert(0) -= inside_ns;
        }
    };
    let (begun, before) = during(linked, thread, time);
    begun.iter().for_each(|row| add(*row));
    // An event that began earlier is around the start.
    std::iter::successors(before, |row| parent(*row)).for_each(add);
    self_ns
}
