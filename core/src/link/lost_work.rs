//! Bounds the times in which lost device work may have run.
//!
//! A stream runs its work in order. So work of a launch without device events ran after the start
//! of the launch, and before the next recorded work of the stream that was launched later, or
//! before the host had synchronised with the device. In between, a silent stream may be busy. Work
//! that may have run on a stream of which nothing is recorded is bounded by the host alone.
//!
//! Work of an unknown kind is lost to all analyses, too, but its times are known.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};

use super::launch_streams::LaunchStreams;
use super::links::Links;
use crate::id::{StrId, TrackId};
use crate::sort;
use crate::strings::TextCache;
use crate::time::{TimeRange, Ts};
use crate::trace::Trace;
use crate::trace::kind::EventKind;
use crate::trace::track::Stream;
use crate::vendor;
use crate::warning::WarningKind;

/// Work that may have run on more streams than these may have run on each of them all the time:
/// from the first launch of such work on, until the host had synchronised after the last.
const MANY_STREAMS: usize = 64;

/// The time in which the lost work of a launch may have run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LostRange {
    /// Row of the launch.
    pub launch: u32,
    /// The stream, if it can be only one.
    pub track: Option<TrackId>,
    /// The stream or, without its number, the device; `None` if it can be another one.
    pub place: Option<Stream>,
    /// The time.
    pub time: TimeRange,
}

/// Times in which lost work may have run.
#[derive(Debug, Clone, Default)]
pub struct LostWork {
    /// One row a launch, in the order of their starts.
    pub ranges: Vec<LostRange>,
    /// The starts of the launches of each thread, ascending.
    starts: BTreeMap<TrackId, Vec<Ts>>,
    /// Rows of the operators and annotations that own the launches.
    owners: FxHashSet<u32>,
    by_track: BTreeMap<TrackId, Vec<TimeRange>>,
    by_device: BTreeMap<Option<i64>, Vec<TimeRange>>,
    /// Rows and times of device work of an unknown kind.
    unknown: Vec<(u32, TimeRange)>,
    /// Where and when it began, ascending.
    unknown_starts: Vec<(UnknownPlace, Ts)>,
    /// The time of the recording if its file ends early: nobody knows whose records are missing.
    cut: Option<TimeRange>,
    /// Whether the file ends before the first device work.
    is_all: bool,
}

/// Device and stream of work of an unknown kind.
type UnknownPlace = (Option<i64>, Option<i64>);

fn place(on: Stream) -> UnknownPlace {
    (on.device, on.stream)
}

impl LostWork {
    /// Times of a stream, disjoint and ascending.
    pub fn of_stream(&self, track: TrackId) -> &[TimeRange] {
        self.by_track.get(&track).map_or(&[], Vec::as_slice)
    }

    /// Times of any stream of a device, disjoint and ascending.
    pub fn of_device(&self, device: Option<i64>) -> &[TimeRange] {
        self.by_device.get(&device).map_or(&[], Vec::as_slice)
    }

