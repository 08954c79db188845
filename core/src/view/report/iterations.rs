//! Writes the section on iterations: durations, parts, and the slowest.

use maud::{Markup, html};

use super::grid::{CellKind, ReportGrid, col};
use super::part::{DEVICE, PARTS, SPAN};
use super::report_frame::ReportFrame;
use super::requests::OPTIONS;
use super::section::SectionOutcome;
use super::source::{ReportResult, ReportSource, frame, top_of};
use super::words::{count, plural};
use crate::analyze::{AnalysisResult, tables};
use crate::table::TableColumn;
use crate::view::chart::{ChartPillar, pillars};

/// More pillars would be too thin to distinguish.
const MAX_PILLARS: usize = 240;
const MAX_ROWS: usize = 240;
const NO_DEVICE: &str = "no device work was recorded, and this section divides the device time of iterations";
const NO_ITERATION: &str = "no iteration is marked; call `prof.step()` at the end of each iteration";

const GRID: ReportGrid = ReportGrid::of(
    "breakdown",
    &tables::BREAKDOWN,
    "Device time by iteration",
    &[
        col("iteration", "iteration", CellKind::Count),
        col("rank", "rank", CellKind::Key),
        col("device", "device", CellKind::Key),
        col("span_ns", "duration", CellKind::Time),
        col("compute_ns", "compute", CellKind::Time),
        col("exposed_communication_ns", "exposed comm.", CellKind::Time),
        col("exposed_copy_ns", "exposed copies", CellKind::Time),
        col("exposed_other_ns", "other work", CellKind::Time),
        col("idle_ns", "idle", CellKind::Time),
        col("unknown_ns", "unknown", CellKind::Time),
        col("start_ns", "Iteration", CellKind::Range("span_ns")),
    ],
);

const PHASES: ReportGrid = ReportGrid::of(
    "breakdown",
    &tables::PHASES,
    "Phases of the serving engine",
    &[
        col("phase", "phase", CellKind::Word),
        col("rank", "rank", CellKind::Key),
        col("device", "device", CellKind::Key),
        col("num_iterations", "iterations", CellKind::Count),
        col("num_requests", "requests", CellKind::Count),
        col("num_context_tokens", "prompt tokens", CellKind::Count),
        col("num_generated_tokens", "new tokens", CellKind::Count),
        col("tokens_per_s", "tokens/s", CellKind::Number),
        col("first_token_ns", "time to first token", CellKind::Time),
        col("output_token_ns", "time per token", CellKind::Time),
        col("span_ns", "duration", CellKind::Time),
        col("compute_ns", "compute", CellKind::Time),
        col("idle_ns", "idle", CellKind::Time),
    ],
);

const ITERATION: TableColumn = tables::BREAKDOWN.column("iteration");
const START: TableColumn = tables::BREAKDOWN.column("start_ns");

pub(super) fn section(source: &ReportSource<'_>) -> ReportResult<SectionOutcome> {
    let answer = source.ask(GRID.analysis, OPTIONS)?;
    let frame = frame(&answer, GRID.table, usize::MAX)?;
    // Of more than a page should have, those that took longest.
    let longest = top_of(&answer, SPAN, MAX_ROWS)?;
    let rows: Vec<usize> = (0..frame.num_rows).filter(|row| frame.int(ITERATION, *row).is_some()).collect();
    let slowest = rows.iter().copied().rev().max_by_key(|row| frame.int(SPAN, *row));
    let Some(slowest) = slowest else {
        let is_marked = source.facts().any(|(_, facts)| facts.time.has_iterations);
        let reason = if is_marked { NO_DEVICE } else { NO_ITERATION };
        return Ok(SectionOutcome::missing(None, reason));
    };
    let rank = frame.rank(slowest).map_or_else(String::new, |rank| format!(" on rank {rank}"));
    let number = count(frame.int(ITERATION, slowest).unwrap_or_default());
    let phases = frame_of_phases(&answer)?;
    let grid = html! {
        @if let Some(phases) = phases { (PHASES.html(source, &phases)) }
        (GRID.html(source, &longest))
    };
    // A single line chart would leave half of the page empty.
    Ok(match rows.len() {
        1 => SectionOutcome::wide(grid).with_note(plural(1, "iteration")),
        _ => SectionOutcome::half(html! { (chart(source, &frame, &rows, slowest)) (grid) })
            .with_note(format!("slowest: {number}{rank}")),
    })
}

/// The phases, where a serving engine marks any.
fn frame_of_phases(answer: &AnalysisResult) -> ReportResult<Option<ReportFrame>> {
    Ok(Some(frame(answer, PHASES.table, MAX_ROWS)?).filter(|frame| frame.num_rows > 0))
}

/// A pillar per iteration, rank and device, in order of iterations.
fn chart(source: &ReportSource<'_>, frame: &ReportFrame, rows: &[usize], slowest: usize) -> Markup {
    let mut rows = rows.to_vec();
    crate::sort::by_key(&mut rows, |row| (frame.int(ITERATION, *row), *row));
    // Of those that share a pillar's place, the longest is seen.
    let num_each = rows.len().div_ceil(MAX_PILLARS).max(1);
    let longest = |some: &[usize]| some.iter().copied().rev().max_by_key(|row| frame.int(SPAN, *row));
    let rows: Vec<usize> = rows.chunks(num_each).filter_map(longest).collect();
    // Where all are of one iteration, ranks tell them apart.
    let is_one = rows.iter().all(|row| frame.int(ITERATION, *row) == frame.int(ITERATION, rows[0]));
    let parts = PARTS.map(|part| (part.title, part.class));
    let pillar = |row: &usize| {
        let (number, span_ns) = (frame.int(ITERATION, *row), frame.int(SPAN, *row).unwrap_or_default());
        let word = |name: &str, number: Option<i64>| number.map(|number| format!(", {name} {number}"));
        let words = [word("rank", frame.rank(*row)), word("device", frame.int(DEVICE, *row))];
        let name = format!("iteration {}{}", number.unwrap_or_default(), words.map(Option::unwrap_or_default).concat());
        ChartPillar {
            name,
            label: match frame.rank(*row).filter(|_| is_one) {
                Some(rank) => format!("rank {rank}"),
                None => number.unwrap_or_default().to_string(),
            },
            address: frame.int(START, *row).and_then(|start_ns| source.range(frame, *row, (start_ns, span_ns))),
            parts: PARTS.iter().map(|part| frame.number(part.column, *row).unwrap_or(0.0).max(0.0)).collect(),
            is_marked: *row == slowest,
        }
    };
    let all: Vec<_> = rows.iter().map(pillar).collect();
    let title = match num_each {
        1 => String::from("Duration of each iteration"),
        _ => format!("Duration of iterations: each bar is the longest of {num_each}"),
    };
    html! { figure class="ks-picture" { (pillars(&title, &all, &parts)) } }
}
