//! Collects the time of each device by class of work, as disjoint ranges.

use std::collections::BTreeMap;

use crate::analyze::class::WorkClass;
use crate::analyze::interval::union;
use crate::analyze::selection::Selection;
use crate::time::TimeRange;

/// Time of one device's work by its class, as disjoint ranges.
pub(super) type ClassRanges = [Vec<TimeRange>; WorkClass::ALL.len()];

/// When each device did work of each class.
pub(super) type DeviceRanges = BTreeMap<Option<i64>, ClassRanges>;

pub(super) fn busy(selection: &Selection<'_>, class: impl Fn(usize) -> WorkClass) -> DeviceRanges {
    let trace = &selection.linked.trace;
    let mut devices: DeviceRanges = selection.devices().map(|device| (device, ClassRanges::default())).collect();
    for row in selection.device_work() {
        devices.entry(trace.device(row)).or_default()[class(row) as usize].push(selection.time(row));
    }
    devices.values_mut().flatten().for_each(|ranges| *ranges = union(std::mem::take(ranges)));
    devices
}
