//! Sums the device work that the steps launched, by class.

use super::change::MeanRounding;
use super::parts::PartSamples;
use super::side::DiffSide;
use crate::analyze::class::{WorkClass, classes};
use crate::table::{Column, Table, float, int, put_name, text};
use crate::time::{add_ns, sum_ns};

/// One class of device work in both traces, or all of them.
pub(crate) struct DeviceWorkRow {
    class: &'static str,
    /// Events per step.
    counts: [f64; 2],
    /// Durations per step, summed.
    ns: [i64; 2],
    /// The part of them that the headline shows.
    exposed_ns: [i64; 2],
}

pub(crate) static TABLE: Table<Vec<DeviceWorkRow>> = Table {
    name: "diff_device_work",
    doc: "device work of a class (first row: of all) per step that launched it: summed durations, exposed time",
    num_rows: Vec::len,
    columns: COLUMNS,
};

const COLUMNS: &[Column<Vec<DeviceWorkRow>>] = &[
    text("class", |rows, at, out| put_name(out, rows[at].class)),
    float("before_count", |rows, at| Some(rows[at].counts[0])),
    float("after_count", |rows, at| Some(rows[at].counts[1])),
    int("before_ns", |rows, at| Some(rows[at].ns[0])),
    int("after_ns", |rows, at| Some(rows[at].ns[1])),
    int("change_ns", |rows, at| Some(rows[at].ns[1].saturating_sub(rows[at].ns[0]))),
    int("before_exposed_ns", |rows, at| Some(rows[at].exposed_ns[0])),
    int("after_exposed_ns", |rows, at| Some(rows[at].exposed_ns[1])),
    int("before_overlapped_ns", |rows, at| Some(rows[at].ns[0].saturating_sub(rows[at].exposed_ns[0]))),
    int("after_overlapped_ns", |rows, at| Some(rows[at].ns[1].saturating_sub(rows[at].exposed_ns[1]))),
];

/// Durations of each class, and its number of events.
type ClassSamples = [(i64, u64); WorkClass::ALL.len()];

/// Every class that occurs, after the sum of all. `exposed` is the time of each class that the
/// headline shows, of all devices together.
pub(super) fn device_work(sides: &[DiffSide<'_>; 2], exposed: &[PartSamples]) -> Vec<DeviceWorkRow> {
    if exposed.is_empty() {
        return Vec::new();
    }
    let samples = sides.each_ref().map(class_samples);
    let num = sides.each_ref().map(DiffSide::num_samples);
    let (mut totals, mut shown) = (num.map(MeanRounding::over), num.map(MeanRounding::over));
    let row = |class: WorkClass| {
        let of_class = |side: usize| &samples[side][class as usize];
        DeviceWorkRow {
            class: class.name(),
            counts: [0, 1].map(|side| of_class(side).1 as f64 / num[side] as f64),
            ns: [0, 1].map(|side| totals[side].next(of_class(side).0)),
            exposed_ns: [0, 1].map(|side| shown[side].next(exposed[class as usize][side].sum())),
        }
    };
    let mut rows: Vec<_> = WorkClass::ALL.into_iter().map(row).collect();
    let sum =
        |field: fn(&DeviceWorkRow) -> &[i64; 2]| [0, 1].map(|side| sum_ns(rows.iter().map(|row| field(row)[side])));
    let all = DeviceWorkRow {
        class: "all",
        counts: [0, 1].map(|side| rows.iter().map(|row| row.counts[side]).sum()),
        ns: sum(|row| &row.ns),
        exposed_ns: sum(|row| &row.exposed_ns),
    };
    rows.retain(|row| row.counts != [0.0, 0.0]);
    rows.insert(0, all);
    rows
}

fn class_samples(side: &DiffSide<'_>) -> ClassSamples {
    let classes = classes(side.selection.linked);
    let mut samples: ClassSamples = [(0, 0); WorkClass::ALL.len()];
    for (_, row) in side.device_work() {
        let (ns, num) = &mut samples[classes[row] as usize];
        add_ns(ns, side.work_ns(row));
        *num += 1;
    }
    samples
}
