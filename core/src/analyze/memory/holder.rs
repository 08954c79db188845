//! Sums the memory in use by call stack.

use super::allocation_life::{SnapshotAllocation, SnapshotDevice};
use super::origin::site;
use crate::id::StackId;
use crate::memory::MemorySnapshot;
use crate::sort;
use crate::sorted_map::SortedMap;
use crate::table::{Table, float, int, put, text};
use crate::time::add_ns;

/// The memory that one call stack holds at a moment.
#[derive(Debug, Clone, Default)]
pub(crate) struct MemoryHolderRow {
    device: SnapshotDevice,
    stack: Option<StackId>,
    pub(super) site: String,
    pub(super) held_bytes: i64,
    largest_bytes: i64,
    num_blocks: i64,
    share: f64,
}

pub(crate) static TABLE: Table<Vec<MemoryHolderRow>> = Table {
    name: "memory_holders",
    doc: "the memory that one call stack holds at a moment, such as the peak of a device",
    num_rows: Vec::len,
    columns: &[
        int("device", |rows, at| rows[at].device),
        text("site", |rows, at, out| put(out, &rows[at].site)),
        int("held_bytes", |rows, at| Some(rows[at].held_bytes)),
        int("largest_bytes", |rows, at| Some(rows[at].largest_bytes)),
        int("num_blocks", |rows, at| Some(rows[at].num_blocks)),
        float("share", |rows, at| Some(rows[at].share)),
        int("stack_id", |rows, at| rows[at].stack.map(|stack| i64::from(stack.0))),
    ],
};

/// The call stacks of allocations, by device; those that hold most come first.
pub(super) fn holders(snapshot: &MemorySnapshot, held: &[&SnapshotAllocation]) -> Vec<MemoryHolderRow> {
    let key = |life: &SnapshotAllocation| (life.device, life.stack.map(|stack| stack.0));
    let mut rows: SortedMap<_, MemoryHolderRow> = SortedMap::of(held.iter().map(|life| key(life)));
    let mut sums: SortedMap<SnapshotDevice, i64> = SortedMap::of(held.iter().map(|life| life.device));
    for life in held {
        let Some((row, sum)) = rows.get_mut(&key(life)).zip(sums.get_mut(&life.device)) else { continue };
        (row.device, row.stack) = (life.device, life.stack);
        add_ns(&mut row.held_bytes, life.bytes);
        row.largest_bytes = row.largest_bytes.max(life.bytes);
        row.num_blocks += 1;
        add_ns(sum, life.bytes);
    }
    let mut rows = rows.into_values();
    for row in &mut rows {
        row.site = row.stack.map(|stack| site(snapshot, Some(stack))).unwrap_or_default();
        row.share = row.held_bytes as f64 / sums.get(&row.device).copied().unwrap_or(0).max(1) as f64;
    }
    sort::by(&mut rows, |a, b| a.device.cmp(&b.device).then(b.held_bytes.cmp(&a.held_bytes)));
    rows
}
