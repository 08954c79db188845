//! Writes the section on the critical path.

use super::grid::{CellKind, ReportGrid, col};
use super::section::{ReportSection, SectionOutcome};
use super::source::{ReportSource, frame};

const MAX_ROWS: usize = 12;
const MAX_RANKS: usize = 256;

const BOUND: ReportGrid = ReportGrid {
    analysis: "critical_path",
    request: "{}",
    table: "critical_path_bound",
    title: "The longest chain of what waited for what",
    columns: &[
        col("bound_by", "bound by", CellKind::Word),
        col("share", "share", CellKind::Share),
        col("total_ns", "total", CellKind::Time),
    ],
};

const OPERATORS: ReportGrid = ReportGrid {
    analysis: "critical_path",
    request: "{}",
    table: "critical_path_operators",
    title: "What is on it",
    columns: &[
        col("name", "name", CellKind::Name),
        col("kind", "kind", CellKind::Word),
        col("share", "share", CellKind::Share),
        col("total_ns", "total", CellKind::Time),
        col("count", "steps", CellKind::Count),
    ],
};

const RANKS: ReportGrid = ReportGrid {
    analysis: "job_critical_path",
    request: "{}",
    table: "job_critical_path_ranks",
    title: "Through which ranks it leads",
    columns: &[
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
};

pub(super) fn section(source: &ReportSource<'_>) -> SectionOutcome {
    let title = "Critical path";
    let name = if source.is_job() { "job_critical_path" } else { "critical_path" };
    let Some(answer) = source.ask(name, "{}") else { return SectionOutcome::Nothing };
    let bound = frame(&answer, "critical_path_bound", MAX_ROWS);
    if bound.num_rows == 0 {
        return SectionOutcome::Missing { title, why: answer.reason.unwrap_or("there is none") };
    }
    let body = if source.is_job() {
        let bound_of_job = ReportGrid { analysis: "job_critical_path", ..BOUND };
        bound_of_job.html(source, &bound) + &RANKS.html(source, &frame(&answer, "job_critical_path_ranks", MAX_RANKS))
    } else {
        BOUND.html(source, &bound) + &OPERATORS.html(source, &frame(&answer, "critical_path_operators", MAX_ROWS))
    };
    SectionOutcome::Section(ReportSection::half("critical_path", title, body))
}
