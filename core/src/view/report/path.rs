//! The critical path: what it is put to, and whose time it is.

use super::grid::{Grid, Kind, col};
use super::section::{Found, Section};
use super::source::{Source, frame};

const MAX_ROWS: usize = 12;
const MAX_RANKS: usize = 256;

const BOUND: Grid = Grid {
    analysis: "critical_path",
    request: "{}",
    table: "critical_path_bound",
    title: "The longest chain of what waited for what",
    columns: &[
        col("bound_by", "bound by", Kind::Word),
        col("share", "share", Kind::Share),
        col("total_ns", "total", Kind::Time),
    ],
};

const OPERATORS: Grid = Grid {
    analysis: "critical_path",
    request: "{}",
    table: "critical_path_operators",
    title: "What is on it",
    columns: &[
        col("name", "name", Kind::Name),
        col("kind", "kind", Kind::Word),
        col("share", "share", Kind::Share),
        col("total_ns", "total", Kind::Time),
        col("count", "steps", Kind::Count),
    ],
};

const RANKS: Grid = Grid {
    analysis: "job_critical_path",
    request: "{}",
    table: "job_critical_path_ranks",
    title: "Through which ranks it leads",
    columns: &[
        col("rank", "rank", Kind::Count),
        col("window", "window", Kind::Key),
        col("share", "share", Kind::Share),
        col("path_ns", "on the path", Kind::Time),
        col("host_ns", "host", Kind::Time),
        col("compute_ns", "compute", Kind::Time),
        col("communication_ns", "comm.", Kind::Time),
        col("copy_ns", "copies", Kind::Time),
        col("launch_ns", "launches", Kind::Time),
        col("wait_ns", "waits", Kind::Time),
        col("data_loading_ns", "data loading", Kind::Time),
    ],
};

pub(super) fn section(source: &Source<'_>) -> Found {
    let title = "Critical path";
    let name = if source.is_job() { "job_critical_path" } else { "critical_path" };
    let Some(answer) = source.ask(name, "{}") else { return Found::Nothing };
    let bound = frame(&answer, "critical_path_bound", MAX_ROWS);
    if bound.num_rows == 0 {
        return Found::Missing { title, why: answer.reason.unwrap_or("there is none") };
    }
    let body = if source.is_job() {
        let bound_of_job = Grid { analysis: "job_critical_path", ..BOUND };
        bound_of_job.html(source, &bound) + &RANKS.html(source, &frame(&answer, "job_critical_path_ranks", MAX_RANKS))
    } else {
        BOUND.html(source, &bound) + &OPERATORS.html(source, &frame(&answer, "critical_path_operators", MAX_ROWS))
    };
    Found::Section(Section::half("critical_path", title, body))
}
