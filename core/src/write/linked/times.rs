//! What the Kineto trace knows of nodes: exclusive durations, what was waited for, device work.

use super::Rules;
use super::exclusive::{exclusive, exclusive_like_chakra};
use super::kernel::Kernels;
use super::op::{Op, Time, ops};
use super::wait::waits;
use crate::id::OptionalColumn;
use crate::link::LinkedTrace;
use crate::time::Ts;

/// A thread that did nothing for longer went on because of another one.
const GAP_NS: i64 = 1_000_000;

/// Exclusive durations of operators, in the order of time.
#[derive(Debug)]
pub(super) enum Exclusive {
    /// In nanoseconds.
    Exact(Vec<i64>),
    /// In microseconds, as floats give them.
    Float(Vec<f64>),
}

/// What the Kineto trace knows of nodes.
#[derive(Debug)]
pub(super) struct Times {
    /// Place of each event among the operators; a row an event.
    pub(super) place: OptionalColumn,
    pub(super) exclusive: Exclusive,
    /// For each operator, the row of the one that its thread waited for.
    pub(super) waits: Vec<Option<u32>>,
    pub(super) kernels: Kernels,
}

impl Times {
    pub(super) fn new(linked: &LinkedTrace, rules: Rules) -> Self {
        match rules {
            Rules::Exact => {
                let own = |ops: &[_]| exclusive(ops).into_iter().map(saturated).collect();
                Self::of_ops(linked, rules, i128::from, |ops| Exclusive::Exact(own(ops)))
            }
            Rules::LikeChakra => {
                Self::of_ops(linked, rules, float_micros, |ops| Exclusive::Float(exclusive_like_chakra(ops)))
            }
        }
    }

    fn of_ops<T: Time>(
        linked: &LinkedTrace,
        rules: Rules,
        time: impl Fn(i64) -> T,
        exclusive: impl Fn(&[Op<T>]) -> Exclusive,
    ) -> Self {
        let trace = &linked.trace;
        let ops = ops(trace, &time);
        let mut place = OptionalColumn::empty(trace.events.len());
        for (at, op) in ops.iter().enumerate() {
            place.set(op.row as usize, at as u32);
        }
        let start = |row: u32| {
            let Ts(start) = trace.events.start[row as usize];
            time(start.wrapping_sub(trace.base_ns))
        };
        Self {
            place,
            exclusive: exclusive(&ops),
            waits: waits(&ops, time(GAP_NS)).into_iter().map(|at| Some(ops[at?].row)).collect(),
            kernels: Kernels::of_trace(linked, rules, &ops, start),
        }
    }
}

fn saturated(ns: i128) -> i64 {
    i64::try_from(ns).unwrap_or(i64::MAX)
}

/// The float nearest to the microseconds that the file says.
fn float_micros(ns: i64) -> f64 {
    let mut text = String::new();
    super::write_micros(&mut text, ns, true);
    text.parse().unwrap_or(f64::NAN)
}
