//! Allocations with their lifetime.

use rustc_hash::FxHashMap;

use super::change::MemoryChange;
use super::device::MemoryDevice;
use crate::time::Ts;

/// An allocation.
#[derive(Debug, Clone, Copy)]
pub(in crate::analyze) struct Allocation {
    pub(in crate::analyze) device: MemoryDevice,
    pub(in crate::analyze) bytes: i64,
    /// Row of the innermost event around its making.
    pub(in crate::analyze) around: Option<u32>,
    /// The place of its making among the changes.
    pub(in crate::analyze) first: usize,
    /// That of its release.
    pub(in crate::analyze) last: Option<usize>,
    pub(in crate::analyze) since: Ts,
    /// When it was released, if it was.
    pub(in crate::analyze) until: Option<Ts>,
    /// Whether it was there when its device had the most allocated.
    pub(in crate::analyze) is_at_peak: bool,
}

/// All allocations, in the order of their making.
///
/// An address that is allocated again was released, even without a record.
pub(in crate::analyze) fn lives(changes: &[MemoryChange]) -> Vec<Allocation> {
    let mut lives: Vec<Allocation> = Vec::new();
    let mut held: FxHashMap<(MemoryDevice, i64), usize> = FxHashMap::default();
    for (at, change) in changes.iter().enumerate() {
        let MemoryChange { device, bytes, around, time: since, .. } = *change;
        if let Some(life) = held.remove(&(device, change.address)).and_then(|life| lives.get_mut(life)) {
            (life.last, life.until) = (Some(at), Some(since));
        }
        if bytes >= 0 {
            held.insert((device, change.address), lives.len());
            let (last, until, is_at_peak) = (None, None, false);
            lives.push(Allocation { device, bytes, around, first: at, last, since, until, is_at_peak });
        }
    }
    let peaks = peak_places(changes);
    for life in &mut lives {
        let is_there = |peak: &usize| life.first <= *peak && life.last.is_none_or(|last| *peak < last);
        life.is_at_peak = peaks.get(&life.device).is_some_and(is_there);
    }
    lives
}

/// The place of the change with which each device had the most allocated; none where it never had
/// more than at first.
fn peak_places(changes: &[MemoryChange]) -> FxHashMap<MemoryDevice, usize> {
    let mut peaks: FxHashMap<MemoryDevice, (i64, Option<usize>)> = FxHashMap::default();
    for (at, change) in changes.iter().enumerate() {
        let first = || (change.allocated_bytes.saturating_sub(change.bytes), None);
        let peak = peaks.entry(change.device).or_insert_with(first);
        if change.allocated_bytes > peak.0 {
            *peak = (change.allocated_bytes, Some(at));
        }
    }
    peaks.into_iter().filter_map(|(device, (_, at))| Some((device, at?))).collect()
}
