//! Finds launches whose device work must have run, and is not in the file.
//!
//! Not every launch without device work is one: while a graph is captured, nothing runs; a fill of
//! no bytes does nothing; a call of the driver inside one of the runtime enqueues the same work.

use rustc_hash::{FxHashMap, FxHashSet};

use super::enqueued_work::EnqueuedWork;
use super::launch::LaunchedEvents;
use super::nesting::Nesting;
use super::unlinked_work;
use crate::column::OptionalColumn;
use crate::id::StrId;
use crate::sort;
use crate::strings::TextCache;
use crate::time::{TimeRange, Ts};
use crate::trace::Trace;
use crate::trace::kind::EventKind;
use crate::vendor;

/// Launches without device work: rows, ascending. Calls inside another launch are left out, and so
/// are calls around one that has the work.
#[derive(Debug, Default)]
pub(super) struct LaunchesWithoutWork {
    /// The work must have run.
    pub lost: Vec<u32>,
    /// Perhaps nothing ran.
    pub others: Vec<u32>,
}

pub(super) fn find(
    trace: &Trace,
    nesting: &Nesting,
    launch: &OptionalColumn,
    launched: &LaunchedEvents,
) -> LaunchesWithoutWork {
    let outer = outer_launches(trace, nesting, launched);
    if outer.is_empty() || links_nothing(trace, launched) {
        return LaunchesWithoutWork { lost: Vec::new(), others: outer };
    }
    let mut work = TextCache::new(&trace.strings, EnqueuedWork::of);
    let captures = Captures::of(trace, launched);
    let is_lost = |row: &u32| work.of(trace.events.name.at(*row as usize)).is_some() && !captures.contain(trace, *row);
    let (lost, mut others): (Vec<_>, Vec<_>) = outer.into_iter().partition(is_lost);
    let (lost, unnumbered) = unlinked_work::leave_out(trace, launch, launched, lost);
    others.extend(unnumbered);
    sort::ascending(&mut others);
    LaunchesWithoutWork { lost, others }
}

/// Whether a tool other than Kineto wrote the file, and links no call with its work. Then none
/// lacks it.
fn links_nothing(trace: &Trace, launched: &LaunchedEvents) -> bool {
    let is_call = |(launch, _): &(u32, u32)| trace.events.kind[*launch as usize] == EventKind::Launch;
    trace.producer().is_some() && !launched.pairs().iter().any(is_call)
}

/// Launches without device work that are neither inside another launch nor around one that has it.
fn outer_launches(trace: &Trace, nesting: &Nesting, launched: &LaunchedEvents) -> Vec<u32> {
    if launched.without_work().is_empty() {
        return Vec::new();
    }
    let mut is_work = TextCache::new(&trace.strings, vendor::enqueues);
    let parents = launched.pairs().iter().filter_map(|(launch, _)| nesting.parent.get(*launch as usize));
    let around_work: FxHashSet<u32> = parents.collect();
    let lacking = launched.without_work().iter().copied().filter(|row| !around_work.contains(row));
    lacking.filter(|row| !is_inner_launch(trace, nesting, *row as usize, &mut is_work)).collect()
}

/// Whether a call is inside of a launch, as of the driver inside the runtime: it enqueues the same
/// work.
pub(crate) fn is_inner_launch(
    trace: &Trace,
    nesting: &Nesting,
    row: usize,
    enqueues: &mut TextCache<'_, bool>,
) -> bool {
    let parent = nesting.parent.get(row).map(|parent| parent as usize);
    let is_launch = |parent: usize| trace.events.kind[parent] == EventKind::Launch;
    // In files of whole microseconds a short call may only seem to be inside of the one before.
    let is_around = |parent: usize| {
        trace.events.start.at(row) < trace.events.end(parent)
            || trace.correlation_id(row).is_some_and(|id| trace.correlation_id(parent) == Some(id))
    };
    parent.is_some_and(|parent| is_launch(parent) && enqueues.of(trace.events.name.at(parent)) && is_around(parent))
}

/// When each process captured graphs.
struct Captures(FxHashMap<StrId, Vec<TimeRange>>);

/// A call that bounds a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CaptureCall {
    Begin,
    End,
    Instantiate,
}

