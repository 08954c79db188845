//! Measures how much communication is hidden behind computation.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::analysis::{Analysis, Run};
use super::class::{WorkClass, classes};
use super::communication::CommunicationNames;
use super::interval::{intersection, total_ns, union};
use super::options::Options;
use super::plot::Plot;
use super::result::AnalysisResult;
use super::selection::Selection;
use crate::table::{Column, Table, float, int, put_name, text};
use crate::time::TimeRange;

/// Hidden and exposed communication.
pub(super) static OVERLAP: Analysis = Analysis {
    name: "overlap",
    doc: "communication time and the part that computation hides, per collective",
    options: &[],
    run: Run::Trace(|selection, _: &Options| {
        AnalysisResult::of(&TABLE, overlap(selection), "no communication ran on a device")
            .drawn(Plot::Bars { label: "collective", parts: &["hidden_ns", "exposed_ns"] })
    }),
};

/// All communication of one kind on a device.
#[derive(Debug, Clone, PartialEq)]
pub struct OverlapRow {
    /// The number of the device, where the file gives one.
    pub device: Option<i64>,
    /// Its name, or that of its kernels where no record names the collective; `all` for any.
    pub collective: String,
    /// Device events.
    pub count: u64,
    /// Time with any of it running.
    pub total_ns: i64,
    /// The part of it with computation running on the device, too.
    pub hidden_ns: i64,
    /// The other part.
    pub exposed_ns: i64,
    /// `hidden_ns / total_ns`.
    pub hidden_share: f64,
}

pub(crate) static TABLE: Table<Vec<OverlapRow>> =
    Table { name: "overlap", doc: "all communication of one kind on a device", num_rows: Vec::len, columns: COLUMNS };

const COLUMNS: &[Column<Vec<OverlapRow>>] = &[
    int("device", |rows, at| rows[at].device),
    text("collective", |rows, at, out| put_name(out, &rows[at].collective)),
    int("count", |rows, at| Some(rows[at].count as i64)),
    int("total_ns", |rows, at| Some(rows[at].total_ns)),
    int("hidden_ns", |rows, at| Some(rows[at].hidden_ns)),
    int("exposed_ns", |rows, at| Some(rows[at].exposed_ns)),
    float("hidden_share", |rows, at| Some(rows[at].hidden_share)),
];

/// Communication of each kind on each device, after that of all kinds together (`all`).
///
/// With `N` the time in which communication of the kind runs and `C` that of any computation on the
/// same device, both unions of events: `total = |N|`, `hidden = |N ∩ C|`, `exposed = |N \ C|`.
/// Kinds that run at the same time both count it, so they may add up to more than `all`.
pub fn overlap(selection: &Selection<'_>) -> Vec<OverlapRow> {
    let (linked, trace) = (selection.linked, &selection.linked.trace);
    let classes = classes(linked);
    let names = CommunicationNames::of(linked);
    let mut computing: BTreeMap<Option<i64>, Vec<TimeRange>> = BTreeMap::new();
    let mut talking: BTreeMap<(Option<i64>, bool, Cow<'_, str>), Vec<TimeRange>> = BTreeMap::new();
    if selection.is_named() {
        // Computation of others hides communication of named calls, too.
        for row in selection.anytime_work().filter(|row| classes[*row] == WorkClass::Computation) {
            computing.entry(trace.device(row)).or_default().push(selection.time(row));
        }
    }
    for row in selection.device_work() {
        let device = trace.device(row);
        match classes[row] {
            WorkClass::Computation => computing.entry(device).or_default().push(selection.time(row)),
            WorkClass::Communication => {
                for (is_single, kind) in [(false, Cow::Borrowed(ALL)), (true, names.name(row as u32))] {
                    talking.entry((device, is_single, kind)).or_default().push(selection.time(row));
                }
            }
            WorkClass::Memory | WorkClass::Other => {}
        }
    }
    computing.values_mut().for_each(|ranges| *ranges = union(std::mem::take(ranges)));
    let row = |((device, _, kind), ranges): ((Option<i64>, bool, Cow<'_, str>), Vec<TimeRange>)| {
        let (count, ranges) = (ranges.len() as u64, union(ranges));
        let total_ns = total_ns(&ranges);
        let hidden = computing.get(&device).map(|computing| intersection(&ranges, computing));
        let hidden_ns = super::interval::total_ns(&hidden.unwrap_or_default());
        let (exposed_ns, hidden_share) = (total_ns - hidden_ns, hidden_ns as f64 / total_ns.max(1) as f64);
        OverlapRow { device, collective: kind.into_owned(), count, total_ns, hidden_ns, exposed_ns, hidden_share }
    };
    talking.into_iter().map(row).collect()
}

const ALL: &str = "all";
