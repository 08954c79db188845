//! Work that began when work of another stream ended, as the device reports no such waits (`cuda_sync`).
//!
//! Who makes a stream wait for an event names neither in a trace. So work that was enqueued after such a call, and that
//! nothing of its own stream held back, is taken to have waited for what ended last before it began, on another stream of
//! its device.

use rustc_hash::FxHashMap;

use super::blocking::{MAX_PASSED, ended, process_of};
use super::edge::{Edge, EdgeKind};
use super::launch::is_launch;
use super::{How, Links};
use crate::id::TrackId;
use crate::sort;
use crate::time::{TimeRange, Ts};
use crate::trace::Trace;
use crate::trace::kind::EventKind;

/// What such a call has in its name, in every runtime.
const NAME: &str = "StreamWaitEvent";

/// What a device's report of such a wait is called.
const REPORT: &str = "Stream Wait Event";

/// How soon work begins that has nothing more to wait for. In real files all such work does within 38 µs of the end of
/// what it waited for, on AMD as on NVIDIA, and where another thing held it up, not within 700.
const SOON_NS: i64 = 50_000;

/// Edges to work that waited for another stream; none where the device reports such waits.
pub(super) fn stream_wait_edges(trace: &Trace, links: &Links) -> Vec<Edge> {
    StreamWaits::of(trace, links).map_or_else(Vec::new, |waits| waits.all().filter_map(|wait| wait.edge).collect())
}

/// Rows that tell whether some work waited: what was enqueued before it on its stream, and the call that made it wait.
pub(crate) fn stream_wait_witnesses(trace: &Trace, links: &Links, is_asked: impl Fn(usize) -> bool) -> Vec<u32> {
    let Some(waits) = StreamWaits::of(trace, links) else { return Vec::new() };
    let rows = |wait: &Wait| [wait.before, wait.call.filter(|_| wait.edge.is_some())];
    waits.all().filter(|wait| is_asked(wait.row as usize)).flat_map(|wait| rows(&wait)).flatten().collect()
}

/// Whether some work waited, and what tells so.
struct Wait {
    row: u32,
    /// What was enqueued before it on its stream.
    before: Option<u32>,
    /// The call that may have made it wait.
    call: Option<u32>,
    edge: Option<Edge>,
}

struct StreamWaits<'a> {
    trace: &'a Trace,
    links: &'a Links,
    /// Calls that make a stream wait, by their starts.
    calls: Vec<(Ts, u32)>,
    /// Work of devices, by its ends.
    ended: Vec<(Ts, u32)>,
}

impl<'a> StreamWaits<'a> {
    /// None where no call makes a stream wait, or the device reports such waits.
    fn of(trace: &'a Trace, links: &'a Links) -> Option<Self> {
        let events = &trace.events;
        let is_report = |row: usize| events.kind[row] == EventKind::Sync && trace.event_name(row) == REPORT;
        let is_call = |row: &usize| is_launch(trace, *row) && trace.event_name(*row).contains(NAME);
        let calls = (0..events.len()).filter(is_call).map(|row| (events.start[row], row as u32));
        let mut calls: Vec<(Ts, u32)> = calls.collect();
        if calls.is_empty() || (0..events.len()).any(is_report) {
            return None;
        }
        sort::ascending(&mut calls);
        Some(Self { trace, links, calls, ended: ended(trace) })
    }

    fn all(&self) -> impl Iterator<Item = Wait> + '_ {
        self.queues().into_iter().flat_map(move |queue| {
            let before = |at: usize| at.checked_sub(1);
            (0..queue.len()).map(move |at| self.wait(before(at).map(|before| queue[before]), queue[at]))
        })
    }

    /// Work of each stream by the time at which it was enqueued; what has a launch.
    fn queues(&self) -> Vec<Vec<(Ts, u32)>> {
        let events = &self.trace.events;
        let mut queues: FxHashMap<TrackId, Vec<(Ts, u32)>> = FxHashMap::default();
        for row in (0..events.len()).filter(|row| events.kind[*row].is_device_work()) {
            if let Some(launch) = self.links.launch.get(row) {
                queues.entry(events.track[row]).or_default().push((events.start[launch as usize], row as u32));
            }
        }
        let mut queues: Vec<_> = queues.into_iter().collect();
        sort::by_key(&mut queues, |(track, _)| *track);
        let start = |(enqueued, row): &(Ts, u32)| (*enqueued, events.start[*row as usize], *row);
        queues.iter_mut().for_each(|(_, queue)| sort::by_key(queue, start));
        queues.into_iter().map(|(_, queue)| queue).collect()
    }

    /// The wait of work that was enqueued at a time, after other work of its stream.
    fn wait(&self, before: Option<(Ts, u32)>, (enqueued, row): (Ts, u32)) -> Wait {
        let events = &self.trace.events;
        let call = self.call(before.map(|(enqueued, _)| enqueued), enqueued, row);
        let start = events.start[row as usize];
        let is_held_until = before.map_or(enqueued, |(_, before)| events.end(before as usize).max(enqueued));
        let idle = TimeRange { start: is_held_until.max(Ts(start.0.saturating_sub(SOON_NS))), end: start };
        let source = call.and_then(|call| self.ended_in(idle, call, row));
        let edge = source.map(|source| Edge::between(EdgeKind::Sync, How::EndedBefore, source, row));
        Wait { row, before: before.map(|(_, before)| before), call: call.map(|call| call as u32), edge }
    }

    /// The last call that made a stream wait, by the process that enqueued some work, before it and after a time.
    fn call(&self, since: Option<Ts>, enqueued: Ts, row: u32) -> Option<usize> {
        let process = process_of(self.trace, self.links.launch.get(row as usize)? as usize);
        let num_before = self.calls.partition_point(|(start, _)| *start < enqueued);
        let between =
            self.calls[..num_before].iter().rev().take_while(|(start, _)| since.is_none_or(|since| *start > since));
        let mut own = between.take(MAX_PASSED).map(|(_, call)| *call as usize);
        own.find(|call| process_of(self.trace, *call) == process)
    }

    /// What ended last after the begin of a time and by its end, on another stream of a device, and had been enqueued
    /// when a call made a stream wait.
    fn ended_in(&self, time: TimeRange, call: usize, row: u32) -> Option<u32> {
        let events = &self.trace.events;
        let stream = |row: u32| self.trace.track(events.track[row as usize]).stream;
        let device = stream(row)?.device;
        let is_awaited = |other: u32| {
            let launch = self.links.launch.get(other as usize).map(|launch| launch as usize);
            events.track[other as usize] != events.track[row as usize]
                && stream(other).is_some_and(|stream| stream.device == device)
                && launch.is_some_and(|launch| {
                    process_of(self.trace, launch) == process_of(self.trace, call)
                        && events.start[launch] < events.start[call]
                })
        };
        let num_ended = self.ended.partition_point(|(end, _)| *end <= time.end);
        let inside = self.ended[..num_ended].iter().rev().take_while(|(end, _)| *end > time.start);
        inside.take(MAX_PASSED).map(|(_, other)| *other).find(|other| is_awaited(*other))
    }
}
