//! Tables of memory snapshots and memory timelines.

use super::column::{Column, Table, boolean, int, json, put, text, uint};
use super::health::{MEMORY_SNAPSHOT_HEALTH, MEMORY_TIMELINE_HEALTH};
use crate::id::StrId;
use crate::memory::stack::Frame;
use crate::memory::timeline::MemoryCategory;
use crate::memory::{MemorySnapshot, MemoryTimeline};

/// All tables of a memory snapshot.
pub const MEMORY_SNAPSHOT_TABLES: &[&Table<MemorySnapshot>] =
    &[&ACTIONS, &SEGMENTS, &BLOCKS, &PAST_BLOCKS, &FRAMES, &ANNOTATIONS, &MEMORY_SNAPSHOT_HEALTH];

/// All tables of a memory timeline.
pub const MEMORY_TIMELINE_TABLES: &[&Table<MemoryTimeline>] = &[&SIZES, &TENSOR_ACTIONS, &MEMORY_TIMELINE_HEALTH];

static ACTIONS: Table<MemorySnapshot> = Table {
    name: "actions",
    doc: "an action of the allocator",
    num_rows: |snapshot| snapshot.actions.len(),
    columns: &[
        int("id", |_, row| Some(row as i64)),
        int("device", |snapshot, row| snapshot.actions[row].device),
        text("action", |snapshot, row, out| put_id(snapshot, snapshot.actions[row].action, out)),
        int("time_ns", |snapshot, row| snapshot.actions[row].time.map(|time| time.0)),
        uint("address", |snapshot, row| snapshot.actions[row].address),
        int("size_bytes", |snapshot, row| snapshot.actions[row].size),
        int("stream", |snapshot, row| snapshot.actions[row].stream),
        int("device_free_bytes", |snapshot, row| snapshot.actions[row].device_free),
        json("pool", |snapshot, row, out| put_id(snapshot, snapshot.actions[row].pool, out)),
        text("compile_context", |snapshot, row, out| put_id(snapshot, snapshot.actions[row].compile_context, out)),
        text("user_metadata", |snapshot, row, out| put_id(snapshot, snapshot.actions[row].user_metadata, out)),
        int("stack_id", |snapshot, row| snapshot.actions[row].stack.map(|stack| i64::from(stack.0))),
        json("extra", |snapshot, row, out| put_id(snapshot, snapshot.actions[row].extra, out)),
    ],
};

static SEGMENTS: Table<MemorySnapshot> = Table {
    name: "segments",
    doc: "a contiguous piece of memory that the allocator took from the system",
    num_rows: |snapshot| snapshot.segments.len(),
    columns: &[
        int("segment_id", |_, row| Some(row as i64)),
        int("device", |snapshot, row| snapshot.segments[row].device),
        uint("address", |snapshot, row| snapshot.segments[row].address),
        int("size_bytes", |snapshot, row| snapshot.segments[row].size),
        int("allocated_bytes", |snapshot, row| snapshot.segments[row].allocated),
        int("active_bytes", |snapshot, row| snapshot.segments[row].active),
        int("requested_bytes", |snapshot, row| snapshot.segments[row].requested),
        int("stream", |snapshot, row| snapshot.segments[row].stream),
        text("segment_type", |snapshot, row, out| put_id(snapshot, snapshot.segments[row].segment_type, out)),
        json("pool", |snapshot, row, out| put_id(snapshot, snapshot.segments[row].pool, out)),
        boolean("is_expandable", |snapshot, row| snapshot.segments[row].is_expandable),
        int("stack_id", |snapshot, row| snapshot.segments[row].stack.map(|stack| i64::from(stack.0))),
        json("extra", |snapshot, row, out| put_id(snapshot, snapshot.segments[row].extra, out)),
    ],
};

static BLOCKS: Table<MemorySnapshot> = Table {
    name: "blocks",
    doc: "a part of a segment, in use or free",
    num_rows: |snapshot| snapshot.blocks.len(),
    columns: &[
        int("block_id", |_, row| Some(row as i64)),
        int("segment_id", |snapshot, row| Some(i64::from(snapshot.blocks[row].segment))),
        int("device", |snapshot, row| snapshot.segments[snapshot.blocks[row].segment as usize].device),
        uint("address", |snapshot, row| snapshot.blocks[row].address),
        int("size_bytes", |snapshot, row| snapshot.blocks[row].size),
        int("requested_bytes", |snapshot, row| snapshot.blocks[row].requested),
        text("state", |snapshot, row, out| put_id(snapshot, snapshot.blocks[row].state, out)),
        int("stack_id", |snapshot, row| snapshot.blocks[row].stack.map(|stack| i64::from(stack.0))),
        json("extra", |snapshot, row, out| put_id(snapshot, snapshot.blocks[row].extra, out)),
    ],
};

