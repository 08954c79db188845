//! Memory as `PyTorch` records it: allocator state, its history, and bytes in use over time.

pub mod snapshot;
pub mod stack;
pub mod timeline;

pub use snapshot::MemorySnapshot;
pub use timeline::MemoryTimeline;
