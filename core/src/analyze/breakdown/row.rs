//! Computes how each device spent a span.

use serde::Serialize;

use super::ranges::{DeviceActivity, DeviceRanges};
use super::span::BreakdownSpan;
use crate::analyze::class::WorkClass;
use crate::analyze::interval::{difference, intersection, total_ns, union, within};
use crate::table::{Column, Table, int};
use crate::time::TimeRange;

/// Default threshold in ns: shorter idle times lie between consecutive kernels.
pub const MICRO_NS: i64 = 5_000;

/// How a device spent a span. The six parts add up to it: `span_ns = compute_ns +
/// exposed_communication_ns + exposed_copy_ns + exposed_other_ns + idle_ns + unknown_ns`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct BreakdownRow {
    /// The number of the iteration, where there are any.
    pub iteration: Option<i64>,
    /// The number of the device, where the file gives one.
    pub device: Option<i64>,
    /// Start of the span, as the file counts time.
    pub start_ns: i64,
    /// Length of the span.
    pub span_ns: i64,
    /// Time with computation running.
    pub compute_ns: i64,
    /// Time with communication running, and no computation.
    pub exposed_communication_ns: i64,
    /// Time with copies or fills running, and neither of these.
    pub exposed_copy_ns: i64,
    /// Time with other work running, and none of these.
    pub exposed_other_ns: i64,
    /// Time with nothing running.
    pub idle_ns: i64,
    /// Time without recorded work in which lost work may have run.
    pub unknown_ns: i64,
    /// The part of it in gaps below the threshold.
    pub micro_idle_ns: i64,
    /// Time with anything running: `span_ns - idle_ns - unknown_ns`.
    pub busy_ns: i64,
    /// Time with communication running.
    pub communication_ns: i64,
    /// The part of it with computation running, too: `communication_ns - exposed_communication_ns`.
    pub overlap_ns: i64,
    /// Time with copies or fills running.
    pub copy_ns: i64,
}

pub(crate) static TABLE: Table<Vec<BreakdownRow>> = Table {
    name: "breakdown",
    doc: "the time of one device in a span, by class of work",
    num_rows: Vec::len,
    columns: COLUMNS,
};

pub(super) const COLUMNS: &[Column<Vec<BreakdownRow>>] = &[
    int("iteration", |rows, at| rows[at].iteration),
    int("device", |rows, at| rows[at].device),
    int("start_ns", |rows, at| Some(rows[at].start_ns)),
    int("span_ns", |rows, at| Some(rows[at].span_ns)),
    int("compute_ns", |rows, at| Some(rows[at].compute_ns)),
    int("exposed_communication_ns", |rows, at| Some(rows[at].exposed_communication_ns)),
    int("exposed_copy_ns", |rows, at| Some(rows[at].exposed_copy_ns)),
    int("exposed_other_ns", |rows, at| Some(rows[at].exposed_other_ns)),
    int("idle_ns", |rows, at| Some(rows[at].idle_ns)),
    int("micro_idle_ns", |rows, at| Some(rows[at].micro_idle_ns)),
    int("busy_ns", |rows, at| Some(rows[at].busy_ns)),
    int("communication_ns", |rows, at| Some(rows[at].communication_ns)),
    int("overlap_ns", |rows, at| Some(rows[at].overlap_ns)),
    int("copy_ns", |rows, at| Some(rows[at].copy_ns)),
    int("unknown_ns", |rows, at| Some(rows[at].unknown_ns)),
];

pub(super) fn rows(busy: &DeviceRanges, spans: &[BreakdownSpan], micro_ns: i64) -> Vec<BreakdownRow> {
    let of_span = |span: &BreakdownSpan| {
        let span = *span;
        busy.iter().map(move |(device, activity)| row(span, *device, activity, micro_ns))
    };
    spans.iter().flat_map(of_span).collect()
}

fn row(span: BreakdownSpan, device: Option<i64>, activity: &DeviceActivity, micro_ns: i64) -> BreakdownRow {
    let inside = |class: WorkClass| within(&activity.by_class[class as usize], span.range);
    let (compute, communication) = (inside(WorkClass::Computation), inside(WorkClass::Communication));
    let (memory, other) = (inside(WorkClass::Memory), inside(WorkClass::Other));
    let exposed_communication = difference(&communication, &compute);
    let computing = union([compute.as_slice(), &communication].concat());
    let exposed_copy = difference(&memory, &computing);
    let known = union([computing.as_slice(), &memory].concat());
    let exposed_other = difference(&other, &known);
    let all = union([known.as_slice(), &other].concat());
    let silent = difference(&[span.range], &all);
    let unknown = intersection(&silent, &activity.unknown);
    let idle = difference(&silent, &unknown);
    let is_micro = |range: &&TimeRange| range.dur().0 < micro_ns;
    BreakdownRow {
        iteration: span.iteration,
        device,
        start_ns: span.range.start.0,
        span_ns: span.range.dur().0,
        compute_ns: total_ns(&compute),
        exposed_communication_ns: total_ns(&exposed_communication),
        exposed_copy_ns: total_ns(&exposed_copy),
        exposed_other_ns: total_ns(&exposed_other),
        idle_ns: total_ns(&idle),
        unknown_ns: total_ns(&unknown),
        micro_idle_ns: idle.iter().filter(is_micro).map(|range| range.dur().0).sum(),
        busy_ns: total_ns(&all),
        communication_ns: total_ns(&communication),
        overlap_ns: total_ns(&intersection(&communication, &compute)),
        copy_ns: total_ns(&memory),
    }
}
