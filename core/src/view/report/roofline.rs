//! Writes the section on the roofline.

use maud::html;

use super::grid::{CellKind, ReportGrid, col};
use super::report_frame::ReportFrame;
use super::requests::OPTIONS;
use super::section::SectionOutcome;
use super::source::{ReportResult, ReportSource, frame, table, top, top_of};
use super::words::decimal;
use crate::analyze::tables;
use crate::table::{TableColumn, TableRows};
use crate::view::chart::figure;

const MAX_ROWS: usize = 50;
/// Rows of a table beside the chart, to match its height.
const FEW: usize = 12;

const OPERATORS: ReportGrid = ReportGrid::of(
    "roofline",
    &tables::ROOFLINE,
    "Operators by shape, relative to device peaks",
    &[
        col("rank", "rank", CellKind::Key),
        col("name", "operator", CellKind::Name),
        col("input_shapes", "shapes", CellKind::Name),
        col("dtype", "type", CellKind::Word),
        col("count", "calls", CellKind::Count),
        col("total_ns", "device", CellKind::Time),
        col("tflops", "TFLOP/s", CellKind::Number),
        col("gbps", "GB/s", CellKind::Number),
        col("bound", "bound by", CellKind::Word),
        col("share_of_peak", "share of roofline", CellKind::Share),
        col("longest_id", "Longest call", CellKind::Event),
    ],
)
.by("total_ns");

/// The iterations of a device whose peak is known.
const UTILISATION: ReportGrid = ReportGrid::of(
    "roofline",
    &tables::ROOFLINE_ITERATIONS,
    "Model FLOP utilisation (MFU) by iteration",
    &[
        col("rank", "rank", CellKind::Key),
        col("iteration", "iteration", CellKind::Count),
        col("dur_ns", "duration", CellKind::Time),
        col("tflops", "TFLOP/s", CellKind::Number),
        col("share_of_peak", "at least, of peak", CellKind::Share),
        col("covered_share", "of computation covered", CellKind::Share),
    ],
);

/// The iterations of other devices, and those of which less than half is counted.
const ITERATIONS: ReportGrid = ReportGrid::of(
    "roofline",
    &tables::ROOFLINE_ITERATIONS,
    "Operations by iteration",
    &[
        col("rank", "rank", CellKind::Key),
        col("iteration", "iteration", CellKind::Count),
        col("dur_ns", "duration", CellKind::Time),
        col("tflops", "TFLOP/s", CellKind::Number),
        col("covered_share", "of computation covered", CellKind::Share),
    ],
);

/// Least share of computation that is counted where a share of the peak says anything.
const LEAST_COVERED: f64 = 0.5;

const UNMODELLED: ReportGrid = ReportGrid::of(
    "roofline",
    &tables::ROOFLINE_UNMODELLED,
    "Operators not counted",
    &[
        col("rank", "rank", CellKind::Key),
        col("name", "operator", CellKind::Name),
        col("reason", "reason", CellKind::Word),
        col("count", "calls", CellKind::Count),
        col("total_ns", "device", CellKind::Time),
    ],
)
.by("total_ns");

const BYTES: TableColumn = tables::ROOFLINE.column("bytes");
const TFLOPS: TableColumn = tables::ROOFLINE.column("tflops");
const SHARE_OF_PEAK: TableColumn = tables::ROOFLINE_ITERATIONS.column("share_of_peak");
const COVERED: TableColumn = tables::ROOFLINE_ITERATIONS.column("covered_share");
const PEAKS_OF: TableColumn = tables::ROOFLINE_DEVICE.column("peaks_of");
const BANDWIDTH: TableColumn = tables::ROOFLINE_DEVICE.column("bandwidth_gbps");
const REASON: TableColumn = tables::ROOFLINE_DEVICE.column("reason");

/// The roofline; it needs operators with recorded shapes.
pub(super) fn section(source: &ReportSource<'_>) -> ReportResult<SectionOutcome> {
    let answer = source.ask(OPERATORS.analysis, OPTIONS)?;
    let rows = top(source, &answer, tables::ROOFLINE.column("total_ns"), MAX_ROWS)?;
    // Of more than there is room for, those that took longest.
    let iterations = top_of(&answer, tables::ROOFLINE_ITERATIONS.column("dur_ns"), FEW)?;
    let unmodelled = top(source, &answer, tables::ROOFLINE_UNMODELLED.column("total_ns"), FEW)?;
    let devices = frame(&answer, tables::ROOFLINE_DEVICE.name, MAX_ROWS)?;
    let drawn = table(&answer, answer.drawn.unwrap_or(OPERATORS.table))?;
    if !(0..rows.num_rows).any(|row| rows.number(BYTES, row).is_some()) {
        let reason = "no shapes were recorded; `record_shapes=True` records them";
        return Ok(SectionOutcome::missing(answer.reason.as_ref(), reason));
    }
    let tells = |row| {
        let covered = iterations.number(COVERED, row).unwrap_or_default();
        iterations.number(SHARE_OF_PEAK, row).is_some() && covered >= LEAST_COVERED
    };
    let has_peak = iterations.num_rows > 0 && (0..iterations.num_rows).all(tells);
    let grid = if has_peak { &UTILISATION } else { &ITERATIONS };
    let body = html! {
        div class="ks-pair" {
            @if computes(&**drawn) { figure class="ks-picture" { (figure(&**drawn, answer.plot, answer.reason.as_deref())) } }
            div { (grid.html(source, &iterations)) (UNMODELLED.html(source, &unmodelled)) }
        }
        (OPERATORS.html(source, &rows))
    };
    Ok(SectionOutcome::wide(body).with_note(device(&devices)))
}

/// Whether an operator computed anything: others only move bytes and have no place in the chart.
fn computes(operators: &dyn TableRows) -> bool {
    let all = ReportFrame::of(operators, usize::MAX);
    (0..all.num_rows).any(|row| all.number(TFLOPS, row).is_some_and(|tflops| tflops > 0.0))
}

/// The devices whose peaks are used, or the reason for having none.
fn device(devices: &ReportFrame) -> String {
    let told = |row: usize| {
        let (peaks, bandwidth) = (devices.text(PEAKS_OF, row)?, devices.number(BANDWIDTH, row)?);
        Some(format!("peaks of {peaks}: {} GB/s", decimal(bandwidth, 0)))
    };
    let rows = 0..devices.num_rows;
    let mut all: Vec<_> = rows.clone().filter_map(told).collect();
    all.dedup();
    if all.is_empty() {
        let mut reasons = rows.filter_map(|row| devices.text(REASON, row));
        return reasons.next().unwrap_or_default().to_owned();
    }
    all.join(" · ")
}
