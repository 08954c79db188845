//! Writes the section on idle time.

use std::sync::Arc;

use maud::{Markup, html};

use super::grid::{CellKind, ReportGrid, col};
use super::report_frame::ReportFrame;
use super::requests::OPTIONS;
use super::section::SectionOutcome;
use super::source::{ReportResult, ReportSource, table, top};
use crate::analyze::{WorkClass, tables};
use crate::table::{TableColumn, TableRows};

const MAX_ROWS: usize = 16;
const MAX_GAPS: usize = 12;

/// The meaning of the causes.
fn legend() -> Markup {
    html! {
        p class="ks-note" {
            b { "host_wait" } ": the host launched the next work after the stream ran dry · "
            b { "kernel_wait" } ": the work was launched in time and started almost at once · "
            b { "other" } ": the work was launched in time but waited for something else, such as another stream. "
            "Other streams may be busy during a gap."
        }
    }
}

const WHY: ReportGrid = ReportGrid::of(
    "idle",
    &tables::IDLE,
    "Idle time of streams by cause",
    &[
        col("rank", "rank", CellKind::Key),
        col("device", "device", CellKind::Key),
        col("stream", "stream", CellKind::Key),
        col("category", "cause", CellKind::Word),
        col("share", "share", CellKind::Share),
        col("total_ns", "total", CellKind::Time),
        col("count", "gaps", CellKind::Count),
        col("mean_ns", "mean", CellKind::Time),
        col("max_ns", "longest", CellKind::Time),
    ],
);

const GAPS: ReportGrid = ReportGrid::of(
    "idle",
    &tables::GAPS,
    "Longest gaps before computation, with host activity",
    &[
        col("rank", "rank", CellKind::Key),
        col("device", "device", CellKind::Key),
        col("stream", "stream", CellKind::Key),
        col("dur_ns", "gap", CellKind::Time),
        col("category", "cause", CellKind::Word),
        col("host_event_name", "host activity", CellKind::Name),
        col("host_ns", "host time", CellKind::Time),
        col("after_id", "Gap", CellKind::Gap),
    ],
)
.by("dur_ns");

const DUR: TableColumn = tables::GAPS.column("dur_ns");
const AFTER_CLASS: TableColumn = tables::GAPS.column("after_class");

pub(super) fn section(source: &ReportSource<'_>) -> ReportResult<SectionOutcome> {
    let answer = source.ask(WHY.analysis, OPTIONS)?;
    let why = top(source, &answer, tables::IDLE.column("total_ns"), MAX_ROWS)?;
    let gaps = gaps(table(&answer, GAPS.table)?);
    if why.num_rows == 0 {
        return Ok(SectionOutcome::Nothing);
    }
    Ok(SectionOutcome::half(html! { (WHY.html(source, &why)) (legend()) (GAPS.html(source, &gaps)) }))
}

/// The longest gaps, without those that a collective ends: its start depends on other ranks.
pub(super) fn gaps(found: &Arc<dyn TableRows>) -> ReportFrame {
    let all = ReportFrame::of(&**found, usize::MAX);
    let is_wanted = |row: &usize| all.text(AFTER_CLASS, *row) != Some(WorkClass::Communication.name());
    let mut rows: Vec<_> = (0..all.num_rows).filter(is_wanted).collect();
    let num_rows = rows.len();
    crate::sort::by_key(&mut rows, |row| (std::cmp::Reverse(all.int(DUR, *row)), *row));
    ReportFrame::picked(found, rows.into_iter().take(MAX_GAPS).map(|row| row as u32).collect(), num_rows)
}
