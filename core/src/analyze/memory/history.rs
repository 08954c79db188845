//! Lists what an allocator did, with the totals after it and the line of Python.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::allocation_life::{SnapshotAllocation, lives};
use super::origin::line;
use super::snapshot::measured;
use crate::id::StackId;
use crate::memory::MemorySnapshot;
use crate::memory::allocator_history::{AllocatorBlock, AllocatorChange, AllocatorHistory};
use crate::sort;
use crate::time::Ts;

/// The history of device memory in a snapshot, as the profiler of `PyTorch` records it.
///
/// Sizes are those of blocks. Memory is given back with `free_requested`, whether or not other
/// streams are done with it. Actions without a time are left out.
pub fn allocator_history(snapshot: &MemorySnapshot) -> AllocatorHistory {
    let lives = lives(snapshot);
    let (_, points) = measured(snapshot, &lives);
    let mut known: FxHashMap<StackId, Option<Arc<str>>> = FxHashMap::default();
    let mut line = |stack| known.entry(stack).or_insert_with(|| line(snapshot, stack).map(Arc::from)).clone();
    let mut block = |life: &SnapshotAllocation| {
        Some(AllocatorBlock {
            device: life.device?,
            address: life.address?,
            bytes: life.block_bytes,
            line: life.stack.and_then(&mut line),
            category: life.category,
        })
    };
    let change = |block: &AllocatorBlock, action: Option<usize>, is_release: bool| {
        // An allocation at the same address ends one whose release has no record.
        let is_implied =
            |action: &usize| is_release && snapshot.strings.text(snapshot.actions[*action].action) == "alloc";
        let action = action.filter(|action| !is_implied(action))?;
        let point = points.binary_search_by_key(&action, |point| point.action).ok().map(|at| points[at].amount)?;
        let change = AllocatorChange {
            block: block.clone(),
            is_release,
            time: snapshot.actions[action].time?,
            allocated_bytes: point.allocated,
            reserved_bytes: point.reserved,
        };
        Some((action, change))
    };
    let mut changes = Vec::new();
    let mut before = Vec::new();
    for life in &lives {
        let Some(block) = block(life) else { continue };
        changes.extend(change(&block, life.first, false));
        changes.extend(change(&block, life.given_back(), true));
        if life.first.is_none() && !life.is_released_before {
            before.push(block);
        }
    }
    // Totals follow the order of actions, so times do, too.
    sort::by_key(&mut changes, |(action, change)| (change.block.device, *action));
    let mut latest: Option<(i64, Ts)> = None;
    for (_, change) in &mut changes {
        let of_device = latest.filter(|(device, _)| *device == change.block.device);
        change.time = of_device.map_or(change.time, |(_, time)| change.time.max(time));
        latest = Some((change.block.device, change.time));
    }
    sort::by_key(&mut changes, |(action, change)| (change.time, *action));
    AllocatorHistory { before, changes: changes.into_iter().map(|(_, change)| change).collect() }
}
