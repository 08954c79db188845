//! Busy times of each device of a process.

use crate::analyze::interval::{RangeCover, difference, union};
use crate::sorted_map::SortedMap;
use crate::time::TimeRange;

/// When the devices worked: each of them, and any.
pub(super) struct DeviceBusyTimes {
    pub(super) any: RangeCover,
    each: SortedMap<Option<i64>, RangeCover>,
}

impl DeviceBusyTimes {
    pub(super) fn of(work: impl Iterator<Item = (Option<i64>, TimeRange)>) -> Self {
        let each = by_device(work).map(RangeCover::of);
        let any = each.iter().flat_map(|(_, cover)| cover.ranges()).copied().collect();
        Self { any: RangeCover::of(any), each }
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
        let left = by_device(ranges).into_vec().into_iter().flat_map(|(device, ranges)| {
            let ranges = union(ranges);
            self.each.get(&device).map_or_else(|| ranges.clone(), |cover| difference(&ranges, cover.ranges()))
        });
        union(left.collect())
    }
}

fn by_device(ranges: impl Iterator<Item = (Option<i64>, TimeRange)>) -> SortedMap<Option<i64>, Vec<TimeRange>> {
    let ranges: Vec<_> = ranges.collect();
    let mut devices: SortedMap<_, Vec<TimeRange>> = SortedMap::of(ranges.iter().map(|(device, _)| *device));
    for (device, range) in ranges {
        devices.get_mut(&device).into_iter().for_each(|all| all.push(range));
    }
    devices
}
