//! What is allocated on each device, as far as allocators say so.

use rustc_hash::{FxHashMap, FxHashSet};

use super::MemoryDevice;
use crate::time::add_ns;

/// Sums over the changes so far. An allocator's total leaves out what others allocate, as memory that processes share is.
#[derive(Default)]
pub(super) struct Totals {
    by_device: FxHashMap<MemoryDevice, Total>,
    /// Addresses of what no total counts.
    left_out: FxHashSet<(MemoryDevice, i64)>,
}

#[derive(Default)]
struct Total {
    sum: i64,
    told: i64,
    left_out: i64,
}

impl Totals {
    /// What is allocated after a change, of which its allocator tells a total or not.
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
