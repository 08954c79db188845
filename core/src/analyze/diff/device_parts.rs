//! Splits the host time of a step by the device work that it launched.

use std::collections::BTreeMap;

use super::change::MeanRounding;
use super::parts::PartSamples;
use super::side::DiffSide;
use crate::analyze::class::{WorkClass, classes};
use crate::analyze::interval::{RangeCover, difference, total_ns, union, within};
use crate::time::{TimeRange, sum_ns};

const NUM_CLASSES: usize = WorkClass::ALL.len();

/// Parts of a step, in the order of their rows.
const PARTS: [&str; NUM_CLASSES + 4] = [
    "compute",
    "exposed_communication",
    "exposed_copy",
    "exposed_other",
    "idle",
    "unknown",
    "launched_outside",
    "ran_outside",
];

/// Parts that have a row only where they are not 0.
const RARE: [&str; 3] = ["unknown", "launched_outside", "ran_outside"];

/// Parts of the steps of both traces.
#[derive(Debug, Default)]
pub(super) struct DeviceParts {
    pub(super) named: Vec<(&'static str, PartSamples)>,
    /// Time of each class that the parts show, of all devices together.
    pub(super) exposed: Vec<PartSamples>,
}

/// Work of one device: all of it, and by the step that launched it and class.
#[derive(Debug, Default)]
struct DeviceBusy {
    all: RangeCover,
    /// When lost work may have run.
    unknown: RangeCover,
    steps: Vec<[Vec<TimeRange>; NUM_CLASSES]>,
}

/// The parts of each step; they add up to its host time.
///
/// Let `C`, `N`, `M` and `O` be the times in which a device runs computation, communication, copies
/// or fills, and other work of the step, `S` all four, `A` the time of all device work, and `W` the
/// time of the step on the host. Then `compute = |C|`, `exposed_communication = |N \ C|`,
/// `exposed_copy = |M \ C \ N|`, `exposed_other = |O \ C \ N \ M|`, `idle = |W \ A|`
/// but for `unknown` time, in which lost work may have run,
/// `launched_outside = |W ∩ A \ S|` and `ran_outside = -|S \ W|`. Of several devices, the mean.
pub(super) fn device_parts(sides: &[DiffSide<'_>; 2]) -> DeviceParts {
    let [before, after] = sides.each_ref().map(parts_of);
    let paired = |[before, after]: [Vec<Vec<i64>>; 2]| -> Vec<PartSamples> {
        before.into_iter().zip(after).map(|(before, after)| [before.into(), after.into()]).collect()
    };
    let exposed = paired([before.exposed, after.exposed]);
    let named = PARTS.into_iter().zip(paired([before.means, after.means]));
    let is_shown = |(name, samples): &(&str, PartSamples)| {
        !RARE.contains(name) || samples.iter().any(|times| times.parts().any(|(_, ns)| ns != 0))
    };
    DeviceParts { named: named.filter(is_shown).collect(), exposed }
}

/// Parts by step.
struct SideParts {
    /// The mean of all devices.
    means: Vec<Vec<i64>>,
    /// The sum of all devices, of the classes alone.
    exposed: Vec<Vec<i64>>,
}

fn parts_of(side: &DiffSide<'_>) -> SideParts {
    let devices = devices(side);
    let windows = side.windows();
    let mut parts = SideParts { means: vec![Vec::new(); PARTS.len()], exposed: vec![Vec::new(); NUM_CLASSES] };
    for (step, window) in windows.iter().enumerate() {
        let of_devices: Vec<_> = devices.values().map(|device| step_parts(device, step, *window)).collect();
        // The rounded means add up to the mean of the sums, which is the step.
        let mut rounding = MeanRounding::over(of_devices.len());
        for part in 0..PARTS.len() {
            let values: Vec<i64> = of_devices.iter().map(|parts| parts[part]).collect();
            parts.means[part].push(rounding.next(sum_ns(values.iter().copied())));
            if let Some(exposed) = parts.exposed.get_mut(part) {
                exposed.push(sum_ns(values));
            }
        }
    }
    parts
}

fn devices(side: &DiffSide<'_>) -> BTreeMap<Option<i64>, DeviceBusy> {
    let (linked, classes) = (side.selection.linked, classes(side.selection.linked));
    let events = &linked.trace.events;
    let mut devices: BTreeMap<Option<i64>, DeviceBusy> = BTreeMap::new();
    let mut all: BTreeMap<Option<i64>, Vec<TimeRange>> = BTreeMap::new();
    let new = || DeviceBusy { steps: vec![Default::default(); side.num_samples()], ..DeviceBusy::default() };
    for row in side.selection.anytime_work() {
        let time = TimeRange { start: events.start.at(row), end: events.end(row) };
        let device = devices.entry(linked.trace.device(row)).or_insert_with(new);
        all.entry(linked.trace.device(row)).or_default().push(time);
        if let Some(step) = side.work_sample(row) {
            device.steps[step][classes[row] as usize].push(time);
        }
    }
    if devices.is_empty() {
        devices.insert(None, new());
    }
    for (number, device) in &mut devices {
        device.all = RangeCover::of(all.remove(number).unwrap_or_default());
        device.unknown = RangeCover::of(difference(linked.lost_work().of_device(*number), device.all.ranges()));
        device.steps.iter_mut().flatten().for_each(|ranges| *ranges = union(std::mem::take(ranges)));
    }
    devices
}

fn step_parts(device: &DeviceBusy, step: usize, window: TimeRange) -> [i64; PARTS.len()] {
    let mut known: Vec<TimeRange> = Vec::new();
    let mut exposed = [0; NUM_CLASSES];
    for (ns, ranges) in exposed.iter_mut().zip(&device.steps[step]) {
        *ns = total_ns(&difference(ranges, &known));
        known = union([known.as_slice(), ranges].concat());
    }
    // Steps may overlap: by bisection, each takes the same time however much ran meanwhile.
    let (busy_ns, own_ns) = (device.all.inside_ns(window), total_ns(&within(&known, window)));
    let [compute, communication, copy, other] = exposed;
    let unknown = device.unknown.inside_ns(window);
    let idle = window.dur().0.saturating_sub(busy_ns).saturating_sub(unknown);
    let outside = own_ns.saturating_sub(total_ns(&known));
    [compute, communication, copy, other, idle, unknown, busy_ns - own_ns, outside]
}
