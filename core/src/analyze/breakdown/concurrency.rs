//! Measures which classes of work ran on a device at the same time.

use super::ranges::{DeviceTimeline, DeviceTimelines, UNKNOWN, bit};
use super::span::BreakdownSpan;
use crate::analyze::class::WorkClass;
use crate::table::{Column, Table, float, int, put_name, text};

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

/// Time of each span and device by the set of classes that run; sets that never do have no row.
/// They add up to the span.
pub(super) fn concurrency(busy: &DeviceTimelines, spans: &[BreakdownSpan]) -> Vec<ConcurrencyRow> {
    let of_device = |span: &BreakdownSpan, device: Option<i64>, timeline: &DeviceTimeline| {
        let (iteration, span_ns) = (span.iteration, timeline.len_ns(span.range).max(1) as f64);
        let sets = (0..).zip(timeline.inside(span.range).by_code).filter(|(_, total_ns)| *total_ns > 0);
        let row = move |(classes, total_ns)| {
            let share = total_ns as f64 / span_ns;
            ConcurrencyRow { iteration, device, classes, total_ns, share }
        };
        sets.map(row).collect::<Vec<_>>()
    };
    let of_span = |span: &BreakdownSpan| {
        let span = *span;
        busy.iter().flat_map(move |(device, timeline)| of_device(&span, *device, timeline))
    };
    spans.iter().flat_map(of_span).collect()
}
