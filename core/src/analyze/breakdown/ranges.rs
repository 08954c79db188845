//! Collects the time of each device by class of work.

use std::collections::BTreeMap;

use super::set_timeline::{SetSums, SetTimeline};
use crate::analyze::class::WorkClass;
use crate::analyze::interval::{total_ns, union, within};
use crate::analyze::selection::Selection;
use crate::time::TimeRange;

/// Time of one device's work by its class.
type ClassRanges = [Vec<TimeRange>; WorkClass::ALL.len()];

/// The bit of a class in a set.
pub(super) fn bit(class: WorkClass) -> u8 {
    1 << class as u8
}

/// The set of times without recorded work in which lost work may have run.
pub(super) const UNKNOWN: u8 = 1 << WorkClass::ALL.len();

const NUM_SETS: usize = UNKNOWN as usize + 1;

/// How long a device ran each set of classes.
pub(super) type ClassSums = SetSums<NUM_SETS>;

/// Which classes of work each device ran, and when lost work may have run on it.
pub(super) type DeviceTimelines = BTreeMap<Option<i64>, DeviceTimeline>;

/// Which classes of work a device ran.
#[derive(Debug, Clone)]
pub(super) struct DeviceTimeline {
    sets: SetTimeline<NUM_SETS>,
    /// The only times that count, if the selection is more than a range.
    windows: Option<Vec<TimeRange>>,
}

impl DeviceTimeline {
    /// The sums in a span.
    pub(super) fn inside(&self, span: TimeRange) -> ClassSums {
        let Some(windows) = &self.windows else { return self.sets.inside(span) };
        let mut sums = ClassSums::default();
        within(windows, span).into_iter().for_each(|window| sums.add_all(&self.sets.inside(window)));
        sums
    }

    /// How much of a span counts, in nanoseconds.
    pub(super) fn len_ns(&self, span: TimeRange) -> i64 {
        self.windows.as_ref().map_or(span.dur().0, |windows| total_ns(&within(windows, span)))
    }
}

/// Idle times below `micro_ns` are summed apart.
pub(super) fn busy(selection: &Selection<'_>, class: impl Fn(usize) -> WorkClass, micro_ns: i64) -> DeviceTimelines {
    let trace = &selection.linked.trace;
    let mut devices: BTreeMap<Option<i64>, ClassRanges> =
        selection.devices().map(|device| (device, ClassRanges::default())).collect();
    for row in selection.work_beside() {
        // Beside the work of named calls, that of others is no idle time.
        let class = if selection.contains(row) { class(row) } else { WorkClass::Other };
        if let Some(device) = devices.get_mut(&trace.device(row)) {
            device[class as usize].push(selection.time(row));
        }
    }
    let timeline = |(device, ranges): (Option<i64>, ClassRanges)| {
        let (ranges, unknown) = (ranges.map(union), selection.unknown(device));
        let classes = WorkClass::ALL.iter().map(|class| (bit(*class), ranges[*class as usize].as_slice()));
        let lists = classes.chain([(UNKNOWN, unknown.as_slice())]);
        // Beside recorded work, lost work makes no time unknown.
        let code = |bits: u8| if bits == UNKNOWN { UNKNOWN } else { bits & !UNKNOWN };
        let windows = selection.parts().map(|part| part.windows(device).to_vec());
        (device, DeviceTimeline { sets: SetTimeline::of(lists, code, micro_ns), windows })
    };
    devices.into_iter().map(timeline).collect()
}
