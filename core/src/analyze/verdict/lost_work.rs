//! Reports lost device work by stream, kind of launch and place in the recording.

use std::collections::{BTreeMap, BTreeSet};

use super::problem::{Problem, VerdictState};
use crate::id::TrackId;
use crate::link::{EnqueuedWork, LinkedTrace, LostRange, is_inner_launch};
use crate::strings::TextCache;
use crate::time::{TimeRange, Ts};
use crate::trace::kind::EventKind;
use crate::trace::track::Stream;
use crate::vendor;

fn noun(work: EnqueuedWork) -> &'static str {
    match work {
        EnqueuedWork::Kernel => "kernel launches",
        EnqueuedWork::Graph => "graph launches",
        EnqueuedWork::Copy => "copies",
    }
}

/// Where in the recording work was lost, or how much of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum LossPlace {
    All,
    Start,
    Middle,
    End,
    /// A part of the work of each launch.
    Part,
}

impl LossPlace {
    fn message(self, work: EnqueuedWork) -> String {
        let noun = noun(work);
        match self {
            Self::All => format!("{noun} have no device work: the file has none of their records"),
            Self::Start => {
                format!("{noun} at the start of the recording have no device work: its records were dropped")
            }
            Self::Middle => format!("{noun} have no device work: its records are missing"),
            Self::Part => format!("{noun} have only a part of their work: the records of the rest are missing"),
            Self::End => format!("{noun} at the end of the recording have no device work: its records were dropped"),
        }
    }

    fn advice(self, work: EnqueuedWork) -> &'static str {
        match (self, work) {
            (Self::Start, _) => {
                "let the profiler warm up (schedule(warmup=…)), synchronize before it starts, or restart it"
            }
            (Self::End, _) => "synchronize the device before the profiler stops",
            (_, EnqueuedWork::Graph) => {
                "record with a driver and profiler that trace the nodes of graphs, and replay each graph once before"
            }
            (Self::All, _) => {
                "device tracing was on, but its records did not arrive: check permissions, other profilers and the \
                 driver; record a longer window"
            }
            (Self::Middle | Self::Part, _) => "record a shorter window, or enlarge the profiler's device buffer",
        }
    }
}

const COUNTERS: &str = "the profiler measured counters, and then records no kernels: record without them as well";

/// A problem for each stream, kind of launch and place.
pub(super) fn problems(linked: &LinkedTrace) -> Vec<Problem> {
    let (trace, lost) = (&linked.trace, linked.lost_work());
    if lost.ranges.is_empty() {
        return Vec::new();
    }
    let recorded = RecordedWork::of(linked);
    let mut groups: BTreeMap<LossKey, Vec<&LostRange>> = BTreeMap::new();
    for range in &lost.ranges {
        let name = trace.event_name(range.launch as usize);
        let Some(work) = EnqueuedWork::of(name) else { continue };
        let start = trace.events.start.at(range.launch as usize);
        let stream = range.place.map(|stream| (stream.device, stream.stream));
        let has_work = linked.links.launched.of(range.launch as usize).len() > 0;
        let place = match recorded.range(range) {
            _ if has_work => LossPlace::Part,
            _ if !recorded.kinds.contains(&work) => LossPlace::All,
            Some((first, _)) if start < first => LossPlace::Start,
            Some((_, last)) if start > last => LossPlace::End,
            _ => LossPlace::Middle,
        };
        groups.entry((stream, work, place)).or_default().push(range);
    }
    let totals = totals(linked);
    let mut measures = TextCache::new(&trace.strings, vendor::measures_counters);
    let has_counters = trace.events.category.iter().any(|category| measures.of(category));
    let problem = |((stream, work, place), ranges): (LossKey, Vec<&LostRange>)| {
        let rows: Vec<u32> = ranges.iter().map(|range| range.launch).collect();
        let time = TimeRange {
            start: ranges.iter().map(|range| range.time.start).min().unwrap_or_default(),
            end: ranges.iter().map(|range| range.time.end).max().unwrap_or_default(),
        };
        let total = totals.get(&work).copied().unwrap_or(rows.len());
        Problem::new("lost_device_work", VerdictState::Incomplete, rows.len(), place.message(work))
            .of_rows(trace, &rows)
            .at(time)
            .of(total)
            .on(stream.map(|(device, stream)| Stream { device, stream }))
            .advised(if has_counters && place == LossPlace::All { COUNTERS } else { place.advice(work) })
    };
    groups.into_iter().map(problem).collect()
}

/// Device and stream, work and place of launches.
type LossKey = (Option<(Option<i64>, Option<i64>)>, EnqueuedWork, LossPlace);

/// The launches whose work is in the file.
struct RecordedWork {
    kinds: BTreeSet<EnqueuedWork>,
    /// The first and the last of each stream.
    streams: BTreeMap<TrackId, (Ts, Ts)>,
    /// The first and the last of all.
    all: Option<(Ts, Ts)>,
}

impl RecordedWork {
    fn of(linked: &LinkedTrace) -> Self {
        let (trace, events) = (&linked.trace, &linked.trace.events);
        let mut recorded = Self { kinds: BTreeSet::new(), streams: BTreeMap::new(), all: None };
        for (launch, device) in linked.links.launched.pairs() {
            let (launch, device) = (*launch as usize, *device as usize);
            if events.kind[device].is_device_work() {
                let start = events.start.at(launch);
                let range = recorded.streams.entry(events.track.at(device)).or_insert((start, start));
                *range = (range.0.min(start), range.1.max(start));
                recorded.kinds.extend(EnqueuedWork::of(trace.event_name(launch)));
            }
        }
        let streams = recorded.streams.values().copied();
        recorded.all = streams.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)));
        recorded
    }

    /// The first and the last launch on the stream of lost work, or on any if that is unknown.
    fn range(&self, lost: &LostRange) -> Option<(Ts, Ts)> {
        lost.track.map_or(self.all, |track| self.streams.get(&track).copied())
    }
}

/// How many launches of each kind there are. A call of the driver inside one of the runtime is none
/// of its own.
fn totals(linked: &LinkedTrace) -> BTreeMap<EnqueuedWork, usize> {
    let (trace, nesting) = (&linked.trace, &linked.links.nesting);
    let mut enqueues = TextCache::new(&trace.strings, vendor::enqueues);
    let mut role = TextCache::new(&trace.strings, EnqueuedWork::of);
    let mut totals = BTreeMap::new();
    let is_launch = |row: &usize| trace.events.kind[*row] == EventKind::Launch && !trace.is_on_device(*row);
    for row in (0..trace.events.len()).filter(is_launch) {
        let role = role.of(trace.events.name.at(row));
        if let Some(work) = role.filter(|_| !is_inner_launch(trace, nesting, row, &mut enqueues)) {
            *totals.entry(work).or_insert(0) += 1;
        }
    }
    totals
}
