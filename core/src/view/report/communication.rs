//! Writes the section on communication: cost, overlap and waits.

use super::grid::{CellKind, ReportGrid, col};
use super::section::{ReportSection, SectionOutcome};
use super::source::{ReportSource, frame};

const MAX_ROWS: usize = 50;
const MAX_RANKS: usize = 256;

const SUMMARY: ReportGrid = ReportGrid {
    analysis: "collectives",
    request: "{}",
    table: "collective_summary",
    title: "Communications of a kind together",
    columns: &[
        col("collective", "communication", CellKind::Word),
        col("group_desc", "group", CellKind::Word),
        col("group_size", "ranks", CellKind::Count),
        col("dtype", "type", CellKind::Word),
        col("bytes", "size", CellKind::Bytes),
        col("count", "count", CellKind::Count),
        col("total_ns", "total", CellKind::Time),
        col("wait_ns", "waiting", CellKind::Time),
        col("transfer_ns", "moving data", CellKind::Time),
        col("median_bus_gbps", "bus, GB/s", CellKind::Number),
    ],
};

const HIDDEN: ReportGrid = ReportGrid {
    analysis: "overlap",
    request: "{}",
    table: "overlap",
    title: "What computation hides of it",
    columns: &[
        col("rank", "rank", CellKind::Key),
        col("device", "device", CellKind::Key),
        col("collective", "communication", CellKind::Word),
        col("count", "count", CellKind::Count),
        col("total_ns", "total", CellKind::Time),
        col("exposed_ns", "exposed", CellKind::Time),
        col("hidden_share", "hidden", CellKind::Share),
    ],
};

const SKEW: ReportGrid = ReportGrid {
    analysis: "collectives",
    request: "{}",
    table: "collective_skew",
    title: "Communications in which ranks waited",
    columns: &[
        col("collective", "communication", CellKind::Word),
        col("group_desc", "group", CellKind::Word),
        col("iteration", "iteration", CellKind::Count),
        col("num_traces", "ranks", CellKind::Count),
        col("out_bytes", "size", CellKind::Bytes),
        col("skew_ns", "first to last", CellKind::Time),
        col("wait_ns", "total wait", CellKind::Time),
        col("transfer_ns", "moving data", CellKind::Time),
        col("bus_gbps", "bus, GB/s", CellKind::Number),
        col("first_rank", "first", CellKind::Count),
        col("last_rank", "last", CellKind::Count),
    ],
};

const STRAGGLERS: ReportGrid = ReportGrid {
    analysis: "stragglers",
    request: "{}",
    table: "stragglers",
    title: "Ranks, those that others waited for most at the top",
    columns: &[
        col("rank", "rank", CellKind::Count),
        col("window", "window", CellKind::Key),
        col("caused_wait_ns", "others waited", CellKind::Time),
        col("wait_ns", "waited itself", CellKind::Time),
        col("last_share", "came last", CellKind::Share),
        col("num_last", "times last", CellKind::Count),
        col("num_first", "times first", CellKind::Count),
        col("cause", "mostly for its", CellKind::Word),
    ],
};

const LATE: ReportGrid = ReportGrid {
    analysis: "stragglers",
    request: "{}",
    table: "late_arrivals",
    title: "The costliest late arrivals, and what took that rank longer",
    columns: &[
        col("rank", "rank", CellKind::Count),
        col("collective", "communication", CellKind::Word),
        col("iteration", "iteration", CellKind::Count),
        col("lateness_ns", "late by", CellKind::Time),
        col("caused_wait_ns", "others waited", CellKind::Time),
        col("cause", "for its", CellKind::Word),
        col("name", "mostly", CellKind::Name),
        col("name_ns", "longer by", CellKind::Time),
    ],
};

/// Waits between ranks; only with several ranks.
pub(super) fn ranks(source: &ReportSource<'_>) -> SectionOutcome {
    let title = "Stragglers";
    if !source.is_job() {
        return SectionOutcome::Nothing;
    }
    let Some(answer) = source.ask("stragglers", "{}") else { return SectionOutcome::Nothing };
    let rows = frame(&answer, "stragglers", MAX_RANKS);
    if rows.num_rows == 0 {
        return SectionOutcome::Missing {
            title,
            why: answer.reason.unwrap_or("no two ranks have a communication in common"),
        };
    }
    let late = LATE.html(source, &frame(&answer, "late_arrivals", MAX_ROWS));
    // Both have too many columns to stand beside each other.
    SectionOutcome::Section(ReportSection::wide("stragglers", title, STRAGGLERS.html(source, &rows) + &late))
}

pub(super) fn section(source: &ReportSource<'_>) -> SectionOutcome {
    let Some(answer) = source.ask("collectives", "{}") else { return SectionOutcome::Nothing };
    let summary = frame(&answer, "collective_summary", MAX_ROWS);
    let hidden = source.ask("overlap", "{}").map(|answer| frame(&answer, "overlap", MAX_ROWS)).unwrap_or_default();
    if summary.num_rows + hidden.num_rows == 0 {
        let title = "Communication";
        return if source.is_job() {
            SectionOutcome::Missing { title, why: answer.reason.unwrap_or("no communication was recorded") }
        } else {
            SectionOutcome::Nothing
        };
    }
    let skew =
        if source.is_job() { SKEW.html(source, &frame(&answer, "collective_skew", MAX_ROWS)) } else { String::new() };
    let body = format!(
        "<div class=\"ks-pair\">{}{}</div>{skew}",
        SUMMARY.html(source, &summary),
        HIDDEN.html(source, &hidden)
    );
    SectionOutcome::Section(ReportSection::wide("communication", "Communication", body))
}