    /// All such times.
    pub fn times(&self) -> impl Iterator<Item = TimeRange> + '_ {
        let unknown = self.unknown.iter().map(|(_, time)| *time);
        self.ranges.iter().map(|lost| lost.time).chain(unknown).chain(self.cut)
    }

    /// Rows of device work of an unknown kind.
    pub fn of_unknown_kind(&self) -> impl Iterator<Item = u32> + '_ {
        self.unknown.iter().map(|(row, _)| *row)
    }

    /// Whether device work of an unknown kind began on a stream at a time.
    pub fn has_unknown_start(&self, stream: Stream, at: Ts) -> bool {
        self.unknown_starts.binary_search(&(place(stream), at)).is_ok()
    }

    /// Adds work whose kind is not known, but its stream and its time.
    fn add_unknown(&mut self, trace: &Trace, work: &[(u32, Stream)]) {
        let events = &trace.events;
        let time = |row: u32| TimeRange { start: events.start.at(row as usize), end: events.end(row as usize) };
        self.unknown = work.iter().map(|(row, _)| (*row, time(*row))).collect();
        let mut places: Vec<(UnknownPlace, u32)> = work.iter().map(|(row, on)| (place(*on), *row)).collect();
        sort::by_key(&mut places, |(on, row)| (*on, events.start.at(*row as usize), *row));
        self.unknown_starts = places.iter().map(|(on, row)| (*on, events.start.at(*row as usize))).collect();
        for on_stream in places.chunk_by(|one, next| one.0 == next.0) {
            let (on, ranges) = (on_stream[0].0, || on_stream.iter().map(|(_, row)| time(*row)));
            let tracks = trace.tracks.iter().enumerate().filter(|(_, track)| track.stream.map(place) == Some(on));
            for (at, _) in tracks {
                self.by_track.entry(TrackId::from(at)).or_default().extend(ranges());
            }
            self.by_device.entry(on.0).or_default().extend(ranges());
        }
    }

    /// Whether the file ends early.
    pub fn is_cut(&self) -> bool {
        self.cut.is_some()
    }

    /// Of a file that ends early: any stream may have been busy at any time.
    fn cut_short(&mut self, trace: &Trace) {
        let (events, time) = (&trace.events, trace.range());
        let work = events.device_work();
        let tracks: FxHashSet<TrackId> = work.map(|row| events.track.at(row)).collect();
        self.is_all = tracks.is_empty();
        for track in tracks {
            self.by_track.insert(track, vec![time]);
            self.by_device.insert(device_of(trace, track), vec![time]);
        }
        self.cut = Some(time);
    }

    /// Whether a launch inside a host event lost its work.
    pub fn is_inside(&self, trace: &Trace, row: usize) -> bool {
        if self.is_all {
            return true;
        }
        let events = &trace.events;
        let Some(starts) = self.starts.get(&events.track.at(row)) else { return false };
        let after = starts.partition_point(|start| *start < events.start.at(row));
        starts.get(after).is_some_and(|start| *start < events.end(row))
    }

    /// Whether an operator or an annotation owns a launch that lost its work.
    pub fn is_of(&self, row: usize) -> bool {
        self.is_all || self.owners.contains(&(row as u32))
    }

    /// Devices with such times.
    pub fn devices(&self) -> impl Iterator<Item = (Option<i64>, &[TimeRange])> {
        self.by_device.iter().map(|(device, ranges)| (*device, ranges.as_slice()))
    }
}

/// Bounds the work of all launches that lost theirs. `communicates` tells names of communications.
pub(super) fn find(trace: &Trace, links: &Links, communicates: fn(&str) -> bool) -> LostWork {
    let mut rows = links.lost_launches.clone();
    let is_cut = trace.warnings.count(WarningKind::Truncated) > 0;
    let unknown = trace.unknown_work();
    if rows.is_empty() && unknown.is_empty() && !is_cut {
        return LostWork::default();
    }
    sort::by_key(&mut rows, |row| (trace.events.start.at(*row as usize), *row));
    let (mut streams, later) = (LaunchStreams::of(trace, links, communicates), LaterWork::of(trace, links));
    let synchronized = Synchronizations::of(trace);
    let whole_end = trace.range().end;
    let has_one_device = trace.device_names().len() < 2;
    let mut lost = LostWork::default();
    // By the place of a set of streams, which many launches share.
    let mut on_many: FxHashMap<usize, (BTreeSet<TrackId>, TimeRange)> = FxHashMap::default();
    for launch in rows {
        let thread = trace.events.track.at(launch as usize);
        let is_known = streams.knows(thread);
        let possible = streams.possible(launch as usize);
        let start = trace.events.start.at(launch as usize);
        let until = |end: Ts| TimeRange { start, end: end.max(start) };
        let latest = synchronized.end_after(trace, launch).unwrap_or(whole_end);
        let mut last = if possible.are_all { start } else { latest };
        let mut devices = BTreeSet::new();
        if possible.tracks.len() > MANY_STREAMS {
            last = latest;
            let place = std::ptr::from_ref(possible.tracks).addr();
            let (_, range) = on_many.entry(place).or_insert_with(|| (possible.tracks.clone(), until(last)));
            range.end = range.end.max(last);
        } else {
            for track in possible.tracks {
                let end = later.start_after(*track, start).map_or(latest, |next| next.min(latest));
                push(lost.by_track.entry(*track).or_default(), until(end));
                last = last.max(end);
                devices.insert(device_of(trace, *track));
            }
        }
        for device in &devices {
            push(lost.by_device.entry(*device).or_default(), until(last));
        }
        let is_known = is_known || possible.are_all || has_one_device;
        let track = possible.tracks.first().filter(|_| possible.are_all && possible.tracks.len() == 1).copied();
        let device = devices.first().copied().flatten().filter(|_| is_known && devices.len() == 1);
        let of_device = device.map(|device| Stream { device: Some(device), stream: None });
        let place = track.and_then(|track| trace.track(track).stream).or(of_device);
        lost.ranges.push(LostRange { launch, track, place, time: until(last) });
        lost.starts.entry(thread).or_default().push(start);
        lost.owners.extend(links.operator.get(launch as usize));
    }
    for (tracks, time) in on_many.into_values() {
        let devices = sort::distinct(tracks.iter().map(|track| device_of(trace, *track)));
        for track in tracks {
            lost.by_track.entry(track).or_default().push(time);
        }
        for device in devices {
            lost.by_device.entry(device).or_default().push(time);
        }
    }
    lost.add_unknown(trace, &unknown);
    lost.by_track.values_mut().chain(lost.by_device.values_mut()).for_each(merge);
    if is_cut {
        lost.cut_short(trace);
    }
    lost
}

