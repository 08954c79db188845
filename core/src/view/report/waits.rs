//! Writes the section on idle time.

use super::grid::{CellKind, ReportGrid, col};
use super::report_frame::ReportFrame;
use super::section::{ReportSection, SectionOutcome};
use super::source::{ReportSource, table, top};
use crate::analyze::AnalysisResult;

const MAX_ROWS: usize = 16;
const MAX_GAPS: usize = 12;

/// The meaning of the causes.
const WORDS: &str = "<p class=\"ks-note\"><b>host_wait</b> the host launched the next work only after the stream had run dry · \
    <b>kernel_wait</b> it was launched in time, and began almost at once · <b>other</b> it was launched in time, and waited \
    for something else, such as another stream. While a stream waits, others may work.</p>";

const WHY: ReportGrid = ReportGrid {
    analysis: "idle",
    request: "{}",
    table: "idle",
    title: "Idle time of streams, by its reason",
    columns: &[
        col("rank", "rank", CellKind::Key),
        col("device", "device", CellKind::Key),
        col("stream", "stream", CellKind::Key),
        col("category", "reason", CellKind::Word),
        col("share", "share", CellKind::Share),
        col("total_ns", "total", CellKind::Time),
        col("count", "gaps", CellKind::Count),
        col("mean_ns", "mean", CellKind::Time),
        col("max_ns", "longest", CellKind::Time),
    ],
};

const GAPS: ReportGrid = ReportGrid {
    analysis: "idle",
    request: "{}",
    table: "gaps",
    title: "The longest gaps before computation, and what the host did in them",
    columns: &[
        col("rank", "rank", CellKind::Key),
        col("device", "device", CellKind::Key),
        col("stream", "stream", CellKind::Key),
        col("dur_ns", "gap", CellKind::Time),
        col("category", "reason", CellKind::Word),
        col("host_name", "mostly", CellKind::Name),
        col("host_ns", "of it", CellKind::Time),
        col("start_ns", "Gap", CellKind::Range),
    ],
};

pub(super) fn section(source: &ReportSource<'_>) -> SectionOutcome {
    let title = "Why streams waited";
    let Some(answer) = source.ask("idle", "{}") else { return SectionOutcome::Nothing };
    let (why, gaps) = (top(source, &answer, "idle", ("total_ns", MAX_ROWS)), gaps(source, &answer));
    if why.num_rows == 0 {
        return SectionOutcome::Nothing;
    }
    SectionOutcome::Section(ReportSection::half(
        "idle",
        title,
        WHY.html(source, &why) + WORDS + &GAPS.html(source, &gaps),
    ))
}

/// The longest, but for those that a communication ends: when that begins, the other ranks have a
/// say in.
fn gaps(source: &ReportSource<'_>, answer: &AnalysisResult) -> ReportFrame {
    let Some(found) = table(answer, "gaps") else { return ReportFrame::default() };
    let all = ReportFrame::of(&**found, usize::MAX);
    let is_wanted = |row: &usize| !source.is_communication(&all, *row, "after_id");
    let mut rows: Vec<_> = (0..all.num_rows).filter(is_wanted).collect();
    let num_rows = rows.len();
    crate::sort::by_key(&mut rows, |row| (std::cmp::Reverse(all.int("dur_ns", *row)), *row));
    ReportFrame::picked(found, rows.into_iter().take(MAX_GAPS).map(|row| row as u32).collect(), num_rows)
}
