//! What `PyTorch` says about memory: the state and the history of its allocator, and the bytes in use over time.

pub mod snapshot;
pub mod stack;
pub mod timeline;

pub use snapshot::MemorySnapshot;
pub use timeline::MemoryTimeline;
