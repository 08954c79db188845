//! Lists allocations and releases in order of time.

use rustc_hash::FxHashMap;

use super::allocator_record::{AllocatorRecord, allocator_records, operator};
use super::device::{MemoryDevice, put_device};
use super::memory_total::MemoryTotals;
use crate::analyze::selection::Selection;
use crate::table::{Table, int, text};
use crate::time::Ts;

/// An allocation, or with negative `bytes` a release (`[memory]`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryChange {
    /// The device.
    pub device: MemoryDevice,
    /// When.
    pub time: Ts,
    /// Its size, as it is written.
    pub bytes: i64,
    /// Where.
    pub address: i64,
    /// Allocated bytes after the change: `Total Allocated` plus memory that no total counts (shared
    /// between processes), or the sum of `bytes` where no total is recorded.
    pub allocated_bytes: i64,
    /// Reserved bytes after the change: `Total Reserved`.
    pub reserved_bytes: Option<i64>,
    /// Row of the innermost event around it, on its thread.
    pub around: Option<u32>,
    /// Row of the innermost operator around it.
    pub operator: Option<u32>,
    /// Row of the innermost module's call around it.
    pub module: Option<u32>,
}

pub(super) static SERIES: Table<Vec<MemoryChange>> = Table {
    name: "memory_series",
    doc: "an allocation or a release",
    num_rows: Vec::len,
    columns: &[
        text("device", |rows, at, out| put_device(out, rows[at].device)),
        int("time_ns", |rows, at| Some(rows[at].time.0)),
        int("bytes", |rows, at| Some(rows[at].bytes)),
        int("allocated_bytes", |rows, at| Some(rows[at].allocated_bytes)),
        int("reserved_bytes", |rows, at| rows[at].reserved_bytes),
    ],
};

/// All allocations and releases of the selection, by time; those of one time in the order of the
/// file.
pub fn changes(selection: &Selection<'_>) -> Vec<MemoryChange> {
    let linked = selection.linked;
    let frames = linked.frames();
    let mut totals = MemoryTotals::default();
    let mut unaddressed = AddressGuesser::default();
    let change = |told: AllocatorRecord<'_>| {
        let (bytes, device) = (told.number("Bytes")?, told.device());
        let address = told.number("Addr").unwrap_or_else(|| unaddressed.address(device, bytes));
        let around = told.around(linked);
        Some(MemoryChange {
            device,
            time: told.instant.time,
            bytes,
            address,
            allocated_bytes: totals.after(device, (bytes, address), told.number("Total Allocated")),
            reserved_bytes: told.number("Total Reserved"),
            around,
            operator: around.and_then(|row| operator(linked, row)),
            module: around.and_then(|row| frames.module.get(row as usize)),
        })
    };
    allocator_records(selection, "[memory]").filter_map(change).collect()
}

/// Allocations of files that name no addresses (`Addr`): a release is taken for one of the latest
/// allocation of its size.
#[derive(Default)]
pub(super) struct AddressGuesser {
    held: FxHashMap<(MemoryDevice, i64), Vec<i64>>,
    /// Addresses that no memory has.
    next: i64,
}

impl AddressGuesser {
    fn address(&mut self, device: MemoryDevice, bytes: i64) -> i64 {
        let of_size = self.held.entry((device, bytes.saturating_abs())).or_default();
        if bytes < 0 {
            return of_size.pop().unwrap_or(0);
        }
        self.next -= 1;
        of_size.push(self.next);
        self.next
    }
}
