//! Writes the section on idle time.

use std::sync::Arc;

use maud::{Markup, html};

use super::grid::{CellKind, OPTIONS, ReportGrid, col};
use super::report_frame::ReportFrame;
use super::section::SectionOutcome;
use super::source::{ReportResult, ReportSource, table, top};
use crate::analyze::tables;
use crate::table::{TableColumn, TableRows};

const MAX_ROWS: usize = 16;
const MAX_GAPS: usize = 12;

/// The meaning of the causes.
fn legend() -> Markup {
    html! {
        p class="ks-note" {
            b { "host_wait" } " the host launched the next work only after the stream had run dry · "
            b { "kernel_wait" } " it was launched in time, and began almost at once · "
            b { "other" } " it was launched in time, and waited for something else, such as another stream. "
            "While a stream waits, others may work."
        }
    }
}

const WHY: ReportGrid = ReportGrid::of(
    "idle",
    &tables::IDLE,
    "Idle time of streams, by its reason",
    &[
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
);

const GAPS: ReportGrid = ReportGrid::of(
    "idle",
    &tables::GAPS,
    "The longest gaps before computation, and what the host did in them",
    &[
        col("rank", "rank", CellKind::Key),
        col("device", "device", CellKind::Key),
        col("stream", "stream", CellKind::Key),
        col("dur_ns", "gap", CellKind::Time),
        col("category", "reason", CellKind::Word),
        col("host_name", "mostly", CellKind::Name),
        col("host_ns", "of it", CellKind::Time),
        col("start_ns", "Gap", CellKind::Range("dur_ns")),
    ],
);

const DUR: TableColumn = tables::GAPS.column("dur_ns");
/// The event that ends a gap.
const AFTER: TableColumn = tables::GAPS.column("after_id");

pub(super) fn section(source: &ReportSource<'_>) -> ReportResult<SectionOutcome> {
    let answer = source.ask(WHY.analysis, OPTIONS)?;
    let why = top(source, &answer, tables::IDLE.column("total_ns"), MAX_ROWS)?;
    let gaps = gaps(source, table(&answer, GAPS.table)?);
    if why.num_rows == 0 {
        return Ok(SectionOutcome::Nothing);
    }
    Ok(SectionOutcome::half(html! { (WHY.html(source, &why)) (legend()) (GAPS.html(source, &gaps)) }))
}

/// The longest, but for those that a communication ends: when that begins, the other ranks have a
/// say in.
fn gaps(source: &ReportSource<'_>, found: &Arc<dyn TableRows>) -> ReportFrame {
    let all = ReportFrame::of(&**found, usize::MAX);
    let is_wanted = |row: &usize| !source.is_communication(&all, *row, AFTER);
    let mut rows: Vec<_> = (0..all.num_rows).filter(is_wanted).collect();
    let num_rows = rows.len();
    crate::sort::by_key(&mut rows, |row| (std::cmp::Reverse(all.int(DUR, *row)), *row));
    ReportFrame::picked(found, rows.into_iter().take(MAX_GAPS).map(|row| row as u32).collect(), num_rows)
}
