//! Finds the allocations of a memory snapshot: where they lie, and from when to when.

use rustc_hash::FxHashMap;

use super::allocator_state::size_blocks;
use super::training_run::TrainingRuns;
use crate::id::StackId;
use crate::memory::MemorySnapshot;
use crate::memory::snapshot::{Action, Block};
use crate::memory::timeline::MemoryCategory;

/// A device; none is pinned memory of the host.
pub(crate) type SnapshotDevice = Option<i64>;

/// The allocator hands out multiples of this.
const GRAIN: i64 = 512;

/// An allocation. Its times are places among the actions; `None` is before the first, or never.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SnapshotAllocation {
    pub(super) device: SnapshotDevice,
    pub(super) address: Option<u64>,
    /// The requested size.
    pub(super) bytes: i64,
    /// The size of its block: that of the file if it is in use at the end, else the requested size
    /// rounded up, with a rest that is not cut off.
    pub(super) block_bytes: i64,
    pub(super) stack: Option<StackId>,
    pub(super) first: Option<usize>,
    /// When the program gave it back. The memory is free when other streams are done with it.
    pub(super) released: Option<usize>,
    /// Whether it was given back before the first action.
    pub(super) is_released_before: bool,
    pub(super) last: Option<usize>,
    /// Whether the file has its block.
    pub(super) has_block: bool,
    /// Its purpose, as far as the stacks tell.
    pub(super) category: MemoryCategory,
}

impl SnapshotAllocation {
    fn of(action: &Action, first: Option<usize>) -> Option<Self> {
        let (address, bytes) = (action.address?, action.size?);
        Some(Self {
            device: action.device,
            address: Some(address),
            bytes,
            block_bytes: rounded(bytes),
            stack: first.and(action.stack),
            first,
            released: None,
            is_released_before: false,
            last: None,
            has_block: false,
            category: MemoryCategory::Unknown,
        })
    }

    /// Whether it is in use after so many actions.
    pub(super) fn is_after(&self, num_actions: usize) -> bool {
        self.first.is_none_or(|first| first < num_actions) && self.last.is_none_or(|last| num_actions <= last)
    }

    /// The action with which its block is no longer allocated, if one of the recorded is.
    pub(super) fn given_back(&self) -> Option<usize> {
        self.released.or(self.last).filter(|_| !self.is_released_before)
    }

    /// Whether, after so many actions, it is given back but not free.
    pub(super) fn is_waiting_after(&self, num_actions: usize) -> bool {
        self.is_released_before || self.released.is_some_and(|released| released < num_actions)
    }
}

fn rounded(bytes: i64) -> i64 {
    bytes.saturating_add(GRAIN - 1) / GRAIN * GRAIN
}

/// All allocations that the actions or the blocks tell of.
pub(crate) fn lives(snapshot: &MemorySnapshot) -> Vec<SnapshotAllocation> {
    let mut found = Lives { lives: Vec::new(), open: FxHashMap::default() };
    for (at, action) in snapshot.actions.iter().enumerate() {
        found.act(at, snapshot.strings.text(action.action), action);
    }
    for block in snapshot.blocks.iter().filter(|block| is_active(snapshot, block)) {
        if let Some(segment) = snapshot.segments.get(block.segment as usize) {
            found.hold(segment.device, block, snapshot.strings.text(block.state) != "active_allocated");
        }
    }
    size_blocks(snapshot, &mut found.lives);
    TrainingRuns::of(snapshot, &found.lives).categorize(&mut found.lives);
    found.lives
}

pub(super) fn is_active(snapshot: &MemorySnapshot, block: &Block) -> bool {
    snapshot.strings.text(block.state).starts_with("active")
}

struct Lives {
    lives: Vec<SnapshotAllocation>,
    /// Those in use, by device and address.
    open: FxHashMap<(SnapshotDevice, u64), usize>,
}

impl Lives {
    fn act(&mut self, at: usize, kind: &str, action: &Action) {
        let Some(life) = SnapshotAllocation::of(action, (kind == "alloc").then_some(at)) else { return };
        let key = (life.device, life.address.unwrap_or(0));
        match kind {
            "alloc" => {
                if let Some(before) = self.open.insert(key, self.lives.len()) {
                    self.lives[before].last = Some(at);
                }
                self.lives.push(life);
            }
            "free_requested" => {
                let known = *self.open.entry(key).or_insert_with(|| {
                    self.lives.push(life);
                    self.lives.len() - 1
                });
                self.lives[known].released.get_or_insert(at);
            }
            "free_completed" => match self.open.remove(&key) {
                Some(known) => self.lives[known].last = Some(at),
                // Each is requested first: the recording began after that.
                None => self.lives.push(SnapshotAllocation { is_released_before: true, last: Some(at), ..life }),
            },
            _ => {}
        }
    }

    /// Notes a block that is in use at the end, or waits to be free.
    fn hold(&mut self, device: SnapshotDevice, block: &Block, is_waiting: bool) {
        let size = block.size.unwrap_or(0);
        let known = block.address.and_then(|address| self.open.get(&(device, address)));
        if let Some(known) = known.and_then(|known| self.lives.get_mut(*known)) {
            known.block_bytes = block.size.unwrap_or(known.block_bytes);
            known.stack = known.stack.or(block.stack);
            known.has_block = true;
            known.is_released_before |= is_waiting && known.released.is_none();
            return;
        }
        self.lives.push(SnapshotAllocation {
            device,
            address: block.address,
            bytes: block.requested.unwrap_or(size),
            block_bytes: size,
            stack: block.stack,
            first: None,
            released: None,
            is_released_before: is_waiting,
            last: None,
            has_block: true,
            category: MemoryCategory::Unknown,
        });
    }
}
