//! Tables of a flight recorder.

use super::column::{Table, boolean, int, json, put, text};
use super::health::FLIGHT_HEALTH;
use crate::flight::FlightRecorder;
use crate::id::StrId;

/// All tables of a flight recorder.
pub const FLIGHT_TABLES: &[&Table<FlightRecorder>] = &[&ENTRIES, &GROUPS, &FRAMES, &FLIGHT_HEALTH];

static ENTRIES: Table<FlightRecorder> = Table {
    name: "entries",
    doc: "a communication that a process group enqueued",
    num_rows: |recorder| recorder.entries.len(),
    columns: &[
        int("id", |_, row| Some(row as i64)),
        int("record_id", |recorder, row| recorder.entries[row].record_id),
        int("group_id", |recorder, row| recorder.entries[row].group_id),
        text("group_name", |recorder, row, out| put_id(recorder, recorder.entries[row].group_name, out)),
        text("group_desc", |recorder, row, out| put_id(recorder, recorder.entries[row].group_desc, out)),
        int("collective_seq", |recorder, row| recorder.entries[row].collective_seq),
        int("p2p_seq", |recorder, row| recorder.entries[row].p2p_seq),
        int("op_id", |recorder, row| recorder.entries[row].op_id),
        boolean("is_p2p", |recorder, row| recorder.entries[row].is_p2p),
        text("name", |recorder, row, out| put_id(recorder, recorder.entries[row].name, out)),
        text("state", |recorder, row, out| put_id(recorder, recorder.entries[row].state, out)),
        int("created_ns", |recorder, row| recorder.entries[row].created_ns),
        int("started_ns", |recorder, row| recorder.entries[row].started_ns),
        int("completed_ns", |recorder, row| recorder.entries[row].completed_ns),
        int("duration_ns", |recorder, row| recorder.entries[row].duration_ns),
        int("timeout_ns", |recorder, row| recorder.entries[row].timeout_ns),
        boolean("is_retired", |recorder, row| recorder.entries[row].is_retired),
        json("input_shapes", |recorder, row, out| put_id(recorder, recorder.entries[row].input_shapes, out)),
        json("input_types", |recorder, row, out| put_id(recorder, recorder.entries[row].input_types, out)),
        json("output_shapes", |recorder, row, out| put_id(recorder, recorder.entries[row].output_shapes, out)),
        json("output_types", |recorder, row, out| put_id(recorder, recorder.entries[row].output_types, out)),
        int("stack_id", |recorder, row| recorder.entries[row].stack.map(|stack| i64::from(stack.0))),
        json("extra", |recorder, row, out| put_id(recorder, recorder.entries[row].extra, out)),
    ],
};

static GROUPS: Table<FlightRecorder> = Table {
    name: "groups",
    doc: "a process group, with the last collective that was enqueued, started and completed",
    num_rows: |recorder| recorder.groups.len(),
    columns: &[
        text("group", |recorder, row, out| put_id(recorder, recorder.groups[row].key, out)),
        text("name", |recorder, row, out| put_id(recorder, recorder.groups[row].name, out)),
        text("desc", |recorder, row, out| put_id(recorder, recorder.groups[row].desc, out)),
        json("ranks", |recorder, row, out| put_id(recorder, recorder.groups[row].ranks, out)),
        int("last_enqueued_seq", |recorder, row| recorder.groups[row].last_enqueued),
        int("last_started_seq", |recorder, row| recorder.groups[row].last_started),
        int("last_completed_seq", |recorder, row| recorder.groups[row].last_completed),
        json("extra", |recorder, row, out| put_id(recorder, recorder.groups[row].extra, out)),
    ],
};

static FRAMES: Table<FlightRecorder> = Table {
    name: "frames",
    doc: "a frame of a stack; depth 0 is the innermost",
    num_rows: |recorder| recorder.stacks.num_members(),
    columns: &[
        int("stack_id", |recorder, row| Some(i64::from(recorder.stacks.member(row).0.0))),
        int("depth", |recorder, row| Some(recorder.stacks.member(row).1 as i64)),
        text("function", |recorder, row, out| put_id(recorder, recorder.stacks.member(row).2.function, out)),
        text("file", |recorder, row, out| put_id(recorder, recorder.stacks.member(row).2.file, out)),
        int("line", |recorder, row| recorder.stacks.member(row).2.line),
        json("extra", |recorder, row, out| put_id(recorder, recorder.stacks.member(row).2.extra, out)),
    ],
};

fn put_id(recorder: &FlightRecorder, id: StrId, out: &mut String) -> bool {
    put(out, recorder.strings.text(id))
}
