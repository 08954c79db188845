//! Writes the section on communication: cost, overlap and waits.

use maud::html;

use super::grid::{CellKind, ReportGrid, col};
use super::requests::OPTIONS;
use super::section::SectionOutcome;
use super::source::{ReportResult, ReportSource, frame};
use crate::analyze::tables;

const MAX_ROWS: usize = 50;
const MAX_RANKS: usize = 256;

const SUMMARY: ReportGrid = ReportGrid::of(
    "collectives",
    &tables::COLLECTIVE_SUMMARY,
    "Collectives by kind and size",
    &[
        col("collective", "collective", CellKind::Word),
        col("group_desc", "group", CellKind::Word),
        col("group_size", "ranks", CellKind::Count),
        col("dtype", "type", CellKind::Word),
        col("bytes", "size", CellKind::Bytes),
        col("count", "count", CellKind::Count),
        col("total_ns", "total", CellKind::Time),
        col("wait_ns", "wait", CellKind::Time),
        col("transfer_ns", "transfer", CellKind::Time),
        col("median_bus_gbps", "bus GB/s", CellKind::Number),
    ],
)
.by("total_ns");

const HIDDEN: ReportGrid = ReportGrid::of(
    "overlap",
    &tables::OVERLAP,
    "Overlap with computation",
    &[
        col("rank", "rank", CellKind::Key),
        col("device", "device", CellKind::Key),
        col("collective", "collective", CellKind::Word),
        col("count", "count", CellKind::Count),
        col("total_ns", "total", CellKind::Time),
        col("exposed_ns", "exposed", CellKind::Time),
        col("hidden_share", "hidden", CellKind::Share),
    ],
);

const SKEW: ReportGrid = ReportGrid::of(
    "collectives",
    &tables::COLLECTIVE_SKEW,
    "Collectives with waits",
    &[
        col("collective", "collective", CellKind::Word),
        col("group_desc", "group", CellKind::Word),
        col("iteration", "iteration", CellKind::Count),
        col("num_traces", "ranks", CellKind::Count),
        col("out_bytes", "size", CellKind::Bytes),
        col("skew_ns", "arrival skew", CellKind::Time),
        col("wait_ns", "total wait", CellKind::Time),
        col("transfer_ns", "transfer", CellKind::Time),
        col("bus_gbps", "bus GB/s", CellKind::Number),
        col("first_rank", "first rank", CellKind::Count),
        col("last_rank", "last rank", CellKind::Count),
    ],
)
.by("wait_ns");

const STRAGGLERS: ReportGrid = ReportGrid::of(
    "stragglers",
    &tables::STRAGGLERS,
    "Ranks by caused wait",
    &[
        col("rank", "rank", CellKind::Count),
        col("window", "window", CellKind::Key),
        col("caused_wait_ns", "caused wait", CellKind::Time),
        col("wait_ns", "own wait", CellKind::Time),
        col("last_share", "arrived last", CellKind::Share),
        col("num_last", "times last", CellKind::Count),
        col("num_first", "times first", CellKind::Count),
        col("cause", "main cause", CellKind::Word),
    ],
)
.by("caused_wait_ns");

const LATE: ReportGrid = ReportGrid::of(
    "stragglers",
    &tables::LATE_ARRIVALS,
    "Costliest late arrivals, with their causes",
    &[
        col("rank", "rank", CellKind::Count),
        col("collective", "collective", CellKind::Word),
        col("iteration", "iteration", CellKind::Count),
        col("lateness_ns", "late by", CellKind::Time),
        col("caused_wait_ns", "caused wait", CellKind::Time),
        col("cause", "cause", CellKind::Word),
        col("name", "main activity", CellKind::Name),
        col("excess_ns", "extra time", CellKind::Time),
    ],
)
.by("caused_wait_ns");

/// Waits between ranks; only with several ranks.
pub(super) fn ranks(source: &ReportSource<'_>) -> ReportResult<SectionOutcome> {
    if !source.is_job() {
        return Ok(SectionOutcome::Nothing);
    }
    let answer = source.ask(STRAGGLERS.analysis, OPTIONS)?;
    let rows = frame(&answer, STRAGGLERS.table, MAX_RANKS)?;
    let late = frame(&answer, LATE.table, MAX_ROWS)?;
    if rows.num_rows == 0 {
        return Ok(SectionOutcome::missing(answer.reason.as_ref(), "no two ranks share a collective"));
    }
    // Both have too many columns to stand beside each other.
    Ok(SectionOutcome::wide(html! {
        @if let Some(missing) = source.missing_ranks() {
            p class="ks-note" { "Waits are among the " (missing.words()) ". A missing rank may be the latest." }
        }
        (STRAGGLERS.html(source, &rows))
        (LATE.html(source, &late))
    }))
}

pub(super) fn section(source: &ReportSource<'_>) -> ReportResult<SectionOutcome> {
    let (answer, overlap) = (source.ask(SUMMARY.analysis, OPTIONS)?, source.ask(HIDDEN.analysis, OPTIONS)?);
    let summary = frame(&answer, SUMMARY.table, MAX_ROWS)?;
    let hidden = frame(&overlap, HIDDEN.table, MAX_ROWS)?;
    let skew = frame(&answer, SKEW.table, MAX_ROWS)?;
    if summary.num_rows + hidden.num_rows == 0 {
        let is_missed = source.is_job();
        let missing = SectionOutcome::missing(answer.reason.as_ref(), "no collective was recorded");
        return Ok(if is_missed { missing } else { SectionOutcome::Nothing });
    }
    Ok(SectionOutcome::wide(html! {
        div class="ks-pair" { (SUMMARY.html(source, &summary)) (HIDDEN.html(source, &hidden)) }
        @if source.is_job() { (SKEW.html(source, &skew)) }
    }))
}
