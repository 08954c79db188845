//! Writes the section on iterations: durations, parts, and the slowest.

use super::grid::{CellKind, ReportGrid, col};
use super::part::PARTS;
use super::report_frame::ReportFrame;
use super::section::{ReportSection, SectionOutcome};
use super::source::{ReportSource, frame, top_of};
use super::words::{count, plural};
use crate::view::chart::{ChartPillar, pillars};

/// More could not be told apart.
const MAX_PILLARS: usize = 240;
const MAX_ROWS: usize = 240;

const GRID: ReportGrid = ReportGrid {
    analysis: "breakdown",
    request: "{}",
    table: "breakdown",
    title: "By iteration",
    columns: &[
        col("iteration", "iteration", CellKind::Count),
        col("rank", "rank", CellKind::Key),
        col("device", "device", CellKind::Key),
        col("span_ns", "duration", CellKind::Time),
        col("compute_ns", "compute", CellKind::Time),
        col("exposed_communication_ns", "exposed comm.", CellKind::Time),
        col("exposed_copy_ns", "exposed copies", CellKind::Time),
        col("exposed_other_ns", "other work", CellKind::Time),
        col("idle_ns", "idle", CellKind::Time),
        col("start_ns", "Iteration", CellKind::Range),
    ],
};

pub(super) fn section(source: &ReportSource<'_>) -> SectionOutcome {
    let title = "Iterations";
    let Some(answer) = source.ask("breakdown", "{}") else { return SectionOutcome::Nothing };
    let frame = frame(&answer, "breakdown", usize::MAX);
    let rows: Vec<usize> = (0..frame.num_rows).filter(|row| frame.int("iteration", *row).is_some()).collect();
    let slowest = rows.iter().copied().rev().max_by_key(|row| frame.int("span_ns", *row));
    let Some(slowest) = slowest else {
        return SectionOutcome::Missing { title, why: "none was marked (call `prof.step()` at the end of each)" };
    };
    let rank = frame.int("rank", slowest).map_or_else(String::new, |rank| format!(" on rank {rank}"));
    let number = count(frame.int("iteration", slowest).unwrap_or_default());
    // Of more than a page should have, those that took longest.
    let grid = GRID.html(source, &top_of(&answer, "breakdown", ("span_ns", MAX_ROWS)));
    // A single line chart would leave half of the page empty.
    let section = match rows.len() {
        1 => ReportSection::wide("iterations", title, grid).with_note(plural(1, "iteration")),
        _ => ReportSection::half("iterations", title, chart(source, &frame, &rows, slowest) + &grid)
            .with_note(format!("slowest: {number}{rank}")),
    };
    SectionOutcome::Section(section)
}

/// A pillar for each, in the order of time, those of one iteration beside each other.
fn chart(source: &ReportSource<'_>, frame: &ReportFrame, rows: &[usize], slowest: usize) -> String {
    let mut rows = rows.to_vec();
    crate::sort::by_key(&mut rows, |row| (frame.int("iteration", *row), *row));
    // Of those that share a pillar's place, the longest is seen.
    let num_each = rows.len().div_ceil(MAX_PILLARS).max(1);
    let longest = |some: &[usize]| some.iter().copied().rev().max_by_key(|row| frame.int("span_ns", *row));
    let rows: Vec<usize> = rows.chunks(num_each).filter_map(longest).collect();
    // Where all are of one iteration, ranks tell them apart.
    let is_one = rows.iter().all(|row| frame.int("iteration", *row) == frame.int("iteration", rows[0]));
    let parts = PARTS.map(|part| (part.title, part.class));
    let pillar = |row: &usize| {
        let (number, span_ns) = (frame.int("iteration", *row), frame.int("span_ns", *row).unwrap_or_default());
        let word = |name: &str| frame.int(name, *row).map(|number| format!(", {name} {number}")).unwrap_or_default();
        let name = format!("iteration {}{}{}", number.unwrap_or_default(), word("rank"), word("device"));
        ChartPillar {
            name,
            label: match frame.int("rank", *row).filter(|_| is_one) {
                Some(rank) => format!("rank {rank}"),
                None => number.unwrap_or_default().to_string(),
            },
            address: frame.int("start_ns", *row).and_then(|start_ns| source.range(frame, *row, (start_ns, span_ns))),
            parts: PARTS.iter().map(|part| frame.number(part.column, *row).unwrap_or(0.0).max(0.0)).collect(),
            is_marked: *row == slowest,
        }
    };
    let all: Vec<_> = rows.iter().map(pillar).collect();
    let title = match num_each {
        1 => String::from("Time of each iteration"),
        _ => format!("Time of iterations, of every {num_each} the longest"),
    };
    format!("<figure class=\"ks-picture\">{}</figure>", pillars(&title, &all, &parts))
}
