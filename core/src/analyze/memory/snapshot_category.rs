//! Sums the memory of a snapshot by its purpose.

use super::allocation_life::{SnapshotAllocation, SnapshotDevice};
use super::snapshot::SnapshotDevices;
use crate::sort;
use crate::sorted_map::SortedMap;
use crate::table::{Table, int, put_name, text};
use crate::time::add_ns;

/// Allocations of one purpose on one device.
#[derive(Debug, Clone, Default)]
pub(crate) struct PurposeRow {
    device: SnapshotDevice,
    category: &'static str,
    num_allocations: i64,
    allocated_bytes: i64,
    peak_bytes: i64,
    kept_bytes: i64,
}

pub(crate) static TABLE: Table<Vec<PurposeRow>> = Table {
    name: "memory_categories",
    doc: "one category of allocations on one device, inferred from their stacks and lifetimes",
    num_rows: Vec::len,
    columns: &[
        int("device", |rows, at| rows[at].device),
        text("category", |rows, at, out| put_name(out, rows[at].category)),
        int("num_allocations", |rows, at| Some(rows[at].num_allocations)),
        int("allocated_bytes", |rows, at| Some(rows[at].allocated_bytes)),
        int("peak_bytes", |rows, at| Some(rows[at].peak_bytes)),
        int("kept_bytes", |rows, at| Some(rows[at].kept_bytes)),
    ],
};

/// Allocations by category, those that hold the most at their device's peak first. The
/// `peak_bytes` of a device add up to its `peak_requested_bytes`.
pub(super) fn categories(lives: &[SnapshotAllocation], devices: &SnapshotDevices) -> Vec<PurposeRow> {
    let key = |life: &SnapshotAllocation| (life.device, life.category.name());
    let keys: Vec<_> = lives.iter().map(key).collect();
    let mut rows: SortedMap<_, PurposeRow> = SortedMap::of(keys.iter().copied());
    for (life, key) in lives.iter().zip(&keys) {
        let Some(row) = rows.get_mut(key) else { continue };
        (row.device, row.category) = *key;
        row.num_allocations += 1;
        add_ns(&mut row.allocated_bytes, life.bytes);
        let is_at_peak = devices.get(&life.device).is_some_and(|device| life.is_after(device.num_actions_at_peak));
        add_ns(&mut row.peak_bytes, if is_at_peak { life.bytes } else { 0 });
        add_ns(&mut row.kept_bytes, if life.last.is_none() { life.bytes } else { 0 });
    }
    let mut rows = rows.into_values();
    sort::by(&mut rows, |a, b| {
        a.device.cmp(&b.device).then_with(|| (b.peak_bytes, b.allocated_bytes).cmp(&(a.peak_bytes, a.allocated_bytes)))
    });
    rows
}
