//! Finds iterations: the ranges named `ProfilerStep#n`.

use super::late_step;
use crate::id::OptionalColumn;
use crate::sort;
use crate::time::{Dur, TimeRange, Ts};
use crate::trace::Trace;
use crate::trace::iteration::iteration_number;

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
}

impl Iteration {
    /// From its start to its end.
    pub fn range(&self) -> TimeRange {
        TimeRange { start: self.start, end: self.start.after(self.dur) }
    }
}

/// The iterations in the order of time, and rows of annotations that begin later than theirs.
pub(super) fn find_iterations(trace: &Trace) -> (Vec<Iteration>, Vec<usize>) {
    let events = &trace.events;
    let mut iterations: Vec<Iteration> = (0..events.len())
        .filter(|row| !trace.is_on_device(*row))
        .filter_map(|row| {
            let number = iteration_number(trace.event_name(row))?;
            Some(Iteration { number, event: row as u32, start: events.start[row], dur: events.dur[row] })
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

/// Assigns events to iterations: host events by their start, device events by their launch, or by
/// their own start without one.
pub(super) fn of_events(trace: &Trace, iterations: &[Iteration], launch: &OptionalColumn) -> OptionalColumn {
    let events = &trace.events;
    let mut column = OptionalColumn::empty(events.len());
    for row in 0..events.len() {
        let host = launch.get(row).map_or(row, |launch| launch as usize);
        let start = events.start[host];
        let after = iterations.partition_point(|iteration| iteration.start <= start);
        let Some(at) = after.checked_sub(1) else { continue };
        if start < iterations[at].start.after(iterations[at].dur) {
            column.set(row, at as u32);
        }
    }
    column
}
