//! Writes the section on pipelines: stages, and the passes of micro-batches over time.

use maud::html;

use super::grid::{CellKind, ReportGrid, col};
use super::requests::OPTIONS;
use super::section::SectionOutcome;
use super::source::{ReportResult, ReportSource, frame};
use crate::analyze::tables;
use crate::view::chart::figure;

const MAX_STAGES: usize = 256;

const STAGES: ReportGrid = ReportGrid::of(
    "pipeline",
    &tables::PIPELINE,
    "Stages",
    &[
        col("pipeline", "pipeline", CellKind::Key),
        col("stage", "stage", CellKind::Count),
        col("rank", "rank", CellKind::Count),
        col("schedule", "schedule", CellKind::Word),
        col("num_micro_batches", "micro-batches", CellKind::Count),
        col("mean_forward_ns", "mean forward", CellKind::Time),
        col("mean_backward_ns", "mean backward", CellKind::Time),
        col("bubble_ns", "bubble", CellKind::Time),
        col("bubble_share", "bubble share", CellKind::Share),
        col("ideal_bubble_share", "ideal share", CellKind::Share),
    ],
);

/// Nothing without a pipeline.
pub(super) fn section(source: &ReportSource<'_>) -> ReportResult<SectionOutcome> {
    if !source.is_job() {
        return Ok(SectionOutcome::Nothing);
    }
    let answer = source.ask(STAGES.analysis, OPTIONS)?;
    let stages = frame(&answer, STAGES.table, MAX_STAGES)?;
    let passes = answer.tables.iter().find(|table| Some(table.name()) == answer.drawn);
    let passes = passes.filter(|table| table.num_rows() > 0);
    if stages.num_rows == 0 {
        return Ok(SectionOutcome::Nothing);
    }
    Ok(SectionOutcome::wide(html! {
        (STAGES.html(source, &stages))
        @if let Some(passes) = passes {
            figure class="ks-picture ks-narrow" { (figure(&**passes, answer.plot, None)) }
        }
    }))
}