fn capture_call(name: &str) -> Option<CaptureCall> {
    match () {
        () if vendor::begins_capture(name) => Some(CaptureCall::Begin),
        () if vendor::ends_capture(name) => Some(CaptureCall::End),
        () if vendor::instantiates_graph(name) => Some(CaptureCall::Instantiate),
        () => None,
    }
}

impl Captures {
    fn of(trace: &Trace, launched: &LaunchedEvents) -> Self {
        let events = &trace.events;
        let mut call = TextCache::new(&trace.strings, capture_call);
        let mut calls: FxHashMap<StrId, Vec<(Ts, Ts, CaptureCall)>> = FxHashMap::default();
        for row in events.rows_of(|kind| kind == EventKind::Launch) {
            if let Some(call) = call.of(events.name.at(row)) {
                let process = calls.entry(trace.process_of(row)).or_default();
                process.push((events.start.at(row), events.end(row), call));
            }
        }
        if calls.is_empty() {
            return Self(FxHashMap::default());
        }
        let (whole, mut ends) = (trace.range(), launch_ends(trace, launched));
        let ranges = |(process, mut calls): (StrId, Vec<(Ts, Ts, CaptureCall)>)| {
            sort::by_key(&mut calls, |(start, ..)| *start);
            let ranges = if calls.iter().all(|(.., call)| *call == CaptureCall::Instantiate) {
                before_graphs(whole, ends.remove(&process).unwrap_or_default(), &calls)
            } else {
                captured(whole, &calls)
            };
            (process, ranges)
        };
        Self(calls.into_iter().map(ranges).collect())
    }

    /// Whether a launch only added to a graph. Threads of one process capture together, as the
    /// backward pass does.
    fn contain(&self, trace: &Trace, row: u32) -> bool {
        let start = trace.events.start.at(row as usize);
        let ranges = self.0.get(&trace.process_of(row as usize)).map_or(&[][..], Vec::as_slice);
        let at = ranges.partition_point(|range| range.start <= start);
        at.checked_sub(1).is_some_and(|at| start < ranges[at].end)
    }
}

/// From each call that begins a capture to the one that ends it, in order of time. The recording
/// may lack one of them.
fn captured(whole: TimeRange, calls: &[(Ts, Ts, CaptureCall)]) -> Vec<TimeRange> {
    let (mut ranges, mut depth, mut begun) = (Vec::new(), 0_usize, whole.start);
    for (start, end, call) in calls {
        match call {
            CaptureCall::Begin => {
                if depth == 0 {
                    begun = *start;
                }
                depth += 1;
            }
            CaptureCall::End if depth > 1 => depth -= 1,
            // Without a begin, the capture began before the recording.
            CaptureCall::End if depth == 1 || ranges.is_empty() => {
                depth = 0;
                ranges.push(TimeRange { start: begun, end: *end });
            }
            CaptureCall::End | CaptureCall::Instantiate => {}
        }
    }
    if depth > 0 {
        ranges.push(TimeRange { start: begun, end: whole.end });
    }
    ranges
}

/// Where only the calls that make graphs are recorded: from the last launch with device work, or
/// the last such call, to each of them. `ends` are those of launches with device work.
fn before_graphs(whole: TimeRange, mut ends: Vec<Ts>, calls: &[(Ts, Ts, CaptureCall)]) -> Vec<TimeRange> {
    ends.extend(calls.iter().map(|(_, end, _)| *end));
    sort::ascending(&mut ends);
    let range = |(start, ..): &(Ts, Ts, CaptureCall)| {
        let before = ends.partition_point(|end| end <= start);
        TimeRange { start: before.checked_sub(1).map_or(whole.start, |at| ends[at]), end: *start }
    };
    calls.iter().map(range).collect()
}

/// The ends of the launches with device work, by process.
fn launch_ends(trace: &Trace, launched: &LaunchedEvents) -> FxHashMap<StrId, Vec<Ts>> {
    let mut ends: FxHashMap<StrId, Vec<Ts>> = FxHashMap::default();
    for (launch, _) in launched.pairs() {
        ends.entry(trace.process_of(*launch as usize)).or_default().push(trace.events.end(*launch as usize));
    }
    ends
}
