//! Lists allocations with their lifetimes, operators, modules and lines.

use super::allocation::Allocation;
use super::change::MemoryChange;
use super::device::put_device;
use super::owner::module;
use crate::analyze::selection::Selection;
use crate::table::{Table, boolean, int, put, put_name, text};

/// An allocation in the words of its table.
#[derive(Debug, Clone)]
pub(crate) struct AllocationRow {
    made: MemoryChange,
    start_ns: Option<i64>,
    end_ns: Option<i64>,
    is_at_peak: bool,
    category: &'static str,
    operator: String,
    module: String,
    line: String,
}

pub(crate) static TABLE: Table<Vec<AllocationRow>> = Table {
    name: "memory_allocations",
    doc: "an allocation",
    num_rows: Vec::len,
    columns: &[
        text("device", |rows, at, out| put_device(out, rows[at].made.device)),
        int("start_ns", |rows, at| rows[at].start_ns),
        int("end_ns", |rows, at| rows[at].end_ns),
        int("bytes", |rows, at| Some(rows[at].made.bytes)),
        boolean("is_at_peak", |rows, at| Some(rows[at].is_at_peak)),
        text("category", |rows, at, out| put_name(out, rows[at].category)),
        text("operator", |rows, at, out| put(out, &rows[at].operator)),
        text("module", |rows, at, out| put(out, &rows[at].module)),
        text("line", |rows, at, out| put(out, &rows[at].line)),
        int("operator_id", |rows, at| rows[at].made.operator.map(i64::from)),
    ],
};

/// All allocations: those in use before the selection, then the others by time.
pub(super) fn rows(selection: &Selection<'_>, lives: &[Allocation], categories: &[&'static str]) -> Vec<AllocationRow> {
    let trace = &selection.linked.trace;
    let row = |(life, category): (&Allocation, &&'static str)| AllocationRow {
        made: life.made,
        start_ns: life.since.map(|since| since.0),
        end_ns: life.until.map(|until| until.0),
        is_at_peak: life.is_at_peak,
        category,
        operator: life.made.operator.map_or("", |row| trace.event_name(row as usize)).to_owned(),
        module: module(trace, &life.made).to_owned(),
        line: life.made.line.map_or_else(String::new, |line| line.text(trace)),
    };
    lives.iter().zip(categories).map(row).collect()
}
