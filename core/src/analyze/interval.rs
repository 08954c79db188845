//! Algebra of intervals on one axis of time.

use crate::sort;
use crate::time::{TimeRange, Ts, sum_ns};

/// The union of ranges: disjoint, ascending, none empty.
///
/// ```
/// use kinetoscope::analyze::interval::{total_ns, union};
/// use kinetoscope::time::{TimeRange, Ts};
/// let range = |start, end| TimeRange { start: Ts(start), end: Ts(end) };
/// let busy = union(vec![range(5, 9), range(0, 3), range(2, 4)]);
/// assert_eq!(busy, [range(0, 4), range(5, 9)]);
/// assert_eq!(total_ns(&busy), 8);
/// ```
pub fn union(mut ranges: Vec<TimeRange>) -> Vec<TimeRange> {
    sort::by_key(&mut ranges, |range| range.start);
    let mut merged: Vec<TimeRange> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            _ if range.end <= range.start => {}
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

/// The summed length of disjoint ranges, in nanoseconds.
pub fn total_ns(ranges: &[TimeRange]) -> i64 {
    sum_ns(ranges.iter().map(|range| range.dur().0))
}

/// The part of a range inside another; empty where they do not meet.
pub fn clip(range: TimeRange, to: TimeRange) -> TimeRange {
    let start = range.start.max(to.start);
    TimeRange { start, end: Ts(range.end.0.min(to.end.0).max(start.0)) }
}
