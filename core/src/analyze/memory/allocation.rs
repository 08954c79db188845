//! Allocations with their lifetime.

use rustc_hash::FxHashMap;

use super::change::{HeldMemory, MemoryChange};
use super::device::MemoryDevice;
use crate::time::Ts;

/// An allocation.
#[derive(Debug, Clone, Copy)]
pub(in crate::analyze) struct Allocation {
    /// The record of its making, or of its being in use as the trace begins.
    pub(in crate::analyze) made: MemoryChange,
    /// When it was made; `None` before the trace.
    pub(in crate::analyze) since: Option<Ts>,
    /// The place of its making among the changes; `None` before the first.
    pub(in crate::analyze) first: Option<usize>,
    /// That of its release.
    pub(in crate::analyze) last: Option<usize>,
    /// When it was released, if it was.
    pub(in crate::analyze) until: Option<Ts>,
    /// Whether it was there when its device had the most allocated.
    pub(in crate::analyze) is_at_peak: bool,
}

impl Allocation {
    fn of(made: MemoryChange, since: Option<Ts>, first: Option<usize>) -> Self {
        Self { made, since, first, last: None, until: None, is_at_peak: false }
    }

    /// Its bytes, if it was made by one of the changes.
    pub(in crate::analyze) fn made_bytes(&self) -> i64 {
        if self.first.is_some() { self.made.bytes } else { 0 }
    }
}

/// All allocations, in the order of their making: those in use before the changes, then the others.
///
/// An address that is allocated again was released, even without a record.
pub(in crate::analyze) fn lives(held: &[HeldMemory], changes: &[MemoryChange]) -> Vec<Allocation> {
    let mut lives: Vec<Allocation> = held.iter().map(|held| Allocation::of(held.made, held.since, None)).collect();
    let mut open: FxHashMap<(MemoryDevice, i64), usize> =
        held.iter().enumerate().map(|(life, held)| ((held.made.device, held.made.address), life)).collect();
    for (at, change) in changes.iter().enumerate() {
        let key = (change.device, change.address);
        if let Some(life) = open.remove(&key).and_then(|life| lives.get_mut(life)) {
            (life.last, life.until) = (Some(at), Some(change.time));
        }
        if change.bytes >= 0 {
            open.insert(key, lives.len());
            lives.push(Allocation::of(*change, Some(change.time), Some(at)));
        }
    }
    let peaks = peak_places(changes);
    for life in &mut lives {
        let Some(peak) = peaks.get(&life.made.device) else { continue };
        // Without a higher total than at first, the beginning is the peak.
        life.is_at_peak = match peak {
            Some(peak) => life.first.is_none_or(|first| first <= *peak) && life.last.is_none_or(|last| *peak < last),
            None => life.first.is_none(),
        };
    }
    lives
}

/// The place of the change with which each device had the most allocated; none where it never had
/// more than at first.
fn peak_places(changes: &[MemoryChange]) -> FxHashMap<MemoryDevice, Option<usize>> {
    let mut peaks: FxHashMap<MemoryDevice, (i64, Option<usize>)> = FxHashMap::default();
    for (at, change) in changes.iter().enumerate() {
        let first = || (change.allocated_bytes.saturating_sub(change.bytes), None);
        let peak = peaks.entry(change.device).or_insert_with(first);
        if change.allocated_bytes > peak.0 {
            *peak = (change.allocated_bytes, Some(at));
        }
    }
    peaks.into_iter().map(|(device, (_, at))| (device, at)).collect()
}
