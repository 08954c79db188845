//! The history of an allocator, in the terms of the profiler's records.

use std::sync::Arc;

use super::timeline::MemoryCategory;
use crate::time::Ts;

/// The history of the allocator of device memory.
#[derive(Debug, Clone, Default)]
pub struct AllocatorHistory {
    /// Blocks that were in use before the first change.
    pub before: Vec<AllocatorBlock>,
    /// Allocations and releases by time.
    pub changes: Vec<AllocatorChange>,
}

/// Memory that a program has taken.
#[derive(Debug, Clone)]
pub struct AllocatorBlock {
    /// The number of the device.
    pub device: i64,
    /// The first address.
    pub address: u64,
    /// The size, as the allocator rounded it.
    pub bytes: i64,
    /// The line of Python that allocated it, as Kineto writes lines: `path(line): function`.
    pub line: Option<Arc<str>>,
    /// Its purpose.
    pub category: MemoryCategory,
}

/// An allocation or a release, with the totals after it.
#[derive(Debug, Clone)]
pub struct AllocatorChange {
    /// The memory.
    pub block: AllocatorBlock,
    /// Whether it was given back.
    pub is_release: bool,
    /// When.
    pub time: Ts,
    /// Bytes of all blocks in use after the change.
    pub allocated_bytes: i64,
    /// Bytes that the allocator had from the system.
    pub reserved_bytes: i64,
}
