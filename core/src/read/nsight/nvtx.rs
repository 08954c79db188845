//! Converts NVTX ranges and marks.

use std::sync::Arc;

use super::device_streams::{self, process, write_thread};
use super::export_state::ExportState;
use super::name::{NsightNames, write_code};
use super::nvtx_names::MAX_BYTES;
use super::nvtx_operator::{EmittedRange, is_operator_name};
use super::row::{SqlRow, SqlValue};
use super::row_kind::RowKind;
use crate::read::event_text::write_span;
use crate::read::json_object::JsonObject;
use crate::time::Ts;

/// Rows with names. They are read first, as they may follow their uses.
pub(super) const VOCABULARY: RowKind = RowKind {
    table: "NVTX_EVENTS",
    takes: &["eventType", "globalTid", "domainId", "category", "text", "textId"],
    has_rest: false,
    write: learn,
};

pub(super) const RANGE: RowKind = RowKind {
    table: "NVTX_EVENTS",
    takes: &[
        "start",
        "end",
        "globalTid",
        "endGlobalTid",
        "eventType",
        "text",
        "textId",
        "category",
        "color",
        "domainId",
        "uint64Value",
        "int64Value",
        "doubleValue",
        "uint32Value",
        "int32Value",
        "floatValue",
    ],
    has_rest: true,
    write: event,
};

/// Codes in `eventType`.
const CATEGORY: i64 = 33;
const MARK: i64 = 34;
const THREAD: i64 = 39;
const DOMAIN: i64 = 75;
/// Ranges that were pushed or started, whether or not their end was seen; the last two stand in
/// texts that were imported.
const RANGES: [i64; 6] = [35, 37, 59, 60, 70, 71];

fn learn(row: &SqlRow<'_>, state: &mut ExportState) {
    let [sort, thread, domain, category, text, text_id] = row.taken();
    let sort = sort.integer();
    if !matches!(sort, Some(CATEGORY | THREAD | DOMAIN)) {
        return;
    }
    let Some(id) = thread.integer() else { return };
    let name = message(text, text_id, state);
    let (domain, category) = (domain.integer().unwrap_or(0), category.integer().unwrap_or(0));
    let vocabulary = &mut state.known.vocabulary;
    vocabulary.num_bytes += name.len();
    match sort {
        Some(CATEGORY | DOMAIN) if vocabulary.num_bytes > MAX_BYTES => {}
        Some(CATEGORY) => drop(vocabulary.categories.insert((process(id), domain, category), name)),
        Some(DOMAIN) => drop(vocabulary.domains.insert((process(id), domain), name)),
        _ => state.events.metadata("thread_name", (process(id), device_streams::thread(id)), &name),
    }
}

fn message(text: SqlValue<'_>, text_id: SqlValue<'_>, state: &mut ExportState) -> Arc<[u8]> {
    if text.is_set() { text } else { text_id }.name(&mut state.known.names)
}

fn event(row: &SqlRow<'_>, state: &mut ExportState) {
    let [start, end, thread, end_thread, sort, text, text_id, marks @ ..]: [_; 16] = row.taken();
    let sort = sort.integer().unwrap_or(0);
    if matches!(sort, CATEGORY | THREAD | DOMAIN) {
        return;
    }
    let text = message(text, text_id, state);
    let emitted = EmittedRange::of(&text);
    let name = emitted.map_or(text.as_ref(), |range| range.name.as_bytes());
    let is_operator = emitted.map_or_else(|| is_operator_name(&text), |range| range.is_operator());
    let is_range = RANGES.contains(&sort);
    let thread = thread.integer();
    let end_thread = end_thread.integer().filter(|other| *other != 0 && Some(*other) != thread);
    state.element(|event, known| {
        write_time(event, sort, [start, end].map(SqlValue::integer));
        event.text("cat", if is_operator && is_range { b"cpu_op".as_slice() } else { b"user_annotation" });
        event.text("name", name);
        write_place(event, thread, end_thread);
        event.object("args", |args| {
            write_sort(args, sort, &known.names);
            if let Some(range) = emitted {
                range.write(args);
            }
            if let Some(other) = end_thread {
                args.integer("end thread", device_streams::thread(other));
            }
            known.vocabulary.write_marks(args, thread, &marks);
            row.write_rest(&mut known.names, args);
        });
    });
}

fn write_time(event: &mut JsonObject<'_>, sort: i64, [start, end]: [Option<i64>; 2]) {
    if RANGES.contains(&sort) || sort != MARK && end > start {
        return write_span(event, start, end);
    }
    event.text("ph", b"i");
    event.text("s", b"t");
    if let Some(start) = start {
        event.micros("ts", Ts(start));
    }
}

/// A range that ends on another thread is not nested, and contains nothing on its own thread.
fn write_place(event: &mut JsonObject<'_>, thread: Option<i64>, end_thread: Option<i64>) {
    match thread {
        Some(thread) if end_thread.is_some() => {
            event.integer("pid", process(thread));
            event.text("tid", format!("NVTX {}", device_streams::thread(thread)).as_bytes());
        }
        _ => write_thread(event, thread),
    }
}

/// Writes rows that are neither ranges nor marks.
fn write_sort(args: &mut JsonObject<'_>, sort: i64, names: &NsightNames) {
    if sort == MARK || RANGES.contains(&sort) {
        return;
    }
    write_code(args, "event type", "ENUM_NSYS_EVENT_TYPE", (sort, names));
}
