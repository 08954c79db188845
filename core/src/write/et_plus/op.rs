//! Host operators as intervals.

use std::cmp::Ordering;
use std::ops::{Add, Sub};

use crate::id::TrackId;
use crate::trace::Trace;
use crate::trace::kind::EventKind;

/// A time or a duration: exact nanoseconds, wide enough that no sum of two overflows; or
/// microseconds in a float.
pub(super) trait OpTime: Copy + Default + PartialOrd + Add<Output = Self> + Sub<Output = Self> {}

impl OpTime for i128 {}
impl OpTime for f64 {}

/// An operator or annotation on a host thread.
#[derive(Debug, Clone, Copy)]
pub(super) struct HostOp<T> {
    /// Row of its event.
    pub(super) row: u32,
    pub(super) track: TrackId,
    pub(super) start: T,
    pub(super) dur: T,
}

impl<T: OpTime> HostOp<T> {
    pub(super) fn end(&self) -> T {
        self.start + self.dur
    }
}

/// Steps of the profiler are no work of the program's.
const STEP: &str = "ProfilerStep";

/// Whether an event is an operator or an annotation of a host thread, but no step of the profiler.
pub(super) fn is_op(trace: &Trace, row: usize) -> bool {
    let is_kind = matches!(trace.events.kind[row], EventKind::Operator | EventKind::Annotation);
    is_kind && !trace.is_on_device(row) && !trace.event_name(row).contains(STEP)
}

/// All of them in the order of time, those that start together in the order of the file.
pub(super) fn ops<T: OpTime>(trace: &Trace, time: impl Fn(i64) -> T) -> Vec<HostOp<T>> {
    let events = &trace.events;
    let op = |row: usize| HostOp {
        row: row as u32,
        track: events.track.at(row),
        start: time(events.start.at(row).0.wrapping_sub(trace.base_ns)),
        dur: time(events.dur.at(row).0),
    };
    let mut ops: Vec<_> = (0..events.len()).filter(|row| is_op(trace, *row)).map(op).collect();
    ops.sort_by(|one, other| order(one.start, other.start));
    ops
}

/// The order of two times; those of a trace are numbers, so one can always be told.
pub(super) fn order<T: OpTime>(one: T, other: T) -> Ordering {
    one.partial_cmp(&other).unwrap_or(Ordering::Equal)
}
