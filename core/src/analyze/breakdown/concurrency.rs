//! Measures which classes of work ran on a device at the same time.

use super::ranges::{DeviceActivity, DeviceRanges};
use super::span::BreakdownSpan;
use crate::analyze::class::WorkClass;
use crate::analyze::interval::within;
use crate::sort;
use crate::table::{Column, Table, float, int, put_name, text};
use crate::time::{TimeRange, Ts, add_ns};

/// Time of a span in which just these classes of work ran on a device.
#[derive(Debug, Clone, Copy)]
pub(super) struct ConcurrencyRow {
    iteration: Option<i64>,
    device: Option<i64>,
    /// A bit for each class.
    classes: u8,
    total_ns: i64,
    share: f64,
}

pub(super) static TABLE: Table<Vec<ConcurrencyRow>> = Table {
    name: "concurrency",
    doc: "the time in which exactly these classes of work ran on a device",
    num_rows: Vec::len,
    columns: COLUMNS,
};

const COLUMNS: &[Column<Vec<ConcurrencyRow>>] = &[
    int("iteration", |rows, at| rows[at].iteration),
    int("device", |rows, at| rows[at].device),
    text("classes", |rows, at, out| put_name(out, &named(rows[at].classes))),
    int("total_ns", |rows, at| Some(rows[at].total_ns)),
    float("share", |rows, at| Some(rows[at].share)),
];

/// `computation+communication`; of none `idle`, or `unknown` where lost work may have run.
fn named(classes: u8) -> String {
    if classes == UNKNOWN {
        return String::from("unknown");
    }
    let names: Vec<_> =
        WorkClass::ALL.iter().filter(|class| classes & bit(**class) != 0).map(|class| class.name()).collect();
    if names.is_empty() { String::from("idle") } else { names.join("+") }
}

fn bit(class: WorkClass) -> u8 {
    1 << class as u8
}

/// The bit of times in which lost work may have run.
const UNKNOWN: u8 = 1 << WorkClass::ALL.len();

const NUM_SETS: usize = UNKNOWN as usize + 1;

/// Time of each span and device by the set of classes that run; sets that never do have no row.
/// They add up to the span.
pub(super) fn concurrency(busy: &DeviceRanges, spans: &[BreakdownSpan]) -> Vec<ConcurrencyRow> {
    let of_device = |span: &BreakdownSpan, device: Option<i64>, activity: &DeviceActivity| {
        let (iteration, span_ns) = (span.iteration, span.range.dur().0.max(1) as f64);
        let sets = (0..).zip(swept(activity, span.range)).filter(|(_, total_ns)| *total_ns > 0);
        let row = move |(classes, total_ns)| {
            let share = total_ns as f64 / span_ns;
            ConcurrencyRow { iteration, device, classes, total_ns, share }
        };
        sets.map(row).collect::<Vec<_>>()
    };
    let of_span = |span| busy.iter().flat_map(move |(device, activity)| of_device(span, *device, activity));
    spans.iter().flat_map(of_span).collect()
}

/// The time of each set, by its bits.
fn swept(activity: &DeviceActivity, span: TimeRange) -> [i64; NUM_SETS] {
    let mut changes: Vec<(Ts, u8)> = vec![(span.start, 0), (span.end, 0)];
    let classes = WorkClass::ALL.iter().map(|class| (bit(*class), activity.by_class[*class as usize].as_slice()));
    for (bit, ranges) in classes.chain([(UNKNOWN, activity.unknown.as_slice())]) {
        let inside = within(ranges, span);
        changes.extend(inside.iter().flat_map(|range| [(range.start, bit), (range.end, bit)]));
    }
    sort::by_key(&mut changes, |(time, _)| *time);
    let (mut totals, mut running) = ([0; NUM_SETS], 0);
    for pair in changes.windows(2) {
        // Ranges of a class do not touch, so each end changes the set of running classes.
        running ^= pair[0].1;
        // Beside recorded work, lost work makes no time unknown.
        let set = if running == UNKNOWN { UNKNOWN } else { running & !UNKNOWN };
        add_ns(&mut totals[usize::from(set)], pair[1].0.since(pair[0].0).0);
    }
    totals
}
