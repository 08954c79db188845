//! Tells warm-up and capture apart from the steady state of a loop.

use super::iteration::Iteration;
use super::step_state::StepState;
use crate::sort;
use crate::strings::TextCache;
use crate::time::Ts;
use crate::trace::Trace;
use crate::trace::kind::EventKind;
use crate::trace::step_name::Phase;
use crate::vendor::begins_capture;

/// Fewer iterations of a phase have no state.
const MIN_ITERATIONS: usize = 4;

/// How much longer than the median of the later half a warm-up takes, in hundredths.
const WARM_UP: i64 = 150;

/// Sets the state of each iteration. Those in which the observer of the Execution Trace ran have
/// none, as it makes them longer.
pub(super) fn mark(trace: &Trace, iterations: &mut [Iteration]) {
    if iterations.is_empty() {
        return;
    }
    let captures = captures(trace);
    for iteration in iterations.iter_mut() {
        let range = iteration.range();
        let first = captures.partition_point(|start| *start < range.start);
        if captures.get(first).is_some_and(|start| *start < range.end) {
            iteration.state = Some(StepState::Capture);
        }
    }
    for phase in [None].into_iter().chain(Phase::ALL.map(Some)) {
        let is_own = |one: &Iteration| one.facts.phase == phase && one.state.is_none() && !one.is_observed;
        let places: Vec<usize> = (0..iterations.len()).filter(|place| is_own(&iterations[*place])).collect();
        if places.len() < MIN_ITERATIONS {
            continue;
        }
        let mut later: Vec<i64> = places[places.len() / 2..].iter().map(|place| iterations[*place].dur.0).collect();
        sort::ascending(&mut later);
        let median = later[later.len() / 2];
        let limit = (median / 100).saturating_mul(WARM_UP).saturating_add(median % 100 * WARM_UP / 100);
        let is_long = |place: &&usize| iterations[**place].dur.0 > limit;
        let num_warm = places[..places.len() / 2].iter().take_while(is_long).count();
        for (at, place) in places.into_iter().enumerate() {
            iterations[place].state = Some(if at < num_warm { StepState::WarmUp } else { StepState::Steady });
        }
    }
}

/// When captures of graphs began, ascending.
fn captures(trace: &Trace) -> Vec<Ts> {
    let events = &trace.events;
    let mut is_begin = TextCache::new(&trace.strings, begins_capture);
    let rows = events.rows_of(|kind| kind == EventKind::Launch);
    let mut starts: Vec<Ts> =
        rows.filter(|row| is_begin.of(events.name.at(*row))).map(|row| events.start.at(row)).collect();
    sort::ascending(&mut starts);
    starts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Dur;
    use crate::trace::step_name::StepFacts;

    fn states(durations: &[i64], is_observed: fn(usize) -> bool) -> Vec<Option<StepState>> {
        let iteration = |(at, dur): (usize, &i64)| Iteration {
            number: at as i64,
            event: 0,
            start: Ts(at as i64 * 1_000),
            dur: Dur(*dur),
            facts: StepFacts::default(),
            is_observed: is_observed(at),
            state: None,
        };
        let mut iterations: Vec<_> = durations.iter().enumerate().map(iteration).collect();
        mark(&Trace::default(), &mut iterations);
        iterations.iter().map(|iteration| iteration.state).collect()
    }

    #[test]
    fn the_first_long_ones_warm_up() {
        use StepState::{Steady, WarmUp};
        let found = states(&[900, 300, 100, 110, 100, 400, 100, 90], |_| false);
        let wanted = [WarmUp, WarmUp, Steady, Steady, Steady, Steady, Steady, Steady];
        assert_eq!(found, wanted.map(Some));
        assert_eq!(states(&[140, 100, 100, 100], |_| false), [Some(Steady); 4]);
        assert_eq!(states(&[900, 100, 100], |_| false), [None; 3], "too few to tell");
        assert_eq!(states(&[i64::MAX; 6], |_| false), [Some(Steady); 6]);
    }

    #[test]
    fn observed_ones_have_no_state() {
        let found = states(&[900, 100, 100, 100, 100], |at| at == 0);
        assert_eq!((found[0], found[1]), (None, Some(StepState::Steady)));
    }
}
