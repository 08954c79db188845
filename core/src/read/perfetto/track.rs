//! Tracks: which process and which thread, or which row of its own, an event belongs to.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::read::builder::TraceBuilder;
use crate::read::event_text::EventText;
use crate::read::json_object::{JsonObject, push_integer, push_text};
use crate::read::recent_map::RecentMap;
use crate::read::tracks::TrackKey;
use crate::read::wire::{WireFields, WireValue, all_bytes_in, bytes_in, number_in};

/// Tracks with more parents than this belong to no process.
const MAX_PARENTS: usize = 32;

/// A track as its descriptor has it.
#[derive(Debug, Clone, Default, PartialEq)]
struct PerfettoTrack {
    parent: u64,
    name: Vec<u8>,
    process: Option<i64>,
    thread: Option<i64>,
    counter: Option<CounterScale>,
    /// The key of a counter's values.
    series: Option<Vec<u8>>,
}

impl PerfettoTrack {
    /// Whether it is a further row of a thread: it has the thread's name, or its number where the
    /// thread has no name.
    fn is_lane_of(&self, owner: &Self) -> bool {
        let Some(thread) = owner.thread else { return false };
        let is_named = !owner.name.is_empty();
        self.thread.is_none()
            && if is_named { self.name == owner.name } else { self.name == thread.to_string().as_bytes() }
    }
}

/// The meaning of a counter's values.
#[derive(Debug, Clone, Copy, PartialEq)]
struct CounterScale {
    multiplier: i64,
    is_incremental: bool,
}

/// `pid` and `tid` as text.
#[derive(Debug, Clone, Default)]
pub(super) struct TrackPlace {
    process: Vec<u8>,
    thread: Vec<u8>,
    /// The same in the trace, once an event was there.
    key: Option<TrackKey>,
    /// Whether it is the row of what the profiler itself takes.
    pub(super) is_overhead: bool,
    /// Whether it has slices of a thread that overlap others: its ends are told apart from those of
    /// the thread by the track alone.
    pub(super) is_lane: bool,
}

impl TrackPlace {
    /// The place in the trace.
    pub(super) fn key(&mut self, builder: &mut TraceBuilder) -> TrackKey {
        *self.key.get_or_insert_with(|| builder.place_of(&self.process, &self.thread))
    }

    pub(super) fn write(&self, event: &mut JsonObject<'_>) {
        if !self.process.is_empty() {
            event.field("pid").extend_from_slice(&self.process);
        }
        if !self.thread.is_empty() {
            event.field("tid").extend_from_slice(&self.thread);
        }
    }
}

/// All tracks that were described so far.
#[derive(Debug, Default)]
pub(super) struct PerfettoTracks {
    known: FxHashMap<u64, PerfettoTrack>,
    processes: FxHashSet<i64>,
    places: RecentMap<u64, TrackPlace>,
    counters: RecentMap<u64, TrackCounter>,
    /// The last values of counters that count up from the last one.
    totals: FxHashMap<u64, f64>,
}

impl PerfettoTracks {
    /// Takes a `TrackDescriptor`, and writes the names that it gives.
    pub(super) fn describe(&mut self, message: &[u8], events: &mut EventText) {
        let mut track = PerfettoTrack::default();
        let (mut uuid, mut labels, mut sort_index) = (0, Vec::new(), None);
        for (field, value) in WireFields::new(message) {
            match (field, value) {
                (1, WireValue::Number(number)) => uuid = number,
                (5, WireValue::Number(number)) => track.parent = number,
                (2 | 10, WireValue::Bytes(name)) => track.name = name.to_vec(),
                (3, WireValue::Bytes(process)) => {
                    track.process = number_in(process, 1).map(|number| number as i64);
                    labels = process_name(process, &mut track.name);
                    sort_index = number_in(process, 3);
                }
                (4, WireValue::Bytes(thread)) => {
                    track.process = number_in(thread, 1).map(|number| number as i64);
                    track.thread = number_in(thread, 2).map(|number| number as i64);
                    take_name(bytes_in(thread, 5), &mut track.name);
                    sort_index = number_in(thread, 3);
                }
                (8, WireValue::Bytes(counter)) => track.counter = Some(counter_scale(counter)),
                (14, WireValue::Bytes(description)) => track.series = Some(description.to_vec()),
                _ => {}
            }
        }
        if self.known.get(&uuid) == Some(&track) {
            return;
        }
        if let Some(process) = track.process {
            if track.thread.is_none() {
                self.processes.insert(process);
            }
            let (what, thread) = track.thread.map_or(("process_name", 0), |thread| ("thread_name", thread));
            if !track.name.is_empty() {
                events.metadata(what, (process, thread), &track.name);
            }
            for label in labels {
                events.labels((process, thread), &label);
            }
            if let Some(index) = sort_index {
                let what = if track.thread.is_some() { "thread_sort_index" } else { "process_sort_index" };
                events.sort_index(what, (process, thread), index as i64);
            }
        }
        self.known.insert(uuid, track);
        self.places.clear();
        self.counters.clear();
    }

    /// The place of a track's events.
    pub(super) fn place(&mut self, uuid: u64) -> &mut TrackPlace {
        let known = &self.known;
        self.places.at(uuid, || place_of(known, uuid))
    }

    /// Whether a process was described.
    pub(super) fn has_process(&self, process: i64) -> bool {
        self.processes.contains(&process)
    }