fn device_of(trace: &Trace, track: TrackId) -> Option<i64> {
    trace.track(track).stream.and_then(|stream| stream.device)
}

/// Makes ranges disjoint and ascending.
fn merge(ranges: &mut Vec<TimeRange>) {
    if ranges.is_sorted_by(|range, next| range.end < next.start) {
        return;
    }
    sort::by_key(ranges, |range| range.start);
    let mut merged = Vec::with_capacity(ranges.len());
    ranges.iter().for_each(|range| push(&mut merged, *range));
    *ranges = merged;
}

/// Adds a range that starts no earlier than those before, to disjoint ones.
fn push(ranges: &mut Vec<TimeRange>, time: TimeRange) {
    match ranges.last_mut() {
        Some(last) if time.start <= last.end => last.end = last.end.max(time.end),
        _ if time.start < time.end => ranges.push(time),
        _ => {}
    }
}

/// The recorded work of each stream by its launch.
struct LaterWork(FxHashMap<TrackId, Vec<(Ts, Ts)>>);

impl LaterWork {
    fn of(trace: &Trace, links: &Links) -> Self {
        let events = &trace.events;
        let mut streams: FxHashMap<TrackId, Vec<(Ts, Ts)>> = FxHashMap::default();
        for (launch, device) in links.launched.pairs() {
            let (launch, device) = (*launch as usize, *device as usize);
            if events.kind[device].is_device_work() {
                let work = (events.start.at(launch), events.start.at(device));
                streams.entry(events.track.at(device)).or_default().push(work);
            }
        }
        for work in streams.values_mut() {
            sort::ascending(work);
            // The first start of a launch's work, and of all that is launched later.
            let mut first = Ts(i64::MAX);
            for (_, start) in work.iter_mut().rev() {
                first = first.min(*start);
                *start = first;
            }
        }
        Self(streams)
    }

    /// The start of the first work that was launched after a time.
    fn start_after(&self, track: TrackId, time: Ts) -> Option<Ts> {
        let work = self.0.get(&track)?;
        work.get(work.partition_point(|(launch, _)| *launch <= time)).map(|(_, start)| *start)
    }
}

/// Calls that return when all enqueued work is done, by process: start and end, the latter the
/// earliest of all that begin no earlier.
struct Synchronizations(FxHashMap<StrId, Vec<(Ts, Ts)>>);

impl Synchronizations {
    /// Where a file has a single stream, calls that wait for a stream wait for all work.
    fn of(trace: &Trace) -> Self {
        let events = &trace.events;
        let mut streams = trace.tracks.iter().filter_map(|track| track.stream);
        let has_one = streams.next().is_some() && streams.all(|stream| stream.stream == Some(-1));
        let is_wait = if has_one { waits_for_stream } else { vendor::synchronizes_device };
        let mut is_wait = TextCache::new(&trace.strings, is_wait);
        let mut calls: FxHashMap<StrId, Vec<(Ts, Ts)>> = FxHashMap::default();
        for row in (0..events.len()).filter(|row| events.kind[*row] == EventKind::Launch && !trace.is_on_device(*row)) {
            if is_wait.of(events.name.at(row)) {
                calls.entry(trace.process_of(row)).or_default().push((events.start.at(row), events.end(row)));
            }
        }
        for calls in calls.values_mut() {
            sort::ascending(calls);
            let mut first = Ts(i64::MAX);
            for (_, end) in calls.iter_mut().rev() {
                first = first.min(*end);
                *end = first;
            }
        }
        Self(calls)
    }

    /// When the first call returned that began after a launch.
    fn end_after(&self, trace: &Trace, launch: u32) -> Option<Ts> {
        let calls = self.0.get(&trace.process_of(launch as usize))?;
        calls
            .get(calls.partition_point(|(start, _)| *start <= trace.events.start.at(launch as usize)))
            .map(|(_, end)| *end)
    }
}

fn waits_for_stream(call: &str) -> bool {
    vendor::synchronizes(call) && !vendor::synchronizes_event(call)
}
