//! Infers waits between streams from times, for devices that report no `cuda_sync` events.
//!
//! A stream wait names neither stream nor event in a trace. So work enqueued after such a call
//! counts as waiting if neither its launch nor its own stream delayed it. It waited for the work
//! that ended last before it began, among the last work of each stream when an event was recorded.
//! Without a record in the file, the time of the wait call counts.

use rustc_hash::{FxHashMap, FxHashSet};

use super::blocking::{MAX_PASSED, ended};
use super::edge::{Edge, EdgeKind};
use super::launch_index::is_launch;
use super::link_method::LinkMethod;
use super::links::Links;
use crate::id::{StrId, TrackId};
use crate::sort;
use crate::strings::TextCache;
use crate::time::{Dur, TimeRange, Ts};
use crate::trace::Trace;
use crate::trace::kind::EventKind;
use crate::vendor::{self, DeviceWait};

/// The delay until work without dependencies begins. In real files it is within 38 µs after the
/// awaited work, on AMD as on NVIDIA. With another cause it is never within 700 µs.
const SOON_NS: i64 = 50_000;

/// The time until a launch reaches an idle device: work that ends in it delays nothing.
const LATENCY: Dur = Dur(10_000);

/// Edges to work that waited for another stream; none in processes of which the device reports such
/// waits.
pub(super) fn stream_wait_edges(trace: &Trace, links: &Links) -> Vec<Edge> {
    StreamWaits::of(trace, links).map_or_else(Vec::new, |waits| waits.all().filter_map(|wait| wait.edge).collect())
}

/// Evidence for waits: the previous work on the stream, and the calls that made it wait.
pub(crate) fn stream_wait_witnesses(trace: &Trace, links: &Links, is_asked: impl Fn(usize) -> bool) -> Vec<u32> {
    let Some(waits) = StreamWaits::of(trace, links) else { return Vec::new() };
    let asked = waits.all().filter(|wait| is_asked(wait.row as usize));
    asked.flat_map(|wait| wait.witnesses.into_iter().chain(wait.before)).collect()
}

/// Whether some work waited, with evidence.
struct StreamWait {
    row: u32,
    /// The previous work on its stream.
    before: Option<u32>,
    edge: Option<Edge>,
    /// The calls that say so, if it did.
    witnesses: Vec<u32>,
}

/// Calls of a process by their starts.
type CallStarts = Vec<(Ts, u32)>;

#[derive(Default)]
struct ProcessCalls {
    waits: CallStarts,
    records: CallStarts,
}

struct StreamWaits<'a> {
    trace: &'a Trace,
    links: &'a Links,
    processes: FxHashMap<StrId, ProcessCalls>,
    /// Work of devices, by its ends.
    ended: Vec<(Ts, u32)>,
    /// When work of each stream was enqueued, ascending.
    enqueued: FxHashMap<TrackId, Vec<Ts>>,
}

impl<'a> StreamWaits<'a> {
    /// None where no call makes a stream wait of which the device reports nothing.
    fn of(trace: &'a Trace, links: &'a Links) -> Option<Self> {
        let processes = processes(trace, links);
        if processes.is_empty() {
            return None;
        }
        let enqueued = enqueued_by_stream(trace, links);
        Some(Self { trace, links, processes, ended: ended(trace), enqueued })
    }

