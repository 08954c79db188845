//! Memory over time, and whose it was.

use super::grid::{Grid, Kind, col};
use super::section::{Found, Section};
use super::source::{Source, frame, table, top};
use crate::view::chart::figure;

const MAX_ROWS: usize = 50;

const DEVICES: Grid = Grid {
    analysis: "memory",
    request: "{}",
    table: "memory",
    title: "Memory by device",
    columns: &[
        col("rank", "rank", Kind::Key),
        col("device", "device", Kind::Word),
        col("peak_allocated_bytes", "most allocated", Kind::Bytes),
        col("peak_reserved_bytes", "most reserved", Kind::Bytes),
        col("first_bytes", "at first", Kind::Bytes),
        col("last_bytes", "at last", Kind::Bytes),
        col("num_allocations", "allocations", Kind::Count),
        col("num_releases", "releases", Kind::Count),
    ],
};

const CATEGORIES: Grid = Grid {
    analysis: "memory",
    request: "{}",
    table: "memory_categories",
    title: "By what it was for",
    columns: &[
        col("rank", "rank", Kind::Key),
        col("device", "device", Kind::Key),
        col("category", "for", Kind::Word),
        col("peak_bytes", "at the peak", Kind::Bytes),
        col("kept_bytes", "kept", Kind::Bytes),
        col("num_allocations", "allocations", Kind::Count),
    ],
};

const OWNERS: Grid = Grid {
    analysis: "memory",
    request: "{}",
    table: "memory_owners",
    title: "By operator and module",
    columns: &[
        col("rank", "rank", Kind::Key),
        col("device", "device", Kind::Key),
        col("operator", "operator", Kind::Name),
        col("module", "module", Kind::Name),
        col("peak_bytes", "at the peak", Kind::Bytes),
        col("kept_bytes", "kept", Kind::Bytes),
        col("allocated_bytes", "allocated", Kind::Bytes),
        col("num_allocations", "allocations", Kind::Count),
    ],
};

pub(super) fn section(source: &Source<'_>) -> Found {
    let title = "Memory";
    let Some(answer) = source.ask("memory", "{}") else { return Found::Nothing };
    let devices = frame(&answer, "memory", MAX_ROWS);
    if devices.num_rows == 0 {
        return Found::Missing { title, why: answer.reason.unwrap_or("no allocation was recorded") };
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
    Found::Section(Section::wide("memory", title, body))
}
