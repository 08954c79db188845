//! Finds the iterations in which the observer of the Execution Trace ran.
//!
//! The observer makes every operator slower, so that host times of such an iteration are not those
//! of a normal one. `PyTorch` numbers calls (`Record function id`) only while an observer runs; at
//! other times, the number is 0 or missing.

use super::iteration::Iteration;
use super::node::calls;
use crate::time::TimeRange;
use crate::trace::Trace;

/// Marks the iterations in which a call has a record id.
pub(super) fn mark(trace: &Trace, iterations: &mut [Iteration]) {
    if iterations.is_empty() {
        return;
    }
    for row in calls(trace) {
        // One id tells: looking up more of an iteration's takes time.
        let at = Iteration::at(iterations, trace.events.start.at(row)).filter(|at| !iterations[*at].is_observed);
        if let Some(at) = at.filter(|_| trace.record_id(row).is_some()) {
            iterations[at].is_observed = true;
        }
    }
}

/// The longest time without observed iterations, by the number of its iterations; the first of
/// equal ones. `None` where there is no other iteration, or none is observed.
pub(super) fn clean_range(iterations: &[Iteration], whole: TimeRange) -> Option<TimeRange> {
    let mut best: Option<(usize, TimeRange)> = None;
    let mut rest = iterations;
    let mut observed_end = None;
    while !rest.is_empty() {
        let num_clean = rest.iter().take_while(|iteration| !iteration.is_observed).count();
        let (clean, others) = rest.split_at(num_clean);
        let next = others.first().map(|next| next.start);
        // Iterations of several threads overlap: those beside an observed one are not clean either.
        let is_apart = |iteration: &&Iteration| {
            observed_end.is_none_or(|end| end <= iteration.start)
                && next.is_none_or(|next| iteration.range().end <= next)
        };
        let apart: Vec<_> = clean.iter().filter(is_apart).map(Iteration::range).collect();
        if apart.len() > best.map_or(0, |(num, _)| num) {
            let start = observed_end.map_or(whole.start, |_| apart[0].start);
            let last = apart.iter().map(|range| range.end).max().unwrap_or(whole.end);
            best = Some((apart.len(), TimeRange { start, end: next.map_or(whole.end, |_| last) }));
        }
        let num_observed = others.iter().take_while(|iteration| iteration.is_observed).count();
        let observed = &others[..num_observed];
        observed_end = observed.iter().map(|iteration| iteration.range().end).chain(observed_end).max();
        rest = &others[num_observed..];
    }
    best.map(|(_, range)| range).filter(|_| observed_end.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::{Dur, Ts};
    use crate::trace::step_name::StepFacts;

    const WHOLE: TimeRange = TimeRange { start: Ts(0), end: Ts(1000) };

    /// Iterations of 10 ns from 100 on; `o` is an observed one.
    fn clean(iterations: &str) -> Option<(i64, i64)> {
        let iteration = |(at, letter): (i64, char)| Iteration {
            number: at,
            event: 0,
            start: Ts(100 + 10 * at),
            dur: Dur(10),
            facts: StepFacts::default(),
            state: None,
            is_observed: letter == 'o',
        };
        let iterations: Vec<_> = (0..).zip(iterations.chars()).map(iteration).collect();
        clean_range(&iterations, WHOLE).map(|range| (range.start.0, range.end.0))
    }

    #[test]
    fn the_longest_run_of_clean_iterations_is_taken() {
        assert_eq!(clean("occc"), Some((110, 1000)));
        assert_eq!(clean("ccco"), Some((0, 130)));
        assert_eq!(clean("cocco"), Some((120, 140)));
        assert_eq!(clean("cooc"), Some((0, 110)));
        assert_eq!(["", "o", "oo", "c", "ccc"].map(clean), [None; 5]);
    }
}
