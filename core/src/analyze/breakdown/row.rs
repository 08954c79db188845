//! Computes how each device spent a span.

use serde::Serialize;

use super::ranges::{DeviceTimeline, DeviceTimelines, UNKNOWN, bit};
use super::span::BreakdownSpan;
use crate::analyze::class::WorkClass;
use crate::table::{Column, Table, int};
use crate::time::add_ns;

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

impl BreakdownRow {
    /// Adds the times of another span.
    pub(super) fn add(&mut self, other: &Self) {
        for (ns, other) in [
            (&mut self.span_ns, other.span_ns),
            (&mut self.compute_ns, other.compute_ns),
            (&mut self.exposed_communication_ns, other.exposed_communication_ns),
            (&mut self.exposed_copy_ns, other.exposed_copy_ns),
            (&mut self.exposed_other_ns, other.exposed_other_ns),
            (&mut self.idle_ns, other.idle_ns),
            (&mut self.unknown_ns, other.unknown_ns),
            (&mut self.micro_idle_ns, other.micro_idle_ns),
            (&mut self.busy_ns, other.busy_ns),
            (&mut self.communication_ns, other.communication_ns),
            (&mut self.overlap_ns, other.overlap_ns),
            (&mut self.copy_ns, other.copy_ns),
        ] {
            add_ns(ns, other);
        }
    }
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

pub(super) fn rows(busy: &DeviceTimelines, spans: &[BreakdownSpan]) -> Vec<BreakdownRow> {
    let of_span = |span: &BreakdownSpan| {
        let span = *span;
        busy.iter().map(move |(device, timeline)| row(span, *device, timeline))
    };
    spans.iter().flat_map(of_span).collect()
}

fn row(span: BreakdownSpan, device: Option<i64>, timeline: &DeviceTimeline) -> BreakdownRow {
    let sums = timeline.inside(span.range);
    let [compute, communication] = [bit(WorkClass::Computation), bit(WorkClass::Communication)];
    let [copy, other] = [bit(WorkClass::Memory), bit(WorkClass::Other)];
    let with = |class: u8, without: u8| sums.of(|set| set != UNKNOWN && set & class != 0 && set & without == 0);
    BreakdownRow {
        iteration: span.iteration,
        device,
        start_ns: span.range.start.0,
        span_ns: timeline.len_ns(span.range),
        compute_ns: with(compute, 0),
        exposed_communication_ns: with(communication, compute),
        exposed_copy_ns: with(copy, compute | communication),
        exposed_other_ns: with(other, compute | communication | copy),
        idle_ns: sums.by_code[0],
        unknown_ns: sums.by_code[usize::from(UNKNOWN)],
        micro_idle_ns: sums.micro_ns,
        busy_ns: with(compute | communication | copy | other, 0),
        communication_ns: with(communication, 0),
        overlap_ns: with(communication, 0) - with(communication, compute),
        copy_ns: with(copy, 0),
    }
}
