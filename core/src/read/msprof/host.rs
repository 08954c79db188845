//! Converts operators, calls and markers of the host.

use super::known::{API_TYPES, MARKER_TYPES, MsprofKnown, is_set};
use super::layer::TraceLayer;
use super::words::{layer_of, shapes_of};
use crate::read::event_text::EventText;
use crate::read::json_object::{JsonObject, push_text};
use crate::read::table_row::TableRow;
use crate::time::Ts;

/// Arrows from a queue's entry to where it leaves, from an operator and from a call to a task.
pub(super) const QUEUE: &str = "async_task_queue";
pub(super) const FROM_OPERATOR: &str = "async_npu";
pub(super) const FROM_CALL: &str = "HostToDevice";

/// The thread in `globalTid`: its process in the upper half, its number in the lower one.
pub(super) fn thread_of(global: i64) -> (i64, i64) {
    (global >> 32, global & 0xFFFF_FFFF)
}

/// Writes an end of an arrow.
pub(super) fn write_arrow(events: &mut EventText, is_start: bool, (kind, id): (&str, i64), at: (i64, i64, i64)) {
    let (process, thread, time) = at;
    events.element(|event| {
        event.text("ph", if is_start { b"s" } else { b"f" });
        event.text("bp", b"e");
        event.text("name", kind.as_bytes());
        event.text("cat", kind.as_bytes());
        event.integer("id", id);
        event.integer("pid", process);
        event.integer("tid", thread);
        event.micros("ts", Ts(time));
    });
}

/// The category of a row in `PYTORCH_API` by the label of its type and its name.
fn category(kind: Option<&str>, name: &[u8]) -> &'static str {
    match kind {
        Some("trace") => "python_function",
        Some("mstx") => "user_annotation",
        Some("queue") => {
            if name.starts_with(b"Dequeue") {
                "dequeue"
            } else {
                "enqueue"
            }
        }
        _ if name.starts_with(b"ProfilerStep#") || name.starts_with(b"Optimizer.") => "user_annotation",
        _ => "cpu_op",
    }
}

pub(super) fn write_operator(row: &TableRow<'_>, _: usize, known: &mut MsprofKnown, events: &mut EventText) {
    let [start, end, global, connection, name, sequence, forward, dtypes, shapes, kind] = row.numbers();
    let (Some(start), Some(global)) = (start, global) else { return row.warn_invalid() };
    let (process, thread) = thread_of(global);
    let found = known.text(row, name);
    let name = found.as_deref().unwrap_or_default();
    let [dtypes, shapes] = [dtypes, shapes].map(|id| known.text(row, id));
    let category = category(known.label(API_TYPES, kind), name);
    known.layers.host(events, TraceLayer::Python, process);
    events.element(|event| {
        row.write_span(event, start, end);
        event.text("cat", category.as_bytes());
        event.text("name", name);
        event.integer("pid", process);
        event.integer("tid", thread);
        event.object("args", |args| {
            for (key, number) in [("Sequence number", sequence), ("Fwd thread id", forward)] {
                if let Some(number) = number.filter(|number| *number >= 0) {
                    args.integer(key, number);
                }
            }
            write_inputs(args, shapes.as_deref(), dtypes.as_deref());
        });
    });
    let at = (process, thread, start);
    for id in known.connections(row, connection) {
        match category {
            "enqueue" => write_arrow(events, true, (QUEUE, id), at),
            "dequeue" => {
                write_arrow(events, false, (QUEUE, id), at);
                if known.leads_to_work(id) {
                    write_arrow(events, true, (FROM_OPERATOR, id), at);
                }
            }
            _ if known.leads_to_work(id) => write_arrow(events, true, (FROM_OPERATOR, id), at),
            _ => {}
        }
    }
    row.expect(found.is_some());
}

/// Writes shapes and types of inputs, as Kineto does where the text allows.
fn write_inputs(args: &mut JsonObject<'_>, shapes: Option<&[u8]>, dtypes: Option<&[u8]>) {
    let is_set = |text: &&[u8]| !text.is_empty() && *text != b"N/A";
    if let Some(shapes) = shapes.filter(is_set) {
        match shapes_of(shapes) {
            Some(list) => args.field("Input Dims").extend_from_slice(&list),
            None => args.text("Input Dims", shapes),
        }
    }
    if let Some(dtypes) = dtypes.filter(is_set) {
        let out = args.field("Input type");
        for (at, dtype) in dtypes.split(|byte| *byte == b';').enumerate() {
            out.push(if at == 0 { b'[' } else { b',' });
            push_text(out, dtype);
        }
        out.push(b']');
    }
}

pub(super) fn write_call(row: &TableRow<'_>, _: usize, known: &mut MsprofKnown, events: &mut EventText) {
    let [start, end, kind, global, connection, name] = row.numbers();
    let (Some(start), Some(global)) = (start, global) else { return row.warn_invalid() };
    let (process, thread) = thread_of(global);
    let found = known.text(row, name);
    let label = known.label(API_TYPES, kind);
    let layer = label.and_then(layer_of).filter(|_| !found.as_ref().is_some_and(|name| name.contains(&b'@')));
    let name = [layer.unwrap_or_default().as_bytes(), found.as_deref().unwrap_or_default()].join(if layer.is_some() {
        &b"@"[..]
    } else {
        b""
    });
    let level = label.map(str::to_owned);
    let process = known.layers.host(events, TraceLayer::Cann, process);
    let connection = connection.filter(is_set);
    events.element(|event| {
        row.write_span(event, start, end);
        event.text("name", &name);
        event.integer("pid", process);
        event.integer("tid", thread);
        event.object("args", |args| {
            if let Some(level) = &level {
                args.text("level", level.as_bytes());
            }
            if let Some(connection) = connection {
                args.integer("connection_id", connection);
            }
        });
    });
    if let Some(id) = connection.filter(|id| known.leads_to_work(*id)) {
        write_arrow(events, true, (FROM_CALL, id), (process, thread, start));
    }
    row.expect(found.is_some());
}

pub(super) fn write_marker(row: &TableRow<'_>, _: usize, known: &mut MsprofKnown, events: &mut EventText) {
    let [start, end, kind, message, global] = row.numbers();
    let (Some(start), Some(global)) = (start, global) else { return row.warn_invalid() };
    let (process, thread) = thread_of(global);
    let found = known.text(row, message);
    let is_point = known.label(MARKER_TYPES, kind).is_some_and(|kind| kind.starts_with("marker"));
    known.layers.host(events, TraceLayer::Python, process);
    events.element(|event| {
        if is_point {
            event.text("ph", b"i");
            event.text("s", b"t");
            event.micros("ts", Ts(start));
        } else {
            row.write_span(event, start, end);
        }
        event.text("cat", b"user_annotation");
        event.text("name", found.as_deref().unwrap_or_default());
        event.integer("pid", process);
        event.integer("tid", thread);
    });
    row.expect(found.is_some());
}

/// A step, where no operators tell it. No column says which thread.
pub(super) fn write_step(row: &TableRow<'_>, _: usize, known: &mut MsprofKnown, events: &mut EventText) {
    let [Some(id), Some(start), end] = row.numbers() else { return row.warn_invalid() };
    known.layers.host(events, TraceLayer::Python, 0);
    events.element(|event| {
        row.write_span(event, start, end);
        event.text("cat", b"user_annotation");
        event.text("name", format!("ProfilerStep#{id}").as_bytes());
        event.integer("pid", 0);
        event.integer("tid", 0);
    });
}
