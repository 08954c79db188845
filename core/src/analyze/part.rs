//! A part of a trace: ranges of time, or the events of named calls.

use std::collections::BTreeMap;

use super::interval::{RangeCover, clip, union};
use crate::column::OptionalColumn;
use crate::time::{Dur, TimeRange, Ts};

/// A part of a trace.
#[derive(Debug, Clone)]
pub struct TracePart {
    /// From its first time to its last.
    pub(super) hull: TimeRange,
    /// Its times on the host.
    times: RangeCover,
    /// Its events, if they are chosen by name.
    pub(super) calls: Option<NamedCalls>,
}

/// The events of named calls.
#[derive(Debug, Clone)]
pub(super) struct NamedCalls {
    /// For each event, the row of the outermost call that it is for.
    pub of_event: OptionalColumn,
    /// Times of each device from the first to the last work of a call: disjoint, ascending.
    pub windows: BTreeMap<Option<i64>, Vec<TimeRange>>,
}

impl TracePart {
    /// One range.
    pub(super) fn of(range: TimeRange) -> Self {
        Self { hull: range, times: RangeCover::disjoint(vec![range]), calls: None }
    }

    /// Several ranges, in any order. None of them is a part that has nothing.
    pub(super) fn of_ranges(ranges: Vec<TimeRange>) -> Self {
        let ranges = union(ranges);
        let first = ranges.first().copied().unwrap_or_default();
        let hull = TimeRange { start: first.start, end: ranges.last().map_or(first.end, |last| last.end) };
        Self { hull, times: RangeCover::disjoint(ranges), calls: None }
    }

    /// Calls that last for these times.
    pub(super) fn of_calls(ranges: Vec<TimeRange>, calls: NamedCalls) -> Self {
        Self { calls: Some(calls), ..Self::of_ranges(ranges) }
    }

    /// The time from its first to its last, if that is all that it is.
    pub(super) fn as_range(&self) -> Option<TimeRange> {
        (self.calls.is_none() && self.times.ranges().len() == 1).then_some(self.hull)
    }

    /// Its times on the host: disjoint, ascending.
    pub(super) fn times(&self) -> &[TimeRange] {
        self.times.ranges()
    }

    /// Its times on a device.
    pub(super) fn windows(&self, device: Option<i64>) -> &[TimeRange] {
        match &self.calls {
            Some(calls) => calls.windows.get(&device).map_or(&[], Vec::as_slice),
            None => self.times(),
        }
    }

    /// Its times on the host and on all devices.
    pub(super) fn all_times(&self) -> RangeCover {
        let windows = self.calls.iter().flat_map(|calls| calls.windows.values().flatten());
        RangeCover::of(self.times().iter().chain(windows).copied().collect())
    }

    /// From its first time on the host or a device to the last.
    pub(super) fn extent(&self) -> TimeRange {
        let times = self.all_times();
        let ends = times.ranges().first().zip(times.ranges().last());
        ends.map_or(self.hull, |(first, last)| TimeRange { start: first.start, end: last.end })
    }

    /// Whether a time is in it.
    pub(super) fn has(&self, time: Ts) -> bool {
        self.times().get(self.first_after(time)).is_some_and(|range| range.start <= time && time < range.end)
    }

    /// Whether an event meets it.
    pub(super) fn meets(&self, start: Ts, dur: Dur) -> bool {
        self.times().get(self.first_after(start)).is_some_and(|range| range.overlaps(start, dur))
    }

    /// A time without what is before the part, and after it.
    pub(super) fn cut(&self, time: TimeRange) -> TimeRange {
        let ranges = self.times();
        let first = self.first_after(time.start);
        let last = ranges.partition_point(|range| range.start < time.end).max(first + 1) - 1;
        let (Some(first), Some(last)) = (ranges.get(first), ranges.get(last.min(ranges.len().saturating_sub(1))))
        else {
            return clip(time, self.hull);
        };
        clip(time, TimeRange { start: first.start, end: last.end })
    }

    /// How much of a time is in it, in nanoseconds.
    pub(super) fn inside_ns(&self, time: TimeRange) -> i64 {
        self.times.inside_ns(time)
    }

    /// The place of the first range that ends after a time.
    fn first_after(&self, time: Ts) -> usize {
        self.times().partition_point(|range| range.end <= time)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn range(start: i64, end: i64) -> TimeRange {
        TimeRange { start: Ts(start), end: Ts(end) }
    }

    #[test]
    fn no_range_has_nothing() {
        let part = TracePart::of_ranges(Vec::new());
        assert!(!part.has(Ts(0)) && !part.meets(Ts(0), Dur(5)));
        assert_eq!((part.hull, part.inside_ns(range(-5, 5))), (range(0, 0), 0));
    }

    proptest! {
        #[test]
        fn a_part_has_the_nanoseconds_of_its_ranges(
            ranges in prop::collection::vec((0..60_i64, 1..9_i64), 1..6), start in 0..70_i64, dur in 0..12_i64
        ) {
            let ranges: Vec<_> = ranges.into_iter().map(|(start, len)| range(start, start + len)).collect();
            let is_in = |ns: i64| ranges.iter().any(|range| range.start.0 <= ns && ns < range.end.0);
            let part = TracePart::of_ranges(ranges.clone());
            let inside: Vec<i64> = (start..start + dur).filter(|ns| is_in(*ns)).collect();
            prop_assert_eq!(part.has(Ts(start)), is_in(start));
            prop_assert_eq!(part.inside_ns(range(start, start + dur)), inside.len() as i64);
            prop_assert_eq!(part.meets(Ts(start), Dur(dur)), !inside.is_empty() || is_in(start));
            if let (Some(first), Some(last)) = (inside.first(), inside.last()) {
                prop_assert_eq!(part.cut(range(start, start + dur)), range(*first, last + 1));
            }
        }
    }
}
