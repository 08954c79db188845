//! Busy times of each device of a process.

use std::collections::BTreeMap;

use crate::analyze::interval::{RangeCover, difference, union};
use crate::time::TimeRange;

/// When the devices worked: each of them, and any.
pub(super) struct DeviceBusyTimes {
    pub(super) any: RangeCover,
    each: BTreeMap<Option<i64>, RangeCover>,
}

impl DeviceBusyTimes {
    pub(super) fn of(work: impl Iterator<Item = (Option<i64>, TimeRange)>) -> Self {
        let mut each: BTreeMap<_, Vec<_>> = BTreeMap::new();
        work.for_each(|(device, time)| each.entry(device).or_default().push(time));
        let each: BTreeMap<_, _> = each.into_iter().map(|(device, times)| (device, RangeCover::of(times))).collect();
        Self { any: RangeCover::of(each.values().flat_map(RangeCover::ranges).copied().collect()), each }
    }

    /// The time of a range in which a device did not work.
    pub(super) fn outside_ns(&self, device: Option<i64>, range: TimeRange) -> i64 {
        self.each.get(&device).map_or(range.dur().0, |cover| cover.outside_ns(range))
    }

    /// The end of a range in which a device did not work.
    pub(super) fn idle_before(&self, device: Option<i64>, range: TimeRange) -> TimeRange {
        let ranges = self.each.get(&device).map_or(&[][..], RangeCover::ranges);
        let before = ranges.partition_point(|busy| busy.start < range.end).checked_sub(1).map(|at| ranges[at].end);
        TimeRange { start: before.map_or(range.start, |end| end.clamp(range.start, range.end)), end: range.end }
    }

    /// When a device did not work, as far as any of its ranges reach.
    pub(super) fn outside(&self, ranges: impl Iterator<Item = (Option<i64>, TimeRange)>) -> Vec<TimeRange> {
        let mut asked: BTreeMap<_, Vec<_>> = BTreeMap::new();
        ranges.for_each(|(device, range)| asked.entry(device).or_default().push(range));
        let left = asked.into_iter().flat_map(|(device, ranges)| {
            let ranges = union(ranges);
            self.each.get(&device).map_or_else(|| ranges.clone(), |cover| difference(&ranges, cover.ranges()))
        });
        union(left.collect())
    }
}