static PAST_BLOCKS: Table<MemorySnapshot> = Table {
    name: "past_blocks",
    doc: "an earlier content of a block, newest first (`history`)",
    num_rows: |snapshot| snapshot.past_blocks.len(),
    columns: &[
        int("block_id", |snapshot, row| Some(i64::from(snapshot.past_blocks[row].block))),
        uint("address", |snapshot, row| snapshot.past_blocks[row].address),
        int("requested_bytes", |snapshot, row| snapshot.past_blocks[row].requested),
        int("stack_id", |snapshot, row| snapshot.past_blocks[row].stack.map(|stack| i64::from(stack.0))),
        json("extra", |snapshot, row, out| put_id(snapshot, snapshot.past_blocks[row].extra, out)),
    ],
};

static FRAMES: Table<MemorySnapshot> = Table {
    name: "frames",
    doc: "a frame of a stack; depth 0 is the innermost",
    num_rows: |snapshot| snapshot.stacks.num_members(),
    columns: &[
        int("stack_id", |snapshot, row| Some(i64::from(snapshot.stacks.member(row).0.0))),
        int("depth", |snapshot, row| Some(snapshot.stacks.member(row).1 as i64)),
        text("function", |snapshot, row, out| put_id(snapshot, frame(snapshot, row).function, out)),
        text("file", |snapshot, row, out| put_id(snapshot, frame(snapshot, row).file, out)),
        int("line", |snapshot, row| frame(snapshot, row).line),
        json("extra", |snapshot, row, out| put_id(snapshot, frame(snapshot, row).extra, out)),
    ],
};

static ANNOTATIONS: Table<MemorySnapshot> = Table {
    name: "annotations",
    doc: "the start or the end of an annotated range",
    num_rows: |snapshot| snapshot.annotations.len(),
    columns: &[
        int("time_ns", |snapshot, row| snapshot.annotations[row].time.map(|time| time.0)),
        int("device", |snapshot, row| snapshot.annotations[row].device),
        text("name", |snapshot, row, out| put_id(snapshot, snapshot.annotations[row].name, out)),
        text("stage", |snapshot, row, out| put_id(snapshot, snapshot.annotations[row].stage, out)),
        json("extra", |snapshot, row, out| put_id(snapshot, snapshot.annotations[row].extra, out)),
    ],
};

fn put_id(snapshot: &MemorySnapshot, id: StrId, out: &mut String) -> bool {
    put(out, snapshot.strings.text(id))
}

fn frame(snapshot: &MemorySnapshot, row: usize) -> Frame {
    snapshot.stacks.member(row).2
}

static SIZES: Table<MemoryTimeline> = Table {
    name: "sizes",
    doc: "the bytes in use at one moment",
    num_rows: |timeline| timeline.sizes.len(),
    columns: &[
        int("time_ns", |timeline, row| timeline.sizes[row].time.map(|time| time.0)),
        int("total_bytes", |timeline, row| Some(timeline.sizes[row].total())),
        size::<{ MemoryCategory::Parameter as usize }>("parameter_bytes"),
        size::<{ MemoryCategory::OptimizerState as usize }>("optimizer_state_bytes"),
        size::<{ MemoryCategory::Input as usize }>("input_bytes"),
        size::<{ MemoryCategory::Temporary as usize }>("temporary_bytes"),
        size::<{ MemoryCategory::Activation as usize }>("activation_bytes"),
        size::<{ MemoryCategory::Gradient as usize }>("gradient_bytes"),
        size::<{ MemoryCategory::AutogradDetail as usize }>("autograd_detail_bytes"),
        size::<{ MemoryCategory::Unknown as usize }>("unknown_bytes"),
    ],
};

const fn size<const CATEGORY: usize>(name: &'static str) -> Column<MemoryTimeline> {
    int(name, |timeline, row| Some(timeline.sizes[row].bytes[CATEGORY]))
}

static TENSOR_ACTIONS: Table<MemoryTimeline> = Table {
    name: "actions",
    doc: "an action on a tensor's memory",
    num_rows: |timeline| timeline.actions.len(),
    columns: &[
        int("time_ns", |timeline, row| timeline.actions[row].time.map(|time| time.0)),
        text("action", |timeline, row, out| put(out, timeline.actions[row].kind.name())),
        text("category", |timeline, row, out| put(out, timeline.actions[row].category.name())),
        int("size_bytes", |timeline, row| Some(timeline.actions[row].size)),
    ],
};
