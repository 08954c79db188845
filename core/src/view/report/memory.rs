//! Writes the section on memory over time.

use maud::html;

use super::grid::{CellKind, ReportGrid, col};
use super::requests::OPTIONS;
use super::section::SectionOutcome;
use super::source::{ReportResult, ReportSource, frame, table, top};
use crate::analyze::tables;
use crate::view::chart::figure;

const MAX_ROWS: usize = 50;

const DEVICES: ReportGrid = ReportGrid::of(
    "memory",
    &tables::MEMORY,
    "Memory by device",
    &[
        col("rank", "rank", CellKind::Key),
        col("device", "device", CellKind::Word),
        col("peak_allocated_bytes", "peak allocated", CellKind::Bytes),
        col("peak_reserved_bytes", "peak reserved", CellKind::Bytes),
        col("first_bytes", "at start", CellKind::Bytes),
        col("last_bytes", "at end", CellKind::Bytes),
        col("num_allocations", "allocations", CellKind::Count),
        col("num_releases", "releases", CellKind::Count),
    ],
);

const CATEGORIES: ReportGrid = ReportGrid::of(
    "memory",
    &tables::MEMORY_CATEGORIES,
    "Memory by category",
    &[
        col("rank", "rank", CellKind::Key),
        col("device", "device", CellKind::Key),
        col("category", "category", CellKind::Word),
        col("peak_bytes", "at peak", CellKind::Bytes),
        col("kept_bytes", "never released", CellKind::Bytes),
        col("num_allocations", "allocations", CellKind::Count),
    ],
)
.by("peak_bytes");

const OWNERS: ReportGrid = ReportGrid::of(
    "memory",
    &tables::MEMORY_OWNERS,
    "Memory by operator, module and line",
    &[
        col("rank", "rank", CellKind::Key),
        col("device", "device", CellKind::Key),
        col("operator", "operator", CellKind::Name),
        col("module", "module", CellKind::Name),
        col("line", "line", CellKind::Name),
        col("peak_bytes", "at peak", CellKind::Bytes),
        col("kept_bytes", "never released", CellKind::Bytes),
        col("allocated_bytes", "allocated", CellKind::Bytes),
        col("num_allocations", "allocations", CellKind::Count),
    ],
)
.by("peak_bytes");

pub(super) fn section(source: &ReportSource<'_>) -> ReportResult<SectionOutcome> {
    let answer = source.ask(DEVICES.analysis, OPTIONS)?;
    let devices = frame(&answer, DEVICES.table, MAX_ROWS)?;
    let categories = frame(&answer, CATEGORIES.table, MAX_ROWS)?;
    let owners = top(source, &answer, tables::MEMORY_OWNERS.column("peak_bytes"), MAX_ROWS)?;
    let drawn = table(&answer, answer.drawn.unwrap_or(DEVICES.table))?;
    let bands = table(&answer, tables::MEMORY_BANDS.name)?;
    if devices.num_rows == 0 {
        return Ok(SectionOutcome::missing(answer.reason.as_ref(), "no allocation was recorded"));
    }
    Ok(SectionOutcome::wide(html! {
        figure class="ks-picture" { (figure(&**bands, Some(tables::BANDS_OVER_TIME), None)) }
        div class="ks-pair" {
            div {
                figure class="ks-picture" data-analysis=[source.saved(DEVICES.analysis)]
                    data-table=[source.saved(drawn.name())] data-options=[source.saved(OPTIONS)] {
                    (figure(&**drawn, answer.plot, answer.reason.as_deref()))
                    figcaption {}
                }
                (DEVICES.html(source, &devices))
                (CATEGORIES.html(source, &categories))
            }
            (OWNERS.html(source, &owners))
        }
    }))
}
