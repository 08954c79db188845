//! Writes the section on the roofline.

use super::grid::{CellKind, ReportGrid, col};
use super::report_frame::ReportFrame;
use super::section::{ReportSection, SectionOutcome};
use super::source::{ReportSource, frame, table, top, top_of};
use super::words::decimal;
use crate::analyze::AnalysisResult;
use crate::view::chart::figure;

const MAX_ROWS: usize = 50;
/// Beside the chart, which is about as high.
const FEW: usize = 12;

const OPERATORS: ReportGrid = ReportGrid {
    analysis: "roofline",
    request: "{}",
    table: "roofline",
    title: "Operators by shape, against what the device can do",
    columns: &[
        col("rank", "rank", CellKind::Key),
        col("name", "operator", CellKind::Name),
        col("input_shapes", "shapes", CellKind::Name),
        col("dtype", "type", CellKind::Word),
        col("count", "calls", CellKind::Count),
        col("total_ns", "device", CellKind::Time),
        col("tflops", "TFLOP/s", CellKind::Number),
        col("gbps", "GB/s", CellKind::Number),
        col("bound", "bound by", CellKind::Word),
        col("share_of_peak", "of the roof", CellKind::Share),
        col("longest_id", "Longest call", CellKind::Event),
    ],
};

const ITERATIONS: ReportGrid = ReportGrid {
    analysis: "roofline",
    request: "{}",
    table: "roofline_iterations",
    title: "Operations by iteration",
    columns: &[
        col("rank", "rank", CellKind::Key),
        col("iteration", "iteration", CellKind::Count),
        col("dur_ns", "duration", CellKind::Time),
        col("tflops", "TFLOP/s", CellKind::Number),
        col("share_of_peak", "of the peak", CellKind::Share),
    ],
};

/// The same where the peak is known.
const UTILISATION: ReportGrid =
    ReportGrid { title: "By iteration: how much of the device's peak was used (MFU)", ..ITERATIONS };

const UNMODELLED: ReportGrid = ReportGrid {
    analysis: "roofline",
    request: "{}",
    table: "roofline_unmodelled",
    title: "Not counted",
    columns: &[
        col("rank", "rank", CellKind::Key),
        col("name", "operator", CellKind::Name),
        col("reason", "why", CellKind::Word),
        col("count", "calls", CellKind::Count),
        col("total_ns", "device", CellKind::Time),
    ],
};

/// Only where operators record shapes.
pub(super) fn section(source: &ReportSource<'_>) -> SectionOutcome {
    let Some(answer) = source.ask("roofline", "{}") else { return SectionOutcome::Nothing };
    let rows = top(source, &answer, "roofline", ("total_ns", MAX_ROWS));
    if rows.num_rows == 0 || !(0..rows.num_rows).any(|row| rows.number("flops", row).is_some()) {
        return SectionOutcome::Missing {
            title: "Roofline",
            why: answer.reason.unwrap_or("no shapes were recorded (`record_shapes=True` records them)"),
        };
    }
    // Of more than there is room for, those that took longest.
    let iterations = top_of(&answer, "roofline_iterations", ("dur_ns", FEW));
    let has_peak = (0..iterations.num_rows).any(|row| iterations.number("share_of_peak", row).is_some());
    let beside = [
        if has_peak { &UTILISATION } else { &ITERATIONS }.html(source, &iterations),
        UNMODELLED.html(source, &top(source, &answer, "roofline_unmodelled", ("total_ns", FEW))),
    ];
    let body = format!(
        "<div class=\"ks-pair\">{}<div>{}</div></div>{}",
        chart(&answer).unwrap_or_default(),
        beside.concat(),
        OPERATORS.html(source, &rows)
    );
    SectionOutcome::Section(ReportSection::wide("roofline", "Roofline", body).with_note(device(&answer)))
}

/// None where no operator computed anything, but only moved bytes.
fn chart(answer: &AnalysisResult) -> Option<String> {
    let table = table(answer, answer.drawn.unwrap_or("roofline"))?;
    let all = ReportFrame::of(&**table, usize::MAX);
    let computes = (0..all.num_rows).any(|row| all.number("tflops", row).is_some_and(|tflops| tflops > 0.0));
    computes.then(|| format!("<figure class=\"ks-picture\">{}</figure>", figure(&**table, answer.plot, answer.reason)))
}

/// The devices that the roof is of, or why there is none.
fn device(answer: &AnalysisResult) -> String {
    let devices = frame(answer, "roofline_device", MAX_ROWS);
    let told = |row: usize| {
        let (peaks, bandwidth) = (devices.text("peaks_of", row)?, devices.number("bandwidth_gbps", row)?);
        Some(format!("of {peaks}: {} GB/s", decimal(bandwidth, 0)))
    };
    let rows = 0..devices.num_rows;
    let mut all: Vec<_> = rows.clone().filter_map(told).collect();
    all.dedup();
    if all.is_empty() {
        let mut reasons = rows.filter_map(|row| devices.text("reason", row));
        return reasons.next().unwrap_or_default().to_owned();
    }
    all.join(" · ")
}
