//! How near operators came to what the device can do.

use super::frame::Frame;
use super::grid::{Grid, Kind, col};
use super::section::{Found, Section};
use super::source::{Source, frame, table, top, top_of};
use super::words::decimal;
use crate::analyze::Answer;
use crate::view::chart::figure;

const MAX_ROWS: usize = 50;
/// Beside the chart, which is about as high.
const FEW: usize = 12;

const OPERATORS: Grid = Grid {
    analysis: "roofline",
    request: "{}",
    table: "roofline",
    title: "Operators by shape, against what the device can do",
    columns: &[
        col("rank", "rank", Kind::Key),
        col("name", "operator", Kind::Name),
        col("input_shapes", "shapes", Kind::Name),
        col("dtype", "type", Kind::Word),
        col("count", "calls", Kind::Count),
        col("total_ns", "device", Kind::Time),
        col("tflops", "TFLOP/s", Kind::Number),
        col("gbps", "GB/s", Kind::Number),
        col("bound", "bound by", Kind::Word),
        col("share_of_peak", "of the roof", Kind::Share),
        col("longest_id", "Longest call", Kind::Event),
    ],
};

const ITERATIONS: Grid = Grid {
    analysis: "roofline",
    request: "{}",
    table: "roofline_iterations",
    title: "Operations by iteration",
    columns: &[
        col("rank", "rank", Kind::Key),
        col("iteration", "iteration", Kind::Count),
        col("dur_ns", "duration", Kind::Time),
        col("tflops", "TFLOP/s", Kind::Number),
        col("share_of_peak", "of the peak", Kind::Share),
    ],
};

/// The same where the peak is known.
const UTILISATION: Grid = Grid { title: "By iteration: how much of the device's peak was used (MFU)", ..ITERATIONS };

const UNMODELLED: Grid = Grid {
    analysis: "roofline",
    request: "{}",
    table: "roofline_unmodelled",
    title: "Not counted",
    columns: &[
        col("rank", "rank", Kind::Key),
        col("name", "operator", Kind::Name),
        col("reason", "why", Kind::Word),
        col("count", "calls", Kind::Count),
        col("total_ns", "device", Kind::Time),
    ],
};

/// Only where the shapes of operators say what they computed.
pub(super) fn section(source: &Source<'_>) -> Found {
    let Some(answer) = source.ask("roofline", "{}") else { return Found::Nothing };
    let rows = top(source, &answer, "roofline", ("total_ns", MAX_ROWS));
    if rows.num_rows == 0 || !(0..rows.num_rows).any(|row| rows.number("flops", row).is_some()) {
        return Found::Missing {
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
    Found::Section(Section::wide("roofline", "Roofline", body).with_note(device(&answer)))
}

/// None where no operator computed anything, but only moved bytes.
fn chart(answer: &Answer) -> Option<String> {
    let table = table(answer, answer.drawn.unwrap_or("roofline"))?;
    let all = Frame::of(&**table, usize::MAX);
    let computes = (0..all.num_rows).any(|row| all.number("tflops", row).is_some_and(|tflops| tflops > 0.0));
    computes.then(|| format!("<figure class=\"ks-picture\">{}</figure>", figure(&**table, answer.plot, answer.reason)))
}

/// The devices that the roof is of, or why there is none.
fn device(answer: &Answer) -> String {
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
