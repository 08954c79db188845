//! Collects the time of each device by class of work, as disjoint ranges.

use std::collections::BTreeMap;

use crate::analyze::class::WorkClass;
use crate::analyze::interval::union;
use crate::analyze::selection::Selection;
use crate::time::TimeRange;

/// Time of one device's work by its class, as disjoint ranges.
pub(super) type ClassRanges = [Vec<TimeRange>; WorkClass::ALL.len()];

/// When a device did work of each class, and when lost work may have run on it.
#[derive(Debug, Default)]
pub(super) struct DeviceActivity {
    pub(super) by_class: ClassRanges,
    pub(super) unknown: Vec<TimeRange>,
}

/// The activity of each device.
pub(super) type DeviceRanges = BTreeMap<Option<i64>, DeviceActivity>;

pub(super) fn busy(selection: &Selection<'_>, class: impl Fn(usize) -> WorkClass) -> DeviceRanges {
    let trace = &selection.linked.trace;
    let activity =
        |device| (device, DeviceActivity { unknown: selection.unknown(device), ..DeviceActivity::default() });
    let mut devices: DeviceRanges = selection.devices().map(activity).collect();
    for row in selection.device_work() {
        devices.entry(trace.device(row)).or_default().by_class[class(row) as usize].push(selection.time(row));
    }
    let ranges = devices.values_mut().flat_map(|device| &mut device.by_class);
    ranges.for_each(|ranges| *ranges = union(std::mem::take(ranges)));
    devices
}
