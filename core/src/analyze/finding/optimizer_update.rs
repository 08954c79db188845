//! Separates the update of parameters from a closure inside of an optimizer's step.
//!
//! `optimizer.step(closure)` runs the forward and the backward pass inside of the step, then
//! updates. Lightning always calls it in this way.

use rustc_hash::FxHashMap;

use super::rule_context::RuleContext;
use crate::link::MODULE_PREFIX;
use crate::sort;
use crate::time::{TimeRange, Ts};
use crate::trace::kind::EventKind;

/// When steps update parameters, by the row of the step.
pub(super) struct UpdateTimes {
    /// The last end of work of a closure; steps without a closure are missing.
    closure_end: FxHashMap<u32, Ts>,
    /// The start of the first update after it.
    first_update: FxHashMap<u32, Ts>,
}

impl UpdateTimes {
    /// Finds closures in steps, and their updates: operators with the step around each.
    pub(super) fn of(context: &RuleContext<'_>, steps: &[u32], updates: &[(u32, u32)]) -> Self {
        let mut times = Self { closure_end: closure_ends(context, steps), first_update: FxHashMap::default() };
        for (update, step) in updates {
            if times.is_update(context, *update, *step) {
                let start = context.trace.events.start.at(*update as usize);
                let first = times.first_update.entry(*step).or_insert(start);
                *first = start.min(*first);
            }
        }
        times
    }

    /// Whether an operator of a step comes after the closure.
    pub(super) fn is_update(&self, context: &RuleContext<'_>, operator: u32, step: u32) -> bool {
        self.closure_end.get(&step).is_none_or(|end| context.trace.events.start.at(operator as usize) >= *end)
    }

    /// Whether a step has a closure.
    pub(super) fn has_closure(&self, step: u32) -> bool {
        self.closure_end.contains_key(&step)
    }

    /// The time of the update: all of a step without a closure.
    pub(super) fn time(&self, context: &RuleContext<'_>, step: u32) -> TimeRange {
        let time = context.time(step);
        let Some(end) = self.closure_end.get(&step) else { return time };
        let start = self.first_update.get(&step).unwrap_or(end);
        TimeRange { start: (*start).clamp(time.start, time.end), end: time.end }
    }
}

/// The last end of work that no update does, in each step, on any thread of its process.
fn closure_ends(context: &RuleContext<'_>, steps: &[u32]) -> FxHashMap<u32, Ts> {
    let events = &context.trace.events;
    let is_python = |row: &u32| events.kind[*row as usize] == EventKind::Python;
    let mut work = context.named(is_closure_work);
    work.extend(context.named(is_closure_frame).into_iter().filter(is_python));
    sort::by_key(&mut work, |row| (events.start.at(*row as usize), *row));
    let process = |row: u32| &context.trace.track(events.track.at(row as usize)).process;
    let end = |step: &u32| {
        let time = context.time(*step);
        let first = work.partition_point(|row| events.start.at(*row as usize) < time.start);
        let inside = work[first..].iter().take_while(|row| events.start.at(**row as usize) < time.end);
        let inside = inside.filter(|row| *row != step && process(**row) == process(*step));
        Some((*step, inside.map(|row| events.end(*row as usize)).filter(|end| *end <= time.end).max()?))
    };
    steps.iter().filter_map(end).collect()
}

/// Whether an event belongs to a forward or backward pass, or prepares gradients.
fn is_closure_work(name: &str) -> bool {
    super::passes::is_backward_event(name)
        || name.starts_with(MODULE_PREFIX)
        || name.starts_with("Optimizer.zero_grad#")
        || matches!(name, "aten::_foreach_norm" | "aten::linalg_vector_norm")
}

/// Whether a frame is that of a closure, or of a function that closures call.
fn is_closure_frame(name: &str) -> bool {
    let Some((_, function)) = name.rsplit_once("): ") else { return false };
    let function = function.rsplit('.').next().unwrap_or(function);
    function.contains("closure")
        || function.starts_with("clip_grad")
        || matches!(function, "backward" | "zero_grad" | "training_step")
}