    /// A counter.
    pub(super) fn counter(&mut self, uuid: u64) -> &mut TrackCounter {
        let known = &self.known;
        self.counters.at(uuid, || counter_of(known, uuid))
    }

    /// The value of a counter that a recorded number stands for.
    pub(super) fn counter_value(&mut self, uuid: u64, number: f64) -> f64 {
        let Some(scale) = self.counter(uuid).scale else { return number };
        let value = number * scale.multiplier as f64;
        if !scale.is_incremental {
            return value;
        }
        let total = self.totals.entry(uuid).or_default();
        *total += value;
        *total
    }
}

fn counter_of(known: &FxHashMap<u64, PerfettoTrack>, uuid: u64) -> TrackCounter {
    let Some(track) = known.get(&uuid) else {
        let (name, place) = (own_name(uuid), place_of(known, uuid));
        return TrackCounter { name, place, series: USUAL_SERIES.to_vec(), scale: None };
    };
    let parent = known.get(&track.parent);
    let is_of_thread = parent.is_some_and(|parent| parent.thread.is_some());
    let is_inner = parent.is_some_and(|parent| known.contains_key(&parent.parent));
    let place = if is_of_thread || is_inner { place_of(known, track.parent) } else { process_place(parent) };
    let series = if track.counter.is_some() { track.series.as_deref() } else { None };
    let series = series.unwrap_or(USUAL_SERIES).to_vec();
    TrackCounter { name: track.name.clone(), place, series, scale: track.counter }
}

/// The place of a process, or of a row in its place, as a whole.
fn process_place(track: Option<&PerfettoTrack>) -> TrackPlace {
    let mut place = TrackPlace::default();
    match track {
        Some(PerfettoTrack { process: Some(process), .. }) => push_integer(&mut place.process, *process),
        Some(track) if !track.name.is_empty() => push_text(&mut place.process, &track.name),
        _ => push_text(&mut place.process, b"global"),
    }
    place
}
/// The key of a counter's values, where the file has none.
const USUAL_SERIES: &[u8] = b"value";

/// A counter of a track.
#[derive(Debug)]
pub(super) struct TrackCounter {
    pub(super) name: Vec<u8>,
    pub(super) place: TrackPlace,
    pub(super) series: Vec<u8>,
    scale: Option<CounterScale>,
}

/// Name and labels in a `ProcessDescriptor`.
fn process_name(process: &[u8], name: &mut Vec<u8>) -> Vec<Vec<u8>> {
    take_name(bytes_in(process, 6), name);
    all_bytes_in(process, 8).map(<[u8]>::to_vec).collect()
}

fn take_name(found: Option<&[u8]>, name: &mut Vec<u8>) {
    if let Some(found) = found.filter(|_| name.is_empty()) {
        *name = found.to_vec();
    }
}

fn counter_scale(counter: &[u8]) -> CounterScale {
    let multiplier = number_in(counter, 4).map_or(1, |number| number as i64);
    // A multiplier of zero is none.
    let multiplier = if multiplier == 0 { 1 } else { multiplier };
    CounterScale { multiplier, is_incremental: number_in(counter, 5).is_some_and(|number| number != 0) }
}

fn own_name(uuid: u64) -> Vec<u8> {
    if uuid == 0 { b"global".to_vec() } else { format!("track {uuid}").into_bytes() }
}

/// Threads keep their numbers. A track around others stands for a process. Other tracks are rows
/// that have their names: two of one name are one row, as they are in Perfetto. A track inside a
/// thread with the thread's name has slices of the thread that overlap others.
fn place_of(known: &FxHashMap<u64, PerfettoTrack>, uuid: u64) -> TrackPlace {
    let track = known.get(&uuid);
    let parents = std::iter::successors(track, |track| known.get(&track.parent)).take(MAX_PARENTS);
    let owner = parents.clone().find(|track| track.process.is_some());
    let root = parents.skip(1).last().filter(|root| !root.name.is_empty());
    let mut place = TrackPlace::default();
    match owner.and_then(|owner| owner.process) {
        Some(process) => push_integer(&mut place.process, process),
        None => push_text(&mut place.process, root.map_or(&b"global"[..], |root| &root.name)),
    }
    let parent = track.and_then(|track| known.get(&track.parent));
    if owner.is_none()
        && track.zip(parent).is_some_and(|(track, parent)| track.name.is_empty() && parent.name.is_empty())
    {
        // Neither a process nor a name: nowhere.
        return TrackPlace::default();
    }
    let is_lane =
        |owner: &PerfettoTrack| track.is_some_and(|track| std::ptr::eq(track, owner) || track.is_lane_of(owner));
    match owner.and_then(|owner| owner.thread.filter(|_| is_lane(owner))) {
        Some(thread) => push_integer(&mut place.thread, thread),
        None if track.is_some_and(|track| track.process.is_some()) => push_text(&mut place.thread, b"process"),
        None => {
            let name =
                track.filter(|track| !track.name.is_empty()).map_or_else(|| own_name(uuid), |track| track.name.clone());
            push_text(&mut place.thread, &name);
        }
    }
    place.is_lane = track.zip(parent).is_some_and(|(track, parent)| track.is_lane_of(parent));
    place.is_overhead = owner.is_some_and(|owner| owner.name == b"Overhead");
    place
}
