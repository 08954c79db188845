//! Remarks on a trace in which several processes have steps of their own.

use super::problem::{Problem, VerdictState};
use crate::link::LinkedTrace;
use crate::sort;
use crate::trace::iteration::iteration_number;

/// A trace has one list of iterations, so those of one process count for the work of all.
pub(super) fn problem(linked: &LinkedTrace) -> Option<Problem> {
    let (trace, events) = (&linked.trace, &linked.trace.events);
    let first = trace.process_of(linked.links.iterations.first()?.event as usize);
    let is_step: Vec<bool> = trace.strings.iter().map(|text| iteration_number(text).is_some()).collect();
    let steps = (0..events.len()).filter(|row| is_step[events.name.at(*row).index()] && !trace.is_on_device(*row));
    let steps: Vec<u32> = steps.map(|row| row as u32).collect();
    let others: Vec<u32> = steps.iter().copied().filter(|row| trace.process_of(*row as usize) != first).collect();
    let processes = sort::distinct(steps.iter().map(|row| trace.process_of(*row as usize)));
    let message = format!(
        "steps are of other processes than the first step: iterations mix the steps of {} processes",
        processes.len()
    );
    let problem = Problem::new("steps_of_several_processes", VerdictState::Complete, others.len(), message);
    let advice = "for the iterations of each rank, read the file without ranks=\"merge\"";
    (!others.is_empty()).then(|| problem.of_rows(trace, &others).of(steps.len()).advised(advice).noticed())
}
