//! Places events whose time cannot be: more than a day from all others.

use crate::time::{Dur, Ts};
use crate::trace::Trace;

/// No recording lasts so long: a day.
const FAR_NS: i64 = 24 * 3_600 * 1_000_000_000;

/// Where more than one event in so many is far from the others, the file has several recordings.
const FEW: usize = 10;

/// Moves such events, with duration 0, and such points to the start of the others; gives their
/// positions.
pub(super) fn place(trace: &mut Trace) -> Vec<u32> {
    let starts = &trace.events.start;
    let (Some(first), Some(last)) = (starts.iter().min(), starts.iter().max()) else { return Vec::new() };
    if last.since(first).0 <= FAR_NS {
        return Vec::new();
    }
    let mut sorted: Vec<Ts> = starts.iter().collect();
    let middle = sorted.len() / 2;
    let median = *sorted.select_nth_unstable(middle).1;
    let is_far = |time: Ts| time.since(median).0.max(median.since(time).0) > FAR_NS;
    let near: Vec<_> = starts.iter().filter(|start| !is_far(*start)).collect();
    if (starts.len() - near.len()) * FEW > starts.len() {
        return Vec::new();
    }
    let Some(first) = near.into_iter().min() else { return Vec::new() };
    let mut placed = Vec::new();
    let events = &mut trace.events;
    for row in 0..events.len() {
        if is_far(events.start.at(row)) {
            events.start.set(row, first);
            events.dur.set(row, Dur(0));
            placed.push(events.position.at(row));
        }
    }
    let instants = trace.instants.iter_mut().map(|row| (&mut row.time, row.position));
    let counters = trace.counters.iter_mut().map(|row| (&mut row.time, row.position));
    let flows = trace.flows.iter_mut().map(|row| (&mut row.time, row.position));
    for (time, position) in instants.chain(counters).chain(flows).filter(|(time, _)| is_far(**time)) {
        *time = first;
        placed.push(position);
    }
    placed.sort_unstable();
    placed
}
