//! Memory as `PyTorch` records it: allocator state, its history, and bytes in use over time.

pub mod allocator_history;
pub mod snapshot;
pub mod stack;
pub mod timeline;

pub use allocator_history::AllocatorHistory;
pub use snapshot::MemorySnapshot;
pub use timeline::MemoryTimeline;
