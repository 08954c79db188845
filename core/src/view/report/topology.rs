//! Writes the section on the topology of a job: machines, process groups, and who waits for whom.

use std::collections::BTreeSet;

use maud::html;

use super::grid::{CellKind, ReportGrid, col};
use super::report_frame::ReportFrame;
use super::requests::OPTIONS;
use super::section::SectionOutcome;
use super::source::{ReportResult, ReportSource, frame, table};
use crate::analyze::{known_analysis, tables};
use crate::table::{TableColumn, TableRows};
use crate::view::chart::figure;

const MAX_ROWS: usize = 12;
const DIVISION: TableColumn = tables::RANK_PLACES.column("division");
const NUMBER: TableColumn = tables::RANK_PLACES.column("number");

// Scripts of a page have no topology to save.
const GROUPS: ReportGrid = ReportGrid::unsaved(
    &tables::TOPOLOGY,
    "Process groups by wait",
    &[
        col("group_desc", "description", CellKind::Name),
        col("group_name", "group", CellKind::Name),
        col("group_size", "ranks", CellKind::Count),
        col("reach", "machines", CellKind::Word),
        col("wait_ns", "wait", CellKind::Time),
        col("awaited_rank", "most awaited rank", CellKind::Count),
        col("awaited_ns", "wait for it", CellKind::Time),
        col("count", "calls", CellKind::Count),
        col("bytes", "bytes", CellKind::Bytes),
        col("ranks", "list of ranks", CellKind::Name),
    ],
)
.by("wait_ns");

const PAIRS: ReportGrid = ReportGrid::unsaved(
    &tables::WAITING_PAIRS,
    "Pairs of ranks with the longest waits",
    &[
        col("rank", "rank", CellKind::Count),
        col("awaited_rank", "waits for rank", CellKind::Count),
        col("count", "times", CellKind::Count),
        col("wait_ns", "wait", CellKind::Time),
        col("max_wait_ns", "longest", CellKind::Time),
    ],
)
.by("wait_ns");

/// Nothing for a single trace, or if no rank waits and nothing divides the ranks.
pub(super) fn section(source: &ReportSource<'_>) -> ReportResult<SectionOutcome> {
    if !source.is_job() {
        return Ok(SectionOutcome::Nothing);
    }
    let answer = source.ask(known_analysis("topology").name, OPTIONS)?;
    let groups = frame(&answer, GROUPS.table, MAX_ROWS)?;
    let pairs = frame(&answer, PAIRS.table, MAX_ROWS)?;
    let places = table(&answer, tables::RANK_PLACES.name)?;
    if groups.num_rows == 0 {
        return Ok(SectionOutcome::missing(answer.reason.as_ref(), "no communication was recorded"));
    }
    Ok(SectionOutcome::wide(html! {
        @if num_divisions(&**places) > 1 {
            figure class="ks-picture ks-narrow" { (figure(&**places, answer.plot, None)) }
        }
        div class="ks-pair" { (GROUPS.html(source, &groups)) (PAIRS.html(source, &pairs)) }
    }))
}

/// Ways in which the ranks are divided into several sets; one alone says nothing.
fn num_divisions(places: &dyn TableRows) -> usize {
    let frame = ReportFrame::of(places, usize::MAX);
    let is_further = |row: &usize| frame.int(NUMBER, *row) > Some(0);
    let names: BTreeSet<_> = (0..frame.num_rows).filter(is_further).map(|row| frame.text(DIVISION, row)).collect();
    names.len()
}
