//! Remarks on streams whose work often ends after later work.

use super::problem::{Problem, VerdictState};
use crate::link::LinkedTrace;

pub(super) fn problems(linked: &LinkedTrace) -> Vec<Problem> {
    let trace = &linked.trace;
    let problem = |(rows, num_all): (Vec<u32>, usize)| {
        let message = "kernels, copies or fills end at least 100 µs after later ones of their stream: it runs out of \
                       order, or their durations are wrong";
        let stream = trace.track(trace.events.track.at(rows[0] as usize)).stream;
        Problem::new("out_of_order_work", VerdictState::Complete, rows.len(), message)
            .of_rows(trace, &rows)
            .of(num_all)
            .on(stream)
    };
    linked.out_of_order_work().into_iter().map(problem).collect()
}
