//! Finds waits for device work: from `cuda_sync` events, else from times.
//!
//! Work of a stream runs in order. So a wait for a stream is a wait for its last enqueued work, and
//! a wait for an event is one for the last work enqueued before its record.

use rustc_hash::FxHashMap;

use super::blocking::blocking_edges;
use super::edge::{Edge, EdgeKind};
use super::link_method::LinkMethod;
use super::links::Links;
use super::stream_wait::stream_wait_edges;
use crate::sort;
use crate::time::Ts;
use crate::trace::Trace;
use crate::trace::arg_key::ArgKey;
use crate::trace::args::plain_text;
use crate::trace::kind::EventKind;
use crate::vendor::{self, DeviceWait};

/// A device, as its number and the process that uses it, as far as they are recorded.
type SyncDevice = (Option<i64>, Option<i64>);

/// Rows of device work by the time at which it was enqueued.
type WorkQueue = Vec<(Ts, u32)>;

/// All of them, by the row of the wait.
pub(super) fn sync_edges(trace: &Trace, links: &Links) -> Vec<Edge> {
    let mut edges = reported_edges(trace, links);
    edges.extend(blocking_edges(trace, links));
    edges.extend(stream_wait_edges(trace, links));
    sort::by_key(&mut edges, |edge| (edge.target, edge.source));
    edges.dedup();
    edges
}

fn reported_edges(trace: &Trace, links: &Links) -> Vec<Edge> {
    reports(trace, links).into_iter().flat_map(|(_, edges)| edges).collect()
}

/// Rows of sync events, with their calls; everything between their ends is kept.
pub(crate) fn report_witnesses(trace: &Trace, links: &Links, is_kept: impl Fn(usize) -> bool) -> Vec<u32> {
    let tells = |edge: &Edge| is_kept(edge.source as usize) && is_kept(edge.target as usize);
    let all = reports(trace, links).into_iter().filter(|(_, edges)| edges.iter().any(tells));
    all.flat_map(|(report, _)| [Some(report), links.launch.get(report as usize)]).flatten().collect()
}

/// The device's reports with the edges that they tell of.
fn reports(trace: &Trace, links: &Links) -> Vec<(u32, Vec<Edge>)> {
    let is_sync = |row: &usize| trace.events.kind[*row] == EventKind::Sync;
    let mut syncs: Vec<usize> = (0..trace.events.len()).filter(is_sync).collect();
    if syncs.is_empty() {
        return Vec::new();
    }
    let mut waits = SyncFinder::new(trace, links);
    sort::by_key(&mut syncs, |row| waits.call(*row).1);
    syncs.iter().map(|row| (*row as u32, waits.of(*row))).collect()
}

/// When work of a device was enqueued; where its launch is not in the file, not after it began.
pub(super) fn enqueued(trace: &Trace, links: &Links, row: usize) -> Ts {
    trace.events.start.at(links.launch.get(row).map_or(row, |launch| launch as usize))
}

struct SyncFinder<'a> {
    trace: &'a Trace,
    links: &'a Links,
    streams: FxHashMap<(SyncDevice, i64), WorkQueue>,
    devices: FxHashMap<SyncDevice, WorkQueue>,
    /// How far into each device's queue a wait for all of it has come.
    done: FxHashMap<SyncDevice, usize>,
    /// Calls on the host by `correlation`.
    calls: FxHashMap<i64, u32>,
}

impl<'a> SyncFinder<'a> {
    fn new(trace: &'a Trace, links: &'a Links) -> Self {
        let (streams, devices, done) = (FxHashMap::default(), FxHashMap::default(), FxHashMap::default());
        let mut waits = Self { trace, links, streams, devices, done, calls: FxHashMap::default() };
        for row in 0..trace.events.len() {
            if trace.events.kind[row].is_device_work() {
                waits.enqueue(row);
            } else if let Some(id) = waits.known(row, ArgKey::Correlation).filter(|_| !trace.is_on_device(row)) {
                waits.calls.entry(id).or_insert(row as u32);
            }
        }
        waits.streams.values_mut().chain(waits.devices.values_mut()).for_each(|queue| sort::ascending(queue));
        waits
    }

    fn enqueue(&mut self, row: usize) {
        let place = (enqueued(self.trace, self.links, row), row as u32);
        let device = self.device(row);
        if let Some(stream) = self.stream(row) {
            self.streams.entry((device, stream)).or_default().push(place);
        }
        self.devices.entry(device).or_default().push(place);
    }

    /// Row of the call that waited, or of the report where the call is not in the file; and its
    /// start and end.
    fn call(&self, sync: usize) -> (u32, Ts, Ts) {
        let row = self.links.launch.get(sync).unwrap_or(sync as u32);
        (row, self.trace.events.start.at(row as usize), self.trace.events.end(row as usize))
    }

