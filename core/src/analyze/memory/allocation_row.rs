//! Lists allocations with their lifetimes, operators, modules and lines.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::allocation::Allocation;
use super::change::{MemoryChange, MemoryLine};
use super::device::put_device;
use super::owner::module;
use crate::analyze::selection::Selection;
use crate::table::{Table, boolean, int, put, put_name, text};
use crate::trace::Trace;

/// An allocation in the words of its table.
#[derive(Debug, Clone)]
pub(crate) struct AllocationRow {
    made: MemoryChange,
    start_ns: Option<i64>,
    end_ns: Option<i64>,
    is_at_peak: bool,
    category: &'static str,
    operator: Arc<str>,
    module: Arc<str>,
    line: Arc<str>,
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
    let mut texts = SharedTexts::default();
    let mut row = |(life, category): (&Allocation, &&'static str)| {
        let made = life.made;
        AllocationRow {
            made,
            start_ns: life.since.map(|since| since.0),
            end_ns: life.until.map(|until| until.0),
            is_at_peak: life.is_at_peak,
            category,
            operator: texts.of(made.operator.map_or("", |row| trace.event_name(row as usize))),
            module: texts.of(module(trace, &made)),
            line: made.line.map_or_else(Arc::default, |line| texts.of_line(trace, line)),
        }
    };
    lives.iter().zip(categories).map(&mut row).collect()
}

/// Texts that many rows have, stored once each.
#[derive(Default)]
struct SharedTexts<'a> {
    names: FxHashMap<&'a str, Arc<str>>,
    lines: FxHashMap<MemoryLine, Arc<str>>,
}

impl<'a> SharedTexts<'a> {
    fn of(&mut self, name: &'a str) -> Arc<str> {
        Arc::clone(self.names.entry(name).or_insert_with(|| Arc::from(name)))
    }

    fn of_line(&mut self, trace: &Trace, line: MemoryLine) -> Arc<str> {
        Arc::clone(self.lines.entry(line).or_insert_with(|| Arc::from(line.text(trace))))
    }
}
