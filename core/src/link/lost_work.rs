//! Bounds the times in which lost device work may have run.
//!
//! A stream runs its work in order. So work of a launch without device events ran after the start
//! of the launch, and before the next recorded work of the stream that was launched later, or
//! before the host had synchronised with the device. In between, a silent stream may be busy.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::links::Links;
use crate::id::{StrId, TrackId};
use crate::sort;
use crate::strings::TextCache;
use crate::time::{TimeRange, Ts};
use crate::trace::Trace;
use crate::trace::kind::EventKind;
use crate::vendor;

/// The time in which the lost work of a launch may have run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LostRange {
    /// Row of the launch.
    pub launch: u32,
    /// The stream: that of the thread's neighbouring launch. `None` without any.
    pub track: Option<TrackId>,
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

    /// Whether a launch inside a host event lost its work.
    pub fn is_inside(&self, trace: &Trace, row: usize) -> bool {
        let events = &trace.events;
        let Some(starts) = self.starts.get(&events.track[row]) else { return false };
        let after = starts.partition_point(|start| *start < events.start[row]);
        starts.get(after).is_some_and(|start| *start < events.end(row))
    }

    /// Whether an operator or an annotation owns a launch that lost its work.
    pub fn is_of(&self, row: usize) -> bool {
        self.owners.contains(&(row as u32))
    }

    /// Devices with such times.
    pub fn devices(&self) -> impl Iterator<Item = (Option<i64>, &[TimeRange])> {
        self.by_device.iter().map(|(device, ranges)| (*device, ranges.as_slice()))
    }
}

/// Bounds the work of all launches that lost theirs.
pub(super) fn find(trace: &Trace, links: &Links) -> LostWork {
    let mut rows = links.lost_launches.clone();
    if rows.is_empty() {
        return LostWork::default();
    }
    sort::by_key(&mut rows, |row| (trace.events.start[*row as usize], *row));
    let (streams, later, synchronized) =
        (LaunchStreams::of(trace, links), LaterWork::of(trace, links), Synchronizations::of(trace));
    let whole_end = trace.range().end;
    let range = |launch: u32| {
        let track = streams.near(trace, launch);
        let start = trace.events.start[launch as usize];
        let next = track.and_then(|track| later.start_after(track, start));
        let end = next.into_iter().chain(synchronized.end_after(trace, launch)).min().unwrap_or(whole_end);
        LostRange { launch, track, time: TimeRange { start, end: end.max(start) } }
    };
    let ranges: Vec<_> = rows.into_iter().map(range).collect();
    let (mut by_track, mut by_device) = (BTreeMap::new(), BTreeMap::new());
    for LostRange { track, time, .. } in &ranges {
        let Some(track) = track else { continue };
        let device = trace.track(*track).stream.and_then(|stream| stream.device);
        push(by_track.entry(*track).or_default(), *time);
        push(by_device.entry(device).or_default(), *time);
    }
    let mut starts: BTreeMap<TrackId, Vec<Ts>> = BTreeMap::new();
    for LostRange { launch, time, .. } in &ranges {
        starts.entry(trace.events.track[*launch as usize]).or_default().push(time.start);
    }
    let owners = ranges.iter().filter_map(|range| links.operator.get(range.launch as usize)).collect();
    LostWork { ranges, starts, owners, by_track, by_device }
}

/// Adds a range that starts no earlier than those before, to disjoint ones.
fn push(ranges: &mut Vec<TimeRange>, time: TimeRange) {
    match ranges.last_mut() {
        Some(last) if time.start <= last.end => last.end = last.end.max(time.end),
        _ if time.start < time.end => ranges.push(time),
        _ => {}
    }
}

/// The streams that each thread launched work on, in the order of the launches.
struct LaunchStreams(FxHashMap<TrackId, Vec<(Ts, TrackId, bool)>>, Option<TrackId>);

impl LaunchStreams {
    fn of(trace: &Trace, links: &Links) -> Self {
        let events = &trace.events;
        let mut threads: FxHashMap<TrackId, Vec<(Ts, TrackId, bool)>> = FxHashMap::default();
        for (launch, device) in links.launched.pairs() {
            let kind = events.kind[*device as usize];
            if kind.is_device_work() {
                let launches = threads.entry(events.track[*launch as usize]).or_default();
                let track = events.track[*device as usize];
                launches.push((events.start[*launch as usize], track, kind == EventKind::Kernel));
            }
        }
        threads.values_mut().for_each(|launches| sort::ascending(launches));
        let work = (0..events.len()).find(|row| events.kind[*row].is_device_work() && trace.is_on_device(*row));
        Self(threads, work.map(|row| events.track[row]))
    }

    /// The stream of the launch before on the thread, or else of the next: of one of a kernel, if
    /// the launch is one. Without any, the stream of the first device work of the file.
    fn near(&self, trace: &Trace, launch: u32) -> Option<TrackId> {
        let events = &trace.events;
        let launches = self.0.get(&events.track[launch as usize]).map_or(&[][..], Vec::as_slice);
        let is_kernel = !vendor::copies(trace.event_name(launch as usize));
        let at = launches.partition_point(|(start, ..)| *start <= events.start[launch as usize]);
        let near = |is_it: &dyn Fn(bool) -> bool| {
            let before = launches[..at].iter().rev().take(MAX_NEAR).find(|(.., kernel)| is_it(*kernel));
            before.or_else(|| launches[at..].iter().take(MAX_NEAR).find(|(.., kernel)| is_it(*kernel)))
        };
        let found = near(&|kernel| kernel == is_kernel).or_else(|| near(&|_| true));
        found.map(|(_, track, _)| *track).or(self.1)
    }
}

/// Launches of a thread that are looked at around another one.
const MAX_NEAR: usize = 100;

/// The recorded work of each stream by its launch.
struct LaterWork(FxHashMap<TrackId, Vec<(Ts, Ts)>>);

impl LaterWork {
    fn of(trace: &Trace, links: &Links) -> Self {
        let events = &trace.events;
        let mut streams: FxHashMap<TrackId, Vec<(Ts, Ts)>> = FxHashMap::default();
        for (launch, device) in links.launched.pairs() {
            let (launch, device) = (*launch as usize, *device as usize);
            if events.kind[device].is_device_work() {
                let work = (events.start[launch], events.start[device]);
                streams.entry(events.track[device]).or_default().push(work);
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
            if is_wait.of(events.name[row]) {
                calls.entry(trace.process_of(row)).or_default().push((events.start[row], events.end(row)));
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
            .get(calls.partition_point(|(start, _)| *start <= trace.events.start[launch as usize]))
            .map(|(_, end)| *end)
    }
}

fn waits_for_stream(call: &str) -> bool {
    vendor::synchronizes(call) && !vendor::synchronizes_event(call)
}
