//! Collects time series: counters of the file, allocators, queues and utilization.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::analyze::interval::union;
use crate::analyze::{MemoryChange, Selection, memory_changes, queue_points};
use crate::id::TrackId;
use crate::link::LinkedTrace;
use crate::sort;
use crate::time::{TimeRange, Ts};
use crate::trace::counter_place::CounterPlace;
use crate::trace::track::Stream;

/// A number that changes over time.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TimeSeries {
    pub(super) name: String,
    /// A track that it stands with.
    pub(super) track: Option<TrackId>,
    pub(super) unit: Option<&'static str>,
    pub(super) course: SeriesCourse,
}

/// Values, each from a time on.
type StepValues = Vec<(Ts, f64)>;

/// How it went.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum SeriesCourse {
    /// From a time on, each value until the next; in the order of time.
    Steps(StepValues),
    /// Busy in these ranges, which are disjoint and ascend, and else not.
    Busy(Vec<TimeRange>),
}

impl TimeSeries {
    /// The smallest and the largest value.
    pub(super) fn bounds(&self) -> (f64, f64) {
        match &self.course {
            SeriesCourse::Busy(_) => (0.0, 1.0),
            SeriesCourse::Steps(steps) => {
                let mut values = steps.iter().map(|(_, value)| *value);
                let first = values.next().unwrap_or_default();
                values.fold((first, first), |(least, greatest), value| (least.min(value), greatest.max(value)))
            }
        }
    }
}

/// All series of a trace: those of each device, then the file's counters.
pub(super) fn all_series(linked: &Arc<LinkedTrace>) -> Vec<TimeSeries> {
    let mut all = busy(linked);
    all.extend(memory(linked));
    all.extend(queues(linked));
    all.extend(counted(linked));
    all
}

/// When each device had work.
fn busy(linked: &LinkedTrace) -> Vec<TimeSeries> {
    let (trace, nesting) = (&linked.trace, &linked.links.nesting);
    let mut devices: BTreeMap<Option<i64>, (TrackId, Vec<TimeRange>)> = BTreeMap::new();
    for (at, track) in trace.tracks.iter().enumerate() {
        let (Some(stream), track) = (track.stream, TrackId::from(at)) else { continue };
        let rows = nesting.track_rows(track).iter().map(|row| *row as usize);
        let work = rows.filter(|row| trace.events.kind[*row].is_device_work());
        let times = work.map(|row| TimeRange { start: trace.events.start.at(row), end: trace.events.end(row) });
        devices.entry(stream.device).or_insert((track, Vec::new())).1.extend(times);
    }
    let series = |(track, times): (TrackId, Vec<TimeRange>)| TimeSeries {
        name: String::from("busy"),
        track: Some(track),
        unit: Some("share"),
        course: SeriesCourse::Busy(union(times)),
    };
    devices.into_values().filter(|(_, times)| !times.is_empty()).map(series).collect()
}

/// Allocated and reserved memory of each device.
fn memory(linked: &Arc<LinkedTrace>) -> Vec<TimeSeries> {
    let mut devices: BTreeMap<(i64, i64), [StepValues; 2]> = BTreeMap::new();
    for MemoryChange { device, time, allocated_bytes, reserved_bytes, .. } in memory_changes(&Selection::all(linked)) {
        let [allocated, reserved] = devices.entry(device).or_default();
        allocated.push((time, allocated_bytes as f64));
        reserved.extend(reserved_bytes.map(|bytes| (time, bytes as f64)));
    }
    let series = |((sort, number), steps): ((i64, i64), [StepValues; 2])| {
        let (track, place) = match sort {
            0 => (find_track(linked, |stream| stream.is_none()), String::from("CPU ")),
            _ => (find_track(linked, |stream| stream.is_some_and(|on| on.device == Some(number))), String::new()),
        };
        let names = ["memory allocated", "memory reserved"];
        let both = names.into_iter().zip(steps).filter(|(_, steps)| !steps.is_empty());
        let of = move |(name, steps): (&str, Vec<_>)| TimeSeries {
            name: format!("{place}{name}"),
            track,
            unit: Some("bytes"),
            course: SeriesCourse::Steps(steps),
        };
        both.map(of).collect::<Vec<_>>()
    };
    devices.into_iter().flat_map(series).collect()
}

/// The first track of such a stream, or of none.
fn find_track(linked: &LinkedTrace, is_it: impl Fn(Option<Stream>) -> bool) -> Option<TrackId> {
    linked.trace.tracks.iter().position(|track| is_it(track.stream)).map(TrackId::from)
}

/// How much was enqueued on each stream and had not begun.
fn queues(linked: &Arc<LinkedTrace>) -> Vec<TimeSeries> {
    let points = queue_points(&Selection::all(linked));
    let series = |points: &[crate::analyze::QueuePoint]| {
        let stream = points[0].stream;
        TimeSeries {
            name: stream.stream.map_or_else(|| String::from("queue"), |number| format!("queue of stream {number}")),
            track: find_track(linked, |on| on == Some(stream)),
            unit: Some("count"),
            course: SeriesCourse::Steps(points.iter().map(|point| (point.time, point.length as f64)).collect()),
        }
    };
    points.chunk_by(|a, b| a.stream == b.stream).map(series).collect()
}

/// Counters of the file. Those of a device stand with its streams.
fn counted(linked: &LinkedTrace) -> Vec<TimeSeries> {
    let trace = &linked.trace;
    let mut all: BTreeMap<_, StepValues> = BTreeMap::new();
    for counter in trace.counters.iter().filter(|counter| counter.value.is_finite()) {
        let key = (counter.track.index(), counter.name, counter.series);
        all.entry(key).or_default().push((counter.time, counter.value));
    }
    let series = |((track, name, key), mut steps): ((usize, crate::id::StrId, crate::id::StrId), Vec<_>)| {
        sort::by_key(&mut steps, |(time, _): &(Ts, f64)| *time);
        let track = TrackId::from(track);
        let series = trace.strings.text(key);
        let unit = [("_bytes", "bytes"), ("_share", "share")].into_iter().find(|(ending, _)| series.ends_with(ending));
        let of_device = match trace.counter_place(track, name) {
            CounterPlace::Device(number) => find_track(linked, |on| on.is_some_and(|on| on.device == Some(number))),
            CounterPlace::SomeDevice | CounterPlace::Host => None,
        };
        TimeSeries {
            name: trace.counter_title(name, key),
            track: of_device.or(Some(track)),
            unit: unit.map(|(_, unit)| unit),
            course: SeriesCourse::Steps(steps),
        }
    };
    all.into_iter().map(series).collect()
}
