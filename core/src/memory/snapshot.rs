//! A snapshot of the caching allocator, with its history.

use super::stack::Stacks;
use crate::id::{StackId, StrId};
use crate::strings::Strings;
use crate::time::Ts;
use crate::warning::Warnings;

/// The content of `torch.cuda.memory._dump_snapshot`: the caching allocator at one moment, with its
/// history.
///
/// Sizes are in bytes. Unknown fields are `None` or empty.
#[derive(Debug, Clone, Default)]
pub struct MemorySnapshot {
    /// All texts.
    pub strings: Strings,
    /// Memory taken from the system (`segments`, `host_segments`), in the order of the file.
    pub segments: Vec<Segment>,
    /// The parts of segments, in the order of the file.
    pub blocks: Vec<Block>,
    /// Earlier contents of blocks (`history`, `PyTorch` up to 2.0), in file order.
    pub past_blocks: Vec<PastBlock>,
    /// Actions of the allocator (`device_traces`, `host_traces`), by device, in file order.
    pub actions: Vec<Action>,
    /// Starts and ends of annotated ranges (`external_annotations`), in the order of the file.
    pub annotations: Vec<MemoryAnnotation>,
    /// Where in the program the rows above come from (`frames`).
    pub stacks: Stacks,
    /// The other keys of the file (`allocator_settings` and whatever else there is), as a JSON
    /// object.
    pub metadata: String,
    /// Defects survived.
    pub warnings: Warnings,
}

/// A contiguous piece of memory that the allocator took from the system.
#[derive(Debug, Clone, Copy, Default)]
pub struct Segment {
    /// The device (`device`); `None` for pinned memory of the host.
    pub device: Option<i64>,
    /// The first address (`address`).
    pub address: Option<u64>,
    /// The size (`total_size`).
    pub size: Option<i64>,
    /// Bytes in use (`allocated_size`).
    pub allocated: Option<i64>,
    /// Bytes in use or waiting to be freed (`active_size`).
    pub active: Option<i64>,
    /// Requested bytes in use (`requested_size`).
    pub requested: Option<i64>,
    /// The stream it serves (`stream`).
    pub stream: Option<i64>,
    /// For small or for large blocks (`segment_type`).
    pub segment_type: StrId,
    /// The pool it belongs to as a JSON array (`segment_pool_id`).
    pub pool: StrId,
    /// Whether it can grow (`is_expandable`).
    pub is_expandable: Option<bool>,
    /// Where it was taken (`frames`).
    pub stack: Option<StackId>,
    /// The other keys as a JSON object.
    pub extra: StrId,
}

/// A part of a segment, in use or free.
#[derive(Debug, Clone, Copy, Default)]
pub struct Block {
    /// Row of its segment.
    pub segment: u32,
    /// The first address (`address`; where that is missing, it follows the block before).
    pub address: Option<u64>,
    /// The size (`size`).
    pub size: Option<i64>,
    /// The requested size (`requested_size`, or `real_size` of the newest entry of its
    /// `history`).
    pub requested: Option<i64>,
    /// Whether it is in use (`state`).
    pub state: StrId,
    /// Where it was allocated (`frames`, or those of the newest entry of its `history`).
    pub stack: Option<StackId>,
    /// The other keys as a JSON object.
    pub extra: StrId,
}

/// Earlier contents of a block, newest first.
#[derive(Debug, Clone, Copy, Default)]
pub struct PastBlock {
    /// Row of the block.
    pub block: u32,
    /// The first address (`addr`).
    pub address: Option<u64>,
    /// The requested size (`real_size`).
    pub requested: Option<i64>,
    /// Where it was allocated (`frames`).
    pub stack: Option<StackId>,
    /// The other keys as a JSON object.
    pub extra: StrId,
}

/// Something that the allocator did.
#[derive(Debug, Clone, Copy, Default)]
pub struct Action {
    /// The device (place in `device_traces`); `None` for pinned memory of the host.
    pub device: Option<i64>,
    /// Its type (`action`).
    pub action: StrId,
    /// The address it is about (`addr`).
    pub address: Option<u64>,
    /// The size it is about (`size`).
    pub size: Option<i64>,
    /// The stream (`stream`).
    pub stream: Option<i64>,
    /// When (`time_us`).
    pub time: Option<Ts>,
    /// Bytes that the device had left, where it ran out of memory (`device_free`).
    pub device_free: Option<i64>,
    /// The pool as a JSON array (`pool_id`).
    pub pool: StrId,
    /// The compiled region it was in (`compile_context`).
    pub compile_context: StrId,
    /// Metadata of the program (`user_metadata`).
    pub user_metadata: StrId,
    /// Where in the program (`frames`).
    pub stack: Option<StackId>,
    /// The other keys as a JSON object.
    pub extra: StrId,
}

/// The start or the end of an annotated range.
#[derive(Debug, Clone, Copy, Default)]
pub struct MemoryAnnotation {
    /// When (`time_us`).
    pub time: Option<Ts>,
    /// The device (`device`).
    pub device: Option<i64>,
    /// The range's name (`name`).
    pub name: StrId,
    /// Start or end (`stage`).
    pub stage: StrId,
    /// The other keys as a JSON object.
    pub extra: StrId,
}
