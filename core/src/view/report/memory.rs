//! Writes the section on memory over time.

use super::grid::{CellKind, ReportGrid, col};
use super::section::{ReportSection, SectionOutcome};
use super::source::{ReportSource, frame, table, top};
use crate::view::chart::figure;

const MAX_ROWS: usize = 50;

const DEVICES: ReportGrid = ReportGrid {
    analysis: "memory",
    request: "{}",
    table: "memory",
    title: "Memory by device",
    columns: &[
        col("rank", "rank", CellKind::Key),
        col("device", "device", CellKind::Word),
        col("peak_allocated_bytes", "most allocated", CellKind::Bytes),
        col("peak_reserved_bytes", "most reserved", CellKind::Bytes),
        col("first_bytes", "at first", CellKind::Bytes),
        col("last_bytes", "at last", CellKind::Bytes),
        col("num_allocations", "allocations", CellKind::Count),
        col("num_releases", "releases", CellKind::Count),
    ],
};

const CATEGORIES: ReportGrid = ReportGrid {
    analysis: "memory",
    request: "{}",
    table: "memory_categories",
    title: "By what it was for",
    columns: &[
        col("rank", "rank", CellKind::Key),
        col("device", "device", CellKind::Key),
        col("category", "for", CellKind::Word),
        col("peak_bytes", "at the peak", CellKind::Bytes),
        col("kept_bytes", "kept", CellKind::Bytes),
        col("num_allocations", "allocations", CellKind::Count),
    ],
};

const OWNERS: ReportGrid = ReportGrid {
    analysis: "memory",
    request: "{}",
    table: "memory_owners",
    title: "By operator and module",
    columns: &[
        col("rank", "rank", CellKind::Key),
        col("device", "device", CellKind::Key),
        col("operator", "operator", CellKind::Name),
        col("module", "module", CellKind::Name),
        col("peak_bytes", "at the peak", CellKind::Bytes),
        col("kept_bytes", "kept", CellKind::Bytes),
        col("allocated_bytes", "allocated", CellKind::Bytes),
        col("num_allocations", "allocations", CellKind::Count),
    ],
};

pub(super) fn section(source: &ReportSource<'_>) -> SectionOutcome {
    let title = "Memory";
    let Some(answer) = source.ask("memory", "{}") else { return SectionOutcome::Nothing };
    let devices = frame(&answer, "memory", MAX_ROWS);
    if devices.num_rows == 0 {
        return SectionOutcome::Missing { title, why: answer.reason.unwrap_or("no allocation was recorded") };
    }
    let drawn = answer.drawn.unwrap_or("memory");
    let chart = table(&answer, drawn);
    let chart = chart.map_or_else(String::new, |table| figure(&**table, answer.plot, answer.reason));
    let body = format!(
        "<div class=\"ks-pair\"><div><figure class=\"ks-picture\" data-analysis=\"memory\" data-table=\"{drawn}\" \
         data-options=\"{{}}\">{chart}<figcaption></figcaption></figure>{}{}</div>{}</div>",
        DEVICES.html(source, &devices),
        CATEGORIES.html(source, &frame(&answer, "memory_categories", MAX_ROWS)),
        OWNERS.html(source, &top(source, &answer, "memory_owners", ("peak_bytes", MAX_ROWS))),
    );
    SectionOutcome::Section(ReportSection::wide("memory", title, body))
}