    fn of(&mut self, sync: usize) -> Vec<Edge> {
        let (call, start, _) = self.call(sync);
        let wait = match self.text(sync, vendor::is_wait_kind) {
            Some(kind) => vendor::device_wait(&kind),
            None => vendor::device_wait(self.trace.event_name(sync)),
        };
        let (how, pairs): (LinkMethod, Vec<(u32, u32)>) = match wait {
            Some(DeviceWait::Stream) => (LinkMethod::StreamOrder, to(call, self.last(sync, self.stream(sync), start))),
            Some(DeviceWait::Context) => (LinkMethod::StreamOrder, to(call, self.last_of_all(sync, start))),
            Some(DeviceWait::Event) => (LinkMethod::SyncEvent, to(call, self.recorded(sync))),
            Some(DeviceWait::StreamForEvent) => {
                (LinkMethod::SyncEvent, self.recorded(sync).zip(self.next(sync, start)).into_iter().collect())
            }
            None => return Vec::new(),
        };
        let in_order = pairs.into_iter().filter(|pair| self.is_in_order(*pair));
        in_order.map(|(source, target)| Edge::between(EdgeKind::Sync, how, source, target)).collect()
    }

    /// Work that ends later was not awaited: a query found it running, or clocks disagree.
    fn is_in_order(&self, (source, target): (u32, u32)) -> bool {
        source != target && self.trace.events.end(source as usize) <= self.trace.events.end(target as usize)
    }

    /// The last work enqueued before the record of the event that `sync` waits for.
    fn recorded(&self, sync: usize) -> Option<u32> {
        let record = self.calls.get(&self.known(sync, ArgKey::RecordedBy)?)?;
        self.last(sync, self.integer(sync, "wait_on_stream"), self.trace.events.start.at(*record as usize))
    }

    /// The last work enqueued on a stream of the same device before a time.
    fn last(&self, sync: usize, stream: Option<i64>, time: Ts) -> Option<u32> {
        let queue = self.streams.get(&(self.device(sync), stream?))?;
        let end = queue.partition_point(|(enqueued, _)| *enqueued < time);
        queue[..end].last().map(|(_, row)| *row)
    }

    /// The next work enqueued on the waiting stream.
    fn next(&self, sync: usize, time: Ts) -> Option<u32> {
        let stream = self.stream(sync)?;
        if self.integer(sync, "wait_on_stream") == Some(stream) {
            return None;
        }
        let queue = self.streams.get(&(self.device(sync), stream))?;
        let start = queue.partition_point(|(enqueued, _)| *enqueued < time);
        queue.get(start).map(|(_, row)| *row)
    }

    /// The last work enqueued on each stream of a device before a time, since the previous wait for
    /// the device.
    fn last_of_all(&mut self, sync: usize, time: Ts) -> Vec<u32> {
        let device = self.device(sync);
        let Some(queue) = self.devices.get(&device) else { return Vec::new() };
        let end = queue.partition_point(|(enqueued, _)| *enqueued < time);
        let start = self.done.insert(device, end).unwrap_or(0).min(end);
        let by_track = queue[start..end].iter().map(|(_, row)| (self.trace.events.track.at(*row as usize), *row));
        let last: FxHashMap<_, _> = by_track.collect();
        let mut rows: Vec<u32> = last.into_values().collect();
        sort::ascending(&mut rows);
        rows
    }

    fn device(&self, row: usize) -> SyncDevice {
        let of_track = || self.trace.track(self.trace.events.track.at(row)).stream?.device;
        (self.known(row, ArgKey::Device).or_else(of_track), self.known(row, ArgKey::ProcessId))
    }

    fn stream(&self, row: usize) -> Option<i64> {
        let of_track = || self.trace.track(self.trace.events.track.at(row)).stream?.stream;
        self.known(row, ArgKey::Stream).or_else(of_track)
    }

    fn known(&self, row: usize, key: ArgKey) -> Option<i64> {
        self.trace.args.integer(&self.trace.strings, self.trace.events.args(row), key)
    }

    fn text(&self, row: usize, is_key: impl Fn(&str) -> bool) -> Option<String> {
        let mut pairs = self.trace.args.pairs(&self.trace.strings, self.trace.events.args(row));
        pairs.find(|(key, _)| is_key(key)).map(|(_, json)| plain_text(&json))
    }

    fn integer(&self, row: usize, key: &str) -> Option<i64> {
        self.text(row, |other| other == key)?.parse().ok()
    }
}

fn to(call: u32, sources: impl IntoIterator<Item = u32>) -> Vec<(u32, u32)> {
    sources.into_iter().map(|source| (source, call)).collect()
}
