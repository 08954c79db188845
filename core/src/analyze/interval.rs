//! Interval algebra on one time axis.

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

/// The intersection of two lists of disjoint, ascending ranges.
///
/// ```
/// use kinetoscope::analyze::interval::{intersection, total_ns};
/// use kinetoscope::time::{TimeRange, Ts};
/// let range = |start, end| TimeRange { start: Ts(start), end: Ts(end) };
/// assert_eq!(intersection(&[range(0, 5), range(8, 9)], &[range(3, 20)]), [range(3, 5), range(8, 9)]);
/// ```
pub fn intersection(a: &[TimeRange], b: &[TimeRange]) -> Vec<TimeRange> {
    let (mut i, mut j, mut common) = (0, 0, Vec::new());
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        let both = TimeRange { start: x.start.max(y.start), end: x.end.min(y.end) };
        if both.start < both.end {
            common.push(both);
        }
        if x.end < y.end { i += 1 } else { j += 1 }
    }
    common
}

/// The difference of two lists of disjoint, ascending ranges.
///
/// ```
/// use kinetoscope::analyze::interval::difference;
/// use kinetoscope::time::{TimeRange, Ts};
/// let range = |start, end| TimeRange { start: Ts(start), end: Ts(end) };
/// assert_eq!(difference(&[range(0, 9)], &[range(2, 3), range(8, 20)]), [range(0, 2), range(3, 8)]);
/// ```
pub fn difference(a: &[TimeRange], b: &[TimeRange]) -> Vec<TimeRange> {
    let (mut rest, mut at) = (Vec::new(), 0);
    for range in a {
        let mut start = range.start;
        while b.get(at).is_some_and(|hole| hole.end <= start) {
            at += 1;
        }
        for hole in b[at..].iter().take_while(|hole| hole.start < range.end) {
            if start < hole.start {
                rest.push(TimeRange { start, end: hole.start });
            }
            start = start.max(hole.end);
        }
        if start < range.end {
            rest.push(TimeRange { start, end: range.end });
        }
    }
    rest
}

/// The parts of disjoint, ascending ranges that are inside another.
pub fn within(ranges: &[TimeRange], to: TimeRange) -> Vec<TimeRange> {
    let first = ranges.partition_point(|range| range.end <= to.start);
    let last = ranges.partition_point(|range| range.start < to.end).max(first);
    ranges[first..last].iter().map(|range| clip(*range, to)).filter(|range| range.start < range.end).collect()
}

/// Disjoint, ascending ranges for repeated queries of their overlap with another range.
#[derive(Debug, Clone, Default)]
pub struct RangeCover {
    ranges: Vec<TimeRange>,
    /// The length of all ranges before each one, and of all. Disjoint ranges between any two times
    /// of 64 bits fit together.
    before_ns: Vec<u64>,
}

impl RangeCover {
    /// Of ranges in any order, which may overlap.
    pub fn of(ranges: Vec<TimeRange>) -> Self {
        Self::disjoint(union(ranges))
    }

    /// Of ranges that are disjoint and ascending.
    pub(super) fn disjoint(ranges: Vec<TimeRange>) -> Self {
        let mut before_ns = Vec::with_capacity(ranges.len() + 1);
        before_ns.push(0);
        let mut before = 0;
        for range in &ranges {
            before += range.end.0.abs_diff(range.start.0);
            before_ns.push(before);
        }
        Self { ranges, before_ns }
    }

    /// The ranges.
    pub fn ranges(&self) -> &[TimeRange] {
        &self.ranges
    }

    /// How much of `to` they have, in nanoseconds, found by bisection; saturates.
    ///
    /// ```
    /// use kinetoscope::analyze::interval::RangeCover;
    /// use kinetoscope::time::{TimeRange, Ts};
    /// let range = |start, end| TimeRange { start: Ts(start), end: Ts(end) };
    /// let cover = RangeCover::of(vec![range(0, 4), range(6, 9)]);
    /// assert_eq!(cover.inside_ns(range(2, 7)), 3);
    /// ```
    pub fn inside_ns(&self, to: TimeRange) -> i64 {
        let first = self.ranges.partition_point(|range| range.end <= to.start);
        let last = self.ranges.partition_point(|range| range.start < to.end);
        if last <= first {
            return 0;
        }
        let all = self.before_ns[last] - self.before_ns[first];
        let early = to.start.max(self.ranges[first].start).0.abs_diff(self.ranges[first].start.0);
        let late = to.end.min(self.ranges[last - 1].end).0.abs_diff(self.ranges[last - 1].end.0);
        i64::try_from(all.saturating_sub(early).saturating_sub(late)).unwrap_or(i64::MAX)
    }

    /// The uncovered rest of `to`, in nanoseconds.
    pub fn outside_ns(&self, to: TimeRange) -> i64 {
        to.dur().0 - self.inside_ns(to)
    }

    /// The first start of a range at `time` or after it.
    pub fn next_start(&self, time: Ts) -> Option<Ts> {
        self.ranges.get(self.ranges.partition_point(|range| range.start < time)).map(|range| range.start)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The first nanoseconds that the ranges cover, up to a number.
    fn swept(ranges: &[TimeRange]) -> Vec<bool> {
        (0..64).map(|ns| ranges.iter().any(|range| range.start.0 <= ns && ns < range.end.0)).collect()
    }

    fn ranges() -> impl Strategy<Value = Vec<TimeRange>> {
        let range = (0..60_i64, 0..9_i64).prop_map(|(start, len)| TimeRange { start: Ts(start), end: Ts(start + len) });
        prop::collection::vec(range, 0..12)
    }

    #[test]
    fn times_may_be_as_far_apart_as_64_bits_allow() {
        let range = |start, end| TimeRange { start: Ts(start), end: Ts(end) };
        let cover = RangeCover::of(vec![range(i64::MIN, -5), range(5, i64::MAX)]);
        assert_eq!(cover.inside_ns(range(i64::MIN, i64::MAX)), i64::MAX);
        assert_eq!(cover.inside_ns(range(-7, i64::MAX)), i64::MAX - 3);
        assert_eq!(cover.inside_ns(range(-7, 7)), 4);
        assert_eq!(cover.outside_ns(range(-7, 7)), 10);
    }

    proptest! {
        #[test]
        fn the_algebra_is_that_of_every_nanosecond(a in ranges(), b in ranges(), to in (0..60_i64, 0..60_i64)) {
            let (in_a, in_b) = (swept(&a), swept(&b));
            let (a, b) = (union(a), union(b));
            let both = |f: fn(bool, bool) -> bool| in_a.iter().zip(&in_b).map(|(a, b)| f(*a, *b)).collect::<Vec<_>>();
            prop_assert_eq!(swept(&a), in_a.clone());
            prop_assert_eq!(swept(&intersection(&a, &b)), both(|a, b| a && b));
            prop_assert_eq!(swept(&difference(&a, &b)), both(|a, b| a && !b));
            let to = TimeRange { start: Ts(to.0.min(to.1)), end: Ts(to.0.max(to.1)) };
            prop_assert_eq!(swept(&within(&a, to)), swept(&intersection(&a, &[to])));
            prop_assert_eq!(total_ns(&difference(&a, &b)) + total_ns(&intersection(&a, &b)), total_ns(&a));
            prop_assert_eq!(RangeCover::of(a.clone()).inside_ns(to), total_ns(&within(&a, to)));
        }
    }
}
