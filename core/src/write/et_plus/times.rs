//! Collects the times of nodes: exclusive durations, waits and device work.

use super::exclusive::{exclusive, exclusive_like_chakra};
use super::kernel::NodeKernels;
use super::op::{HostOp, OpTime, ops};
use super::rules::EtPlusRules;
use super::wait::waits;
use crate::column::OptionalColumn;
use crate::link::LinkedTrace;
use crate::time::Ts;
use crate::write::micros::write_micros;

/// A thread that did nothing for longer went on because of another one.
const GAP_NS: i64 = 1_000_000;

/// Exclusive durations of operators, in the order of time.
#[derive(Debug)]
pub(super) enum ExclusiveTimes {
    /// In nanoseconds.
    Exact(Vec<i64>),
    /// In microseconds, as floats give them.
    Float(Vec<f64>),
}

/// Facts about nodes in the Kineto trace.
#[derive(Debug)]
pub(super) struct NodeTimes {
    /// Place of each event among the operators; a row an event.
    pub(super) place: OptionalColumn,
    pub(super) exclusive: ExclusiveTimes,
    /// For each operator, the row of the one that its thread waited for.
    pub(super) waits: Vec<Option<u32>>,
    pub(super) kernels: NodeKernels,
}

impl NodeTimes {
    pub(super) fn new(linked: &LinkedTrace, rules: EtPlusRules) -> Self {
        match rules {
            EtPlusRules::Exact => {
                let own = |ops: &[_]| exclusive(ops).into_iter().map(saturated).collect();
                Self::of_ops(linked, rules, i128::from, |ops| ExclusiveTimes::Exact(own(ops)))
            }
            EtPlusRules::LikeChakra => {
                Self::of_ops(linked, rules, float_micros, |ops| ExclusiveTimes::Float(exclusive_like_chakra(ops)))
            }
        }
    }

    fn of_ops<T: OpTime>(
        linked: &LinkedTrace,
        rules: EtPlusRules,
        time: impl Fn(i64) -> T,
        exclusive: impl Fn(&[HostOp<T>]) -> ExclusiveTimes,
    ) -> Self {
        let trace = &linked.trace;
        let ops = ops(trace, &time);
        let mut place = OptionalColumn::empty(trace.events.len());
        for (at, op) in ops.iter().enumerate() {
            place.set(op.row as usize, at as u32);
        }
        let start = |row: u32| {
            let Ts(start) = trace.events.start.at(row as usize);
            time(start.wrapping_sub(trace.base_ns))
        };
        Self {
            place,
            exclusive: exclusive(&ops),
            waits: waits(&ops, time(GAP_NS)).into_iter().map(|at| Some(ops[at?].row)).collect(),
            kernels: NodeKernels::of_trace(linked, rules, &ops, start),
        }
    }
}

fn saturated(ns: i128) -> i64 {
    i64::try_from(ns).unwrap_or(i64::MAX)
}

/// The float nearest to the microseconds in the file.
fn float_micros(ns: i64) -> f64 {
    let mut text = String::new();
    write_micros(&mut text, ns, true);
    text.parse().unwrap_or(f64::NAN)
}
