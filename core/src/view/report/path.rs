//! Writes the section on the critical path.

use maud::html;

use super::grid::{CellKind, ReportGrid, col};
use super::requests::OPTIONS;
use super::section::SectionOutcome;
use super::source::{ReportResult, ReportSource, frame};
use crate::analyze::tables;

const MAX_ROWS: usize = 12;
const MAX_RANKS: usize = 256;

const BOUND: ReportGrid = ReportGrid::of(
    "critical_path",
    &tables::CRITICAL_PATH_BOUND,
    "Critical path by bound",
    &[
        col("bound_by", "bound by", CellKind::Word),
        col("share", "share", CellKind::Share),
        col("total_ns", "total", CellKind::Time),
    ],
)
.by("total_ns");

const OPERATORS: ReportGrid = ReportGrid::of(
    "critical_path",
    &tables::CRITICAL_PATH_OPERATORS,
    "Events on the critical path",
    &[
        col("name", "name", CellKind::Name),
        col("kind", "kind", CellKind::Word),
        col("share", "share", CellKind::Share),
        col("total_ns", "total", CellKind::Time),
        col("count", "steps", CellKind::Count),
    ],
)
.by("total_ns");

const RANKS: ReportGrid = ReportGrid::of(
    "job_critical_path",
    &tables::JOB_CRITICAL_PATH_RANKS,
    "Critical path by rank",
    &[
        col("rank", "rank", CellKind::Count),
        col("window", "window", CellKind::Key),
        col("share", "share", CellKind::Share),
        col("path_ns", "on the path", CellKind::Time),
        col("host_ns", "host", CellKind::Time),
        col("compute_ns", "compute", CellKind::Time),
        col("communication_ns", "comm.", CellKind::Time),
        col("copy_ns", "copies", CellKind::Time),
        col("launch_ns", "launches", CellKind::Time),
        col("wait_ns", "waits", CellKind::Time),
        col("data_loading_ns", "data loading", CellKind::Time),
    ],
);

/// The bounds of the path through all ranks.
const BOUND_OF_JOB: ReportGrid = BOUND.in_analysis("job_critical_path");

pub(super) fn section(source: &ReportSource<'_>) -> ReportResult<SectionOutcome> {
    let (bound_grid, grid) = if source.is_job() { (&BOUND_OF_JOB, &RANKS) } else { (&BOUND, &OPERATORS) };
    let answer = source.ask(grid.analysis, OPTIONS)?;
    let bound = frame(&answer, bound_grid.table, MAX_ROWS)?;
    let rows = frame(&answer, grid.table, if source.is_job() { MAX_RANKS } else { MAX_ROWS })?;
    if bound.num_rows == 0 {
        return Ok(SectionOutcome::missing(answer.reason.as_ref(), "no event has a known dependency"));
    }
    let about = html! {
        p class="ks-note" {
            "The path gives each moment to what the end of the step waited for. Communication during which the step "
            "waits for the host counts as " b { "host" } " here, and as exposed communication in the device time."
        }
    };
    Ok(SectionOutcome::half(html! { (bound_grid.html(source, &bound)) (about) (grid.html(source, &rows)) }))
}
