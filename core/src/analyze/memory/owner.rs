//! Attributes memory to operators, modules and lines.

use rustc_hash::FxHashMap;

use super::allocation::Allocation;
use super::change::{MemoryChange, MemoryLine};
use super::device::{MemoryDevice, put_device};
use crate::analyze::selection::Selection;
use crate::id::StrId;
use crate::link::MODULE_PREFIX;
use crate::sort;
use crate::table::{Table, int, put, text};
use crate::time::add_ns;
use crate::trace::Trace;

/// The memory that one operator, in one module, at one line, allocated on one device.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct MemoryOwnerRow {
    device: MemoryDevice,
    operator: String,
    module: String,
    line: String,
    num_allocations: i64,
    allocated_bytes: i64,
    peak_bytes: i64,
    kept_bytes: i64,
}

pub(crate) static TABLE: Table<Vec<MemoryOwnerRow>> = Table {
    name: "memory_owners",
    doc: "the allocations of one operator in one module, at one line of Python, on one device",
    num_rows: Vec::len,
    columns: &[
        text("device", |rows, at, out| put_device(out, rows[at].device)),
        text("operator", |rows, at, out| put(out, &rows[at].operator)),
        text("module", |rows, at, out| put(out, &rows[at].module)),
        text("line", |rows, at, out| put(out, &rows[at].line)),
        int("num_allocations", |rows, at| Some(rows[at].num_allocations)),
        int("allocated_bytes", |rows, at| Some(rows[at].allocated_bytes)),
        int("peak_bytes", |rows, at| Some(rows[at].peak_bytes)),
        int("kept_bytes", |rows, at| Some(rows[at].kept_bytes)),
    ],
};

/// A device, the names of an operator and a module, and a line.
type MemoryOwnerKey = (MemoryDevice, Option<StrId>, Option<StrId>, Option<MemoryLine>);

/// Allocations by operator, module and line; those that hold the most at their device's peak first.
///
/// `peak_bytes` are those of its allocations that were not released when the device had the most
/// allocated, `kept_bytes` those that never were.
pub(super) fn owners(selection: &Selection<'_>, lives: &[Allocation]) -> Vec<MemoryOwnerRow> {
    let trace = &selection.linked.trace;
    let mut rows: FxHashMap<MemoryOwnerKey, MemoryOwnerRow> = FxHashMap::default();
    for life in lives {
        let made = &life.made;
        let name = |row: Option<u32>| row.map(|row| trace.events.name.at(row as usize));
        let key = (made.device, name(made.operator), name(made.module), made.line);
        let row = rows.entry(key).or_insert_with(|| MemoryOwnerRow {
            device: made.device,
            operator: made.operator.map_or("", |row| trace.event_name(row as usize)).to_owned(),
            module: module(trace, made).to_owned(),
            line: made.line.map_or_else(String::new, |line| line.text(trace)),
            ..MemoryOwnerRow::default()
        });
        row.num_allocations += i64::from(life.first.is_some());
        add_ns(&mut row.allocated_bytes, life.made_bytes());
        add_ns(&mut row.peak_bytes, if life.is_at_peak { made.bytes } else { 0 });
        add_ns(&mut row.kept_bytes, if life.until.is_none() { made.bytes } else { 0 });
    }
    let mut rows: Vec<_> = rows.into_values().collect();
    sort::by(&mut rows, |a, b| {
        let names = |row: &MemoryOwnerRow| (row.device, row.operator.clone(), row.module.clone(), row.line.clone());
        (b.peak_bytes, b.allocated_bytes).cmp(&(a.peak_bytes, a.allocated_bytes)).then_with(|| names(a).cmp(&names(b)))
    });
    rows
}

/// The name of the module of a change; empty without one.
pub(super) fn module<'a>(trace: &'a Trace, change: &MemoryChange) -> &'a str {
    let module = change.module.map_or("", |row| trace.event_name(row as usize));
    module.strip_prefix(MODULE_PREFIX).unwrap_or(module)
}
