//! Lists the breakdown as `gpu_timeline` of `TraceLens` does: a row per category.

use super::row::BreakdownRow;
use crate::analyze::class::WorkClass;
use crate::link::LinkedTrace;
use crate::table::{Column, Table, float, int, put_name, text};
use crate::trace::kind::EventKind;

/// A part of a device's time in a span.
#[derive(Debug, Clone, Copy)]
pub(super) struct GpuTimelineRow {
    iteration: Option<i64>,
    device: Option<i64>,
    part: &'static str,
    total_ns: i64,
    share: f64,
}

pub(super) static TABLE: Table<Vec<GpuTimelineRow>> = Table {
    name: "gpu_timeline",
    doc: "one category of a device's time in a span",
    num_rows: Vec::len,
    columns: COLUMNS,
};

const COLUMNS: &[Column<Vec<GpuTimelineRow>>] = &[
    int("iteration", |rows, at| rows[at].iteration),
    int("device", |rows, at| rows[at].device),
    text("type", |rows, at, out| put_name(out, rows[at].part)),
    int("total_ns", |rows, at| Some(rows[at].total_ns)),
    float("share", |rows, at| Some(rows[at].share)),
];

/// The class of a row as `TraceLens` has it: fills compute.
pub(super) fn class<'a>(linked: &'a LinkedTrace, classes: &'a [WorkClass]) -> impl Fn(usize) -> WorkClass + 'a {
    |row| if linked.trace.events.kind[row] == EventKind::Fill { WorkClass::Computation } else { classes[row] }
}

/// `unknown_time` is ours: there alone where there is any, so that other programs' tables compare.
pub(super) fn rows(row: &BreakdownRow) -> Vec<GpuTimelineRow> {
    let parts = [
        ("computation_time", row.compute_ns),
        ("exposed_comm_time", row.exposed_communication_ns),
        ("exposed_memcpy_time", row.exposed_copy_ns),
        ("busy_time", row.busy_ns),
        ("micro_idle_time", row.micro_idle_ns),
        ("macro_idle_time", row.idle_ns - row.micro_idle_ns),
        ("total_time", row.span_ns),
        ("total_comm_time", row.communication_ns),
        ("total_memcpy_time", row.copy_ns),
        ("unknown_time", row.unknown_ns),
    ];
    let is_there = |(part, total_ns): &(&str, i64)| *part != "unknown_time" || *total_ns > 0;
    let timeline_row = |(part, total_ns): (&'static str, i64)| GpuTimelineRow {
        iteration: row.iteration,
        device: row.device,
        part,
        total_ns,
        share: total_ns as f64 / row.span_ns.max(1) as f64,
    };
    parts.into_iter().filter(is_there).map(timeline_row).collect()
}
