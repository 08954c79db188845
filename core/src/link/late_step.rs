//! Repairs annotations of iterations that begin late: with stacks, `PyTorch` 2.5 moves their start
//! to the call that ends the iteration.

use super::iteration::Iteration;
use crate::id::TrackId;
use crate::sort;
use crate::time::Ts;
use crate::trace::Trace;
use crate::trace::arg_key::ArgKey;
use crate::trace::kind::EventKind;

/// An annotation of an iteration, with its thread's calls since the previous one ended.
struct StepAnnotation {
    at: usize,
    track: TrackId,
    start: Ts,
    id: u64,
    /// When the one before on its thread ended, and whether it began then.
    last_end: Ts,
    is_next: bool,
    /// Of the calls between the two that were numbered after it: the first start and the highest
    /// number.
    first: Option<Ts>,
    highest: u64,
    /// The lowest number of those that begin after it, up to the next.
    lowest: u64,
}

impl StepAnnotation {
    fn call_before(&mut self, start: Ts, id: u64) {
        if id > self.id {
            self.first = Some(self.first.map_or(start, |first| first.min(start)));
            self.highest = self.highest.max(id);
        } else {
            self.is_next = false;
        }
    }
}

/// Lets each iteration whose annotation begins late begin where it did; gives the rows of such
/// annotations.
///
/// A thread numbers its calls in the order in which they begin (`External id`). So calls with
/// higher numbers than an annotation that begin before it began in it. Its end is right, and the
/// one before ended when it began.
pub(super) fn mend(trace: &Trace, iterations: &mut [Iteration]) -> Vec<usize> {
    let mut steps = steps(trace, iterations);
    if steps.is_empty() {
        return Vec::new();
    }
    let events = &trace.events;
    for row in events.rows_of(|kind| matches!(kind, EventKind::Operator | EventKind::Annotation)) {
        let (track, start) = (events.track.at(row), events.start.at(row));
        let after = steps.partition_point(|step| (step.track, step.start) <= (track, start));
        let Some(id) = id(trace, row) else { continue };
        if let Some(step) = steps.get_mut(after)
            && step.track == track
            && start >= step.last_end
        {
            step.call_before(start, id);
        }
        if let Some(step) = after.checked_sub(1).and_then(|last| steps.get_mut(last))
            && id != step.id
        {
            step.lowest = step.lowest.min(id);
        }
    }
    let mut late = Vec::new();
    for step in steps {
        // Where later calls have lower numbers, these began anew: it is another recording.
        let Some(first) = step.first.filter(|_| step.highest < step.lowest) else { continue };
        let iteration = &mut iterations[step.at];
        let end = iteration.range().end;
        iteration.start = if step.is_next { step.last_end } else { first };
        iteration.dur = end.since(iteration.start);
        late.push(iteration.event as usize);
    }
    late
}

/// The annotations in the order of their threads and of time; those without a number are left out.
fn steps(trace: &Trace, iterations: &[Iteration]) -> Vec<StepAnnotation> {
    let track = |at: usize| trace.events.track.at(iterations[at].event as usize);
    let mut order: Vec<usize> = (0..iterations.len()).collect();
    sort::by_key(&mut order, |at| (track(*at), iterations[*at].start, *at));
    let last = |place: usize| Some(*order.get(place.checked_sub(1)?)?);
    let step = |(place, at): (usize, &usize)| {
        let iteration = iterations[*at];
        let last = last(place).filter(|last| track(*last) == track(*at)).map(|last| iterations[last]);
        Some(StepAnnotation {
            at: *at,
            track: track(*at),
            start: iteration.start,
            id: id(trace, iteration.event as usize)?,
            last_end: last.map_or(Ts(i64::MIN), |last| last.range().end),
            is_next: last.is_some_and(|last| last.number.checked_add(1) == Some(iteration.number)),
            first: None,
            highest: 0,
            lowest: u64::MAX,
        })
    };
    order.iter().enumerate().filter_map(step).collect()
}

fn id(trace: &Trace, row: usize) -> Option<u64> {
    trace.args.identifier(&trace.strings, trace.events.args(row), ArgKey::ExternalId)
}
