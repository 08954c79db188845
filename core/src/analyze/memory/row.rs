//! Summarizes the memory of each device.

use super::change::MemoryChange;
use super::device::{MemoryDevice, put_device};
use crate::sorted_map::SortedMap;
use crate::table::{Column, Table, int, text};
use crate::time::{Ts, add_ns};

/// The memory of one device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryRow {
    /// The device.
    pub device: MemoryDevice,
    /// Allocations.
    pub num_allocations: u64,
    /// Their sizes together.
    pub allocated_bytes: i64,
    /// Releases.
    pub num_releases: u64,
    /// Their sizes together.
    pub released_bytes: i64,
    /// Allocated before the first change.
    pub first_bytes: i64,
    /// The most that was allocated at a time.
    pub peak_allocated_bytes: i64,
    /// When that was first so.
    pub peak: Ts,
    /// The most that the allocator held, where it is written.
    pub peak_reserved_bytes: Option<i64>,
    /// Allocated after the last change.
    pub last_bytes: i64,
}

pub(crate) static TABLE: Table<Vec<MemoryRow>> =
    Table { name: "memory", doc: "the memory of one device", num_rows: Vec::len, columns: COLUMNS };

pub(super) const COLUMNS: &[Column<Vec<MemoryRow>>] = &[
    text("device", |rows, at, out| put_device(out, rows[at].device)),
    int("peak_allocated_bytes", |rows, at| Some(rows[at].peak_allocated_bytes)),
    int("peak_ns", |rows, at| Some(rows[at].peak.0)),
    int("peak_reserved_bytes", |rows, at| rows[at].peak_reserved_bytes),
    int("first_bytes", |rows, at| Some(rows[at].first_bytes)),
    int("last_bytes", |rows, at| Some(rows[at].last_bytes)),
    int("num_allocations", |rows, at| Some(rows[at].num_allocations as i64)),
    int("allocated_bytes", |rows, at| Some(rows[at].allocated_bytes)),
    int("num_releases", |rows, at| Some(rows[at].num_releases as i64)),
    int("released_bytes", |rows, at| Some(rows[at].released_bytes)),
];

/// The memory of each device.
///
/// `peak_allocated_bytes = max allocated_bytes`; `first_bytes = allocated_bytes − bytes` of the
/// first change.
pub fn memory(changes: &[MemoryChange]) -> Vec<MemoryRow> {
    let mut devices: SortedMap<MemoryDevice, Option<MemoryRow>> =
        SortedMap::of(changes.iter().map(|change| change.device));
    for change in changes {
        let first_bytes = change.allocated_bytes.saturating_sub(change.bytes);
        let Some(row) = devices.get_mut(&change.device) else { continue };
        let row = row.get_or_insert_with(|| MemoryRow {
            device: change.device,
            num_allocations: 0,
            allocated_bytes: 0,
            num_releases: 0,
            released_bytes: 0,
            first_bytes,
            peak_allocated_bytes: first_bytes,
            peak: change.time,
            peak_reserved_bytes: None,
            last_bytes: 0,
        });
        let is_release = change.bytes < 0;
        *(if is_release { &mut row.num_releases } else { &mut row.num_allocations }) += 1;
        let sum = if is_release { &mut row.released_bytes } else { &mut row.allocated_bytes };
        add_ns(sum, change.bytes.saturating_abs());
        if change.allocated_bytes > row.peak_allocated_bytes {
            (row.peak_allocated_bytes, row.peak) = (change.allocated_bytes, change.time);
        }
        row.peak_reserved_bytes = row.peak_reserved_bytes.max(change.reserved_bytes);
        row.last_bytes = change.allocated_bytes;
    }
    devices.into_values().into_iter().flatten().collect()
}
