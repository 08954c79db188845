//! Tracks the allocated total of each device.

use rustc_hash::{FxHashMap, FxHashSet};

use super::device::MemoryDevice;
use crate::time::add_ns;

/// Sums over the changes so far. An allocator's total omits memory of other allocators, such as
/// memory shared between processes.
#[derive(Default)]
pub(super) struct MemoryTotals {
    by_device: FxHashMap<MemoryDevice, MemoryTotal>,
    /// Addresses that no total counts.
    left_out: FxHashSet<(MemoryDevice, i64)>,
}

#[derive(Default)]
struct MemoryTotal {
    sum: i64,
    told: i64,
    left_out: i64,
}

impl MemoryTotals {
    /// Allocated bytes after a change, with or without a total in its record.
    pub(super) fn after(&mut self, device: MemoryDevice, (bytes, address): (i64, i64), told: Option<i64>) -> i64 {
        let total = self.by_device.entry(device).or_default();
        add_ns(&mut total.sum, bytes);
        let Some(told) = told else { return total.sum };
        let is_left_out = if bytes < 0 {
            self.left_out.remove(&(device, address))
        } else {
            told < bytes && self.left_out.insert((device, address))
        };
        if is_left_out {
            add_ns(&mut total.left_out, bytes);
        } else {
            total.told = told;
        }
        total.told.saturating_add(total.left_out)
    }
}