    fn all(&self) -> impl Iterator<Item = StreamWait> + '_ {
        self.streams().flat_map(move |rows| {
            let mut stream = StreamState::default();
            rows.into_iter().map(move |row| {
                let wait = self.wait(&stream, row);
                stream.add(self, row);
                wait
            })
        })
    }

    /// Work of each stream in the order of its starts, which is that in which it was enqueued.
    fn streams(&self) -> impl Iterator<Item = Vec<u32>> + '_ {
        let is_work = |row: &u32| self.trace.events.kind[*row as usize].is_device_work();
        let tracks = (0..self.trace.tracks.len()).map(TrackId::from);
        tracks.map(move |track| self.links.nesting.track_rows(track).iter().copied().filter(is_work).collect())
    }

    /// When some work was enqueued; none where its launch is not in the file: then before all.
    fn enqueued(&self, row: u32) -> Option<Ts> {
        self.links.launch.get(row as usize).map(|launch| self.trace.events.start.at(launch as usize))
    }

    fn wait(&self, stream: &StreamState, row: u32) -> StreamWait {
        let mut wait = StreamWait { row, before: stream.last, edge: None, witnesses: Vec::new() };
        let calls = self.calls(stream, row);
        let (Some(enqueued), Some((_, call))) = (self.enqueued(row), calls.last()) else { return wait };
        let start = self.trace.events.start.at(row as usize);
        let idle_since = stream.busy_until.max(enqueued.after(LATENCY)).max(Ts(start.0.saturating_sub(SOON_NS)));
        let Some((source, witness)) = self.ended_in(TimeRange { start: idle_since, end: start }, calls, row) else {
            return wait;
        };
        wait.edge = Some(Edge::between(EdgeKind::Sync, LinkMethod::EndedBefore, source, row));
        wait.witnesses = vec![*call, witness];
        wait
    }

    /// The calls that made a stream wait, of the enqueuing process, since it enqueued the previous
    /// work.
    fn calls(&self, stream: &StreamState, row: u32) -> &[(Ts, u32)] {
        let Some(launch) = self.links.launch.get(row as usize) else { return &[] };
        let Some(process) = self.processes.get(&self.trace.process_of(launch as usize)) else { return &[] };
        let waits = &process.waits;
        let before = |time: Ts| waits.partition_point(|(start, _)| *start < time);
        let first = stream.enqueued.map_or(0, |since| waits.partition_point(|(start, _)| *start <= since));
        waits.get(first..before(self.trace.events.start.at(launch as usize))).unwrap_or(&[])
    }

    /// The last work of another stream in a time that may have been awaited, with the call that
    /// shows it.
    fn ended_in(&self, time: TimeRange, calls: &[(Ts, u32)], row: u32) -> Option<(u32, u32)> {
        let launch = self.links.launch.get(row as usize)?;
        let num_ended = self.ended.partition_point(|(end, _)| *end <= time.end);
        let inside = self.ended[..num_ended].iter().rev().take_while(|(end, _)| *end > time.start);
        let others = inside.take(MAX_PASSED).map(|(_, other)| *other);
        let track = self.trace.events.track.at(row as usize);
        let others = others.filter(|other| self.trace.events.track.at(*other as usize) != track);
        // Work of one launch, a graph, waits for its own work first.
        let mut others = others.take_while(|other| self.links.launch.get(*other as usize) != Some(launch));
        others.find_map(|other| Some((other, self.awaited(other, calls, launch)?)))
    }

    /// The call at which some work was the last that was enqueued on its stream: one that recorded
    /// an event before a stream was made to wait; where none is in the file, one that made it wait.
    fn awaited(&self, other: u32, calls: &[(Ts, u32)], launch: u32) -> Option<u32> {
        let process = self.trace.process_of(launch as usize);
        let own = self.links.launch.get(other as usize);
        if own.is_some_and(|own| self.trace.process_of(own as usize) != process) {
            return None;
        }
        let enqueued = self.enqueued(other).unwrap_or(Ts(i64::MIN));
        let queue = self.enqueued.get(&self.trace.events.track.at(other as usize)).map_or(&[][..], Vec::as_slice);
        let next = queue.get(queue.partition_point(|time| *time <= enqueued)).copied().unwrap_or(Ts(i64::MAX));
        let records = &self.processes.get(&process)?.records;
        let (last, _) = calls.last()?;
        let (calls, end) = if records.is_empty() { (calls, next) } else { (&records[..], next.min(*last)) };
        let at = calls.partition_point(|(start, _)| *start < enqueued);
        calls.get(at).filter(|(start, _)| *start <= end).map(|(_, call)| *call)
    }
}

/// The state of a stream.
#[derive(Clone, Copy)]
struct StreamState {
    last: Option<u32>,
    busy_until: Ts,
    /// When the last of its work with a launch was enqueued.
    enqueued: Option<Ts>,
}

impl Default for StreamState {
    fn default() -> Self {
        Self { last: None, busy_until: Ts(i64::MIN), enqueued: None }
    }
}

impl StreamState {
    fn add(&mut self, waits: &StreamWaits<'_>, row: u32) {
        self.last = Some(row);
        self.busy_until = self.busy_until.max(waits.trace.events.end(row as usize));
        self.enqueued = self.enqueued.max(waits.enqueued(row));
    }
}

/// The processes that make streams wait, but for those of which the device reports such waits.
fn processes(trace: &Trace, links: &Links) -> FxHashMap<StrId, ProcessCalls> {
    let events = &trace.events;
    let mut processes: FxHashMap<StrId, ProcessCalls> = FxHashMap::default();
    let mut reported: FxHashSet<StrId> = FxHashSet::default();
    let mut reports = TextCache::new(&trace.strings, vendor::device_wait);
    let mut waits = TextCache::new(&trace.strings, vendor::makes_stream_wait);
    let mut records = TextCache::new(&trace.strings, vendor::records_event);
    for row in 0..events.len() {
        let name = events.name.at(row);
        let place = (events.start.at(row), row as u32);
        if events.kind[row] == EventKind::Sync && reports.of(name) == Some(DeviceWait::StreamForEvent) {
            reported.extend(links.launch.get(row).map(|call| trace.process_of(call as usize)));
        } else if is_launch(trace, row) && waits.of(name) {
            processes.entry(trace.process_of(row)).or_default().waits.push(place);
        } else if is_launch(trace, row) && records.of(name) {
            processes.entry(trace.process_of(row)).or_default().records.push(place);
        }
    }
    processes.retain(|process, calls| !calls.waits.is_empty() && !reported.contains(process));
    for calls in processes.values_mut() {
        sort::ascending(&mut calls.waits);
        sort::ascending(&mut calls.records);
    }
    processes
}

fn enqueued_by_stream(trace: &Trace, links: &Links) -> FxHashMap<TrackId, Vec<Ts>> {
    let events = &trace.events;
    let mut streams: FxHashMap<TrackId, Vec<Ts>> = FxHashMap::default();
    for row in events.device_work() {
        if let Some(launch) = links.launch.get(row) {
            streams.entry(events.track.at(row)).or_default().push(events.start.at(launch as usize));
        }
    }
    streams.values_mut().for_each(|queue| sort::ascending(queue));
    streams
}
