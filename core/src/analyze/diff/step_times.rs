//! Times of one name or part by step.

use crate::sort;
use crate::time::{add_ns, sum_ns};

/// Times by step. Only steps with a time are kept: names are many, and most are in few steps.
#[derive(Debug, Clone, Default)]
pub(super) struct StepTimes {
    num_steps: usize,
    /// Steps with times, in any order; a step may come again.
    times: Vec<(u32, i64)>,
}

impl StepTimes {
    /// No time in any of so many steps.
    pub(super) fn of(num_steps: usize) -> Self {
        Self { num_steps, times: Vec::new() }
    }

    pub(super) fn num_steps(&self) -> usize {
        self.num_steps
    }

    pub(super) fn add(&mut self, step: usize, ns: i64) {
        let step = step as u32;
        match self.times.last_mut() {
            Some((last, sum)) if *last == step => add_ns(sum, ns),
            _ => self.times.push((step, ns)),
        }
    }

    /// Steps with times; a step may come again.
    pub(super) fn parts(&self) -> impl Iterator<Item = (usize, i64)> + '_ {
        self.times.iter().map(|(step, ns)| (*step as usize, *ns))
    }

    pub(super) fn sum(&self) -> i64 {
        sum_ns(self.times.iter().map(|(_, ns)| *ns))
    }

    /// The times that are not 0, by step.
    pub(super) fn times(&self) -> Vec<(u32, i64)> {
        let mut times = self.times.clone();
        sort::by_key(&mut times, |(step, _)| *step);
        times.dedup_by(|(step, ns), (first, sum)| {
            let is_same = step == first;
            if is_same {
                add_ns(sum, *ns);
            }
            is_same
        });
        times.retain(|(_, ns)| *ns != 0);
        times
    }
}

impl From<Vec<i64>> for StepTimes {
    fn from(ns: Vec<i64>) -> Self {
        Self { num_steps: ns.len(), times: (0..).zip(ns).collect() }
    }
}
