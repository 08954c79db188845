//! Finds iterations: the ranges named `ProfilerStep#n`, or the steps of a serving engine.

use super::late_step;
use super::step_marker::{IterationSource, StepMarker, StepMarkers};
use super::step_state::StepState;
use crate::column::OptionalColumn;
use crate::sort;
use crate::time::{Dur, TimeRange, Ts};
use crate::trace::Trace;
use crate::trace::iteration::iteration_number;
use crate::trace::kind::EventKind;
use crate::trace::step_name::StepFacts;

/// One iteration of the training or serving loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Iteration {
    /// The number after `ProfilerStep#`, or the engine's own, or the place on its thread.
    pub number: i64,
    /// Row of the host event.
    pub event: u32,
    /// Its start.
    pub start: Ts,
    /// Its duration.
    pub dur: Dur,
    /// Phase, requests and tokens, as a serving engine tells them.
    pub facts: StepFacts,
    /// Whether the observer of the Execution Trace ran in it, which inflates its host times.
    pub is_observed: bool,
    /// Whether the loop warmed up, captured a graph or was steady; `None` where it is unknown.
    pub state: Option<StepState>,
}

impl Iteration {
    /// From its start to its end.
    pub fn range(&self) -> TimeRange {
        TimeRange { start: self.start, end: self.start.after(self.dur) }
    }

    /// The place of the iteration at a time, among all in the order of time.
    pub(crate) fn at(iterations: &[Self], time: Ts) -> Option<usize> {
        let at = iterations.partition_point(|iteration| iteration.start <= time).checked_sub(1)?;
        (time < iterations[at].range().end).then_some(at)
    }
}

/// Iterations, and how they were found.
#[derive(Debug, Default)]
pub(super) struct FoundIterations {
    /// In the order of time.
    pub iterations: Vec<Iteration>,
    /// The profiler's, where others were taken: an Execution Trace has no others.
    pub profiled: Option<Vec<Iteration>>,
    /// Rows of annotations that begin later than their iteration.
    pub late: Vec<usize>,
    /// Ranges that mark them, or could.
    pub source: IterationSource,
}

/// Finds the iterations: those of the profiler, or those of what marks more of them.
pub(super) fn find_iterations(trace: &Trace) -> FoundIterations {
    let markers = StepMarkers::find(trace);
    let mut iterations = profiler_steps(trace, markers.rows(StepMarker::Profiler));
    let late = late_step::mend(trace, &mut iterations);
    in_order(&mut iterations);
    remove_stub(trace, &mut iterations);
    let source = markers.source(iterations.len());
    if let Some(marker) = source.taken.filter(|marker| *marker != StepMarker::Profiler) {
        let profiled = Some(iterations);
        let mut iterations = markers.iterations(trace, marker);
        in_order(&mut iterations);
        return FoundIterations { iterations, profiled, late, source };
    }
    markers.describe(trace, &mut iterations);
    FoundIterations { iterations, profiled: None, late, source }
}

fn in_order(iterations: &mut [Iteration]) {
    sort::by_key(iterations, |iteration| (iteration.start, iteration.number, iteration.event));
}

fn profiler_steps(trace: &Trace, rows: impl Iterator<Item = u32>) -> Vec<Iteration> {
    let events = &trace.events;
    let step = |row: u32| {
        let number = iteration_number(trace.event_name(row as usize))?;
        let (start, dur) = (events.start.at(row as usize), events.dur.at(row as usize));
        Some(Iteration { number, event: row, start, dur, facts: StepFacts::default(), is_observed: false, state: None })
    };
    let mut iterations: Vec<Iteration> = rows.filter_map(step).collect();
    in_order(&mut iterations);
    // The same range may stand in the file as an annotation and as an operator; a number that comes
    // again later is a second recording.
    iterations.dedup_by(|next, last| next.number == last.number && next.start < last.start.after(last.dur));
    iterations
}

/// Removes the last iteration if it is empty: the loop ended right after the step that began it.
///
/// It has no event but Python frames. All others have, and it lasts less than half of the shortest.
/// Or some have, and it lasts less than a tenth of the shortest. One as long as others lost its
/// events.
fn remove_stub(trace: &Trace, iterations: &mut Vec<Iteration>) {
    let is_work = |row: &usize| !trace.is_on_device(*row) && iteration_number(trace.event_name(*row)).is_none();
    let mut has_work = vec![false; iterations.len()];
    for row in trace.events.rows_of(|kind| kind != EventKind::Python).filter(is_work) {
        if let Some(at) = Iteration::at(iterations, trace.events.start.at(row)) {
            has_work[at] = true;
        }
    }
    let (Some((last, others)), Some((false, work))) = (iterations.split_last(), has_work.split_last()) else { return };
    let min_ratio = if work.contains(&false) { MIN_RATIO } else { MIN_RATIO_TO_WORK };
    let is_short = others.iter().all(|other| last.dur.0 < other.dur.0 / min_ratio);
    if work.contains(&true) && is_short {
        iterations.pop();
    }
}

/// How many times as long as a stub each other iteration is; if all of them have work.
const MIN_RATIO: i64 = 10;
const MIN_RATIO_TO_WORK: i64 = 2;

/// Assigns events to iterations: host events by their start, device events by their launch, or by
/// their own start without one.
pub(super) fn of_events(trace: &Trace, iterations: &[Iteration], launch: &OptionalColumn) -> OptionalColumn {
    let events = &trace.events;
    let mut column = OptionalColumn::empty(events.len());
    // Mostly that of the row before, in the time until it ends or the next one begins.
    let (mut last, mut range) = (0, TimeRange::default());
    for row in 0..events.len() {
        let time = events.start.at(launch.get(row).map_or(row, |launch| launch as usize));
        if time < range.start || time >= range.end {
            let Some(at) = Iteration::at(iterations, time) else { continue };
            (last, range) = (at, iterations[at].range());
            range.end = iterations.get(at + 1).map_or(range.end, |next| next.start.min(range.end));
        }
        column.set(row, last as u32);
    }
    column
}
