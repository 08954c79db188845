//! Finds iterations: the ranges named `ProfilerStep#n`.

use super::late_step;
use crate::id::OptionalColumn;
use crate::sort;
use crate::time::{Dur, TimeRange, Ts};
use crate::trace::Trace;
use crate::trace::iteration::iteration_number;
use crate::trace::kind::EventKind;

/// One iteration of the training or serving loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Iteration {
    /// The number after `ProfilerStep#`.
    pub number: i64,
    /// Row of the host event.
    pub event: u32,
    /// Its start.
    pub start: Ts,
    /// Its duration.
    pub dur: Dur,
    /// Whether the observer of the Execution Trace ran in it, which inflates its host times.
    pub is_observed: bool,
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

/// The iterations in the order of time, and rows of annotations that begin later than theirs.
pub(super) fn find_iterations(trace: &Trace) -> (Vec<Iteration>, Vec<usize>) {
    let events = &trace.events;
    let mut iterations: Vec<Iteration> = (0..events.len())
        .filter(|row| !trace.is_on_device(*row))
        .filter_map(|row| {
            let number = iteration_number(trace.event_name(row))?;
            let (start, dur) = (events.start[row], events.dur[row]);
            Some(Iteration { number, event: row as u32, start, dur, is_observed: false })
        })
        .collect();
    sort::by_key(&mut iterations, |iteration| (iteration.start, iteration.number, iteration.event));
    // The same range may stand in the file as an annotation and as an operator; a number that comes
    // again later is a second recording.
    iterations.dedup_by(|next, last| next.number == last.number && next.start < last.start.after(last.dur));
    let late = late_step::mend(trace, &mut iterations);
    sort::by_key(&mut iterations, |iteration| (iteration.start, iteration.number, iteration.event));
    (iterations, late)
}

/// Removes the last iteration if it is empty: the loop ended right after the step that began it.
///
/// It has no event but Python frames. All others have, and it lasts less than half of the shortest.
/// Or some have, and it lasts less than a tenth of the shortest. One as long as others lost its
/// events.
pub(super) fn remove_stub(trace: &Trace, iterations: &mut Vec<Iteration>) {
    let is_work = |row: &usize| {
        let is_own = trace.events.kind[*row] == EventKind::Python || iteration_number(trace.event_name(*row)).is_some();
        !is_own && !trace.is_on_device(*row)
    };
    let mut has_work = vec![false; iterations.len()];
    for row in (0..trace.events.len()).filter(is_work) {
        if let Some(at) = Iteration::at(iterations, trace.events.start[row]) {
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
    for row in 0..events.len() {
        let host = launch.get(row).map_or(row, |launch| launch as usize);
        if let Some(at) = Iteration::at(iterations, events.start[host]) {
            column.set(row, at as u32);
        }
    }
    column
}
