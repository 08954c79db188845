//! Converts copies and fills.

use super::device::{self, word};
use super::export_state::ExportState;
use super::row::{SqlRow, SqlValue};
use super::row_kind::RowKind;
use crate::read::event_text::write_bytes;

/// Kinds of copies, as Kineto has them, by their codes.
const COPIES: [&str; 14] = [
    "Unknown",
    "HtoD",
    "DtoH",
    "HtoA",
    "AtoH",
    "AtoA",
    "AtoD",
    "DtoA",
    "DtoD",
    "HtoH",
    "PtoP",
    "Unified HtoD",
    "Unified DtoH",
    "Unified DtoD",
];

/// Kinds of memory, likewise.
const MEMORIES: [&str; 8] =
    ["Pageable", "Pinned", "Device", "Array", "Managed", "Device Static", "Managed Static", "Unknown"];

pub(super) const COPY: RowKind = RowKind {
    table: "CUPTI_ACTIVITY_KIND_MEMCPY",
    takes: &["start", "end", "deviceId", "streamId", "globalPid", "bytes", "copyKind", "srcKind", "dstKind"],
    has_rest: true,
    write: copy,
};

pub(super) const FILL: RowKind = RowKind {
    table: "CUPTI_ACTIVITY_KIND_MEMSET",
    takes: &["start", "end", "deviceId", "streamId", "globalPid", "bytes", "memKind"],
    has_rest: true,
    write: fill,
};

fn copy(row: &SqlRow<'_>, state: &mut ExportState) {
    let [start, end, _, _, _, bytes, kind, source, target] = row.taken();
    let kind = word(&COPIES, "ENUM_CUDA_MEMCPY_OPER", kind.integer(), state);
    let [source, target] = [source, target].map(|memory| memory_word(memory, state));
    let name = [b"Memcpy ", kind.as_slice(), b" (", &source, b" -> ", &target, b")"].concat();
    device::event(row, state, ("gpu_memcpy", &name), |args| {
        write_bytes(args, [start, end, bytes].map(SqlValue::integer));
    });
}

fn fill(row: &SqlRow<'_>, state: &mut ExportState) {
    let [start, end, _, _, _, bytes, memory] = row.taken();
    let name = [b"Memset (", memory_word(memory, state).as_slice(), b")"].concat();
    device::event(row, state, ("gpu_memset", &name), |args| {
        write_bytes(args, [start, end, bytes].map(SqlValue::integer));
    });
}

fn memory_word(memory: SqlValue<'_>, state: &ExportState) -> Vec<u8> {
    word(&MEMORIES, "ENUM_CUDA_MEM_KIND", memory.integer(), state)
}
