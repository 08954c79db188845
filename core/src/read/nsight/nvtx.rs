//! Ranges and marks that the program set with NVTX.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::name::{Names, write_code};
use super::object::Object;
use super::place::{self, process, write_thread};
use super::row::{Row, Value};
use super::scene::{Scene, write_span};
use super::sort::Sort;
use crate::time::Ts;

/// What domains and categories are called, by their process and their numbers.
#[derive(Debug, Default)]
pub(super) struct Vocabulary {
    domains: FxHashMap<(i64, i64), Arc<[u8]>>,
    categories: FxHashMap<(i64, i64, i64), Arc<[u8]>>,
    num_bytes: usize,
}

/// So many bytes of names are kept; what is more stays with its number.
const MAX_BYTES: usize = 1 << 26;

/// Rows that name something. They are read first, for they may stand behind what has the name.
pub(super) const VOCABULARY: Sort = Sort {
    table: "NVTX_EVENTS",
    takes: &["eventType", "globalTid", "domainId", "category", "text", "textId"],
    has_rest: false,
    write: learn,
};

pub(super) const RANGE: Sort = Sort {
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
/// Ranges that were pushed or started, whether or not their end was seen; the last two stand in texts that were imported.
const RANGES: [i64; 6] = [35, 37, 59, 60, 70, 71];

fn learn(row: &Row<'_>, scene: &mut Scene) {
    let [sort, thread, domain, category, text, text_id] = row.taken();
    let sort = sort.integer();
    if !matches!(sort, Some(CATEGORY | THREAD | DOMAIN)) {
        return;
    }
    let Some(id) = thread.integer() else { return };
    let name = message(text, text_id, scene);
    let (domain, category) = (domain.integer().unwrap_or(0), category.integer().unwrap_or(0));
    let vocabulary = &mut scene.known.vocabulary;
    vocabulary.num_bytes += name.len();
    match sort {
        Some(CATEGORY | DOMAIN) if vocabulary.num_bytes > MAX_BYTES => {}
        Some(CATEGORY) => drop(vocabulary.categories.insert((process(id), domain, category), name)),
        Some(DOMAIN) => drop(vocabulary.domains.insert((process(id), domain), name)),
        _ => scene.metadata("thread_name", (process(id), place::thread(id)), &name),
    }
}

fn message(text: Value<'_>, text_id: Value<'_>, scene: &mut Scene) -> Arc<[u8]> {
    if text.is_set() { text } else { text_id }.name(&mut scene.known.names)
}

fn event(row: &Row<'_>, scene: &mut Scene) {
    let [start, end, thread, end_thread, sort, text, text_id, marks @ ..]: [_; 16] = row.taken();
    let sort = sort.integer().unwrap_or(0);
    if matches!(sort, CATEGORY | THREAD | DOMAIN) {
        return;
    }
    let name = message(text, text_id, scene);
    let thread = thread.integer();
    let end_thread = end_thread.integer().filter(|other| *other != 0 && Some(*other) != thread);
    scene.element(|event, known| {
        write_time(event, sort, [start, end].map(Value::integer));
        event.text("cat", b"user_annotation");
        event.text("name", &name);
        write_place(event, thread, end_thread);
        event.object("args", |args| {
            write_sort(args, sort, &known.names);
            if let Some(other) = end_thread {
                args.integer("end thread", place::thread(other));
            }
            known.vocabulary.write_marks(args, thread, &marks);
            row.write_rest(&mut known.names, args);
        });
    });
}

fn write_time(event: &mut Object<'_>, sort: i64, [start, end]: [Option<i64>; 2]) {
    if RANGES.contains(&sort) || sort != MARK && end > start {
        return write_span(event, start, end);
    }
    event.text("ph", b"i");
    event.text("s", b"t");
    if let Some(start) = start {
        event.micros("ts", Ts(start));
    }
}

/// What ends on another thread is nested in nothing on the one that it started on, and holds nothing there.
fn write_place(event: &mut Object<'_>, thread: Option<i64>, end_thread: Option<i64>) {
    match thread {
        Some(thread) if end_thread.is_some() => {
            event.integer("pid", process(thread));
            event.text("tid", format!("NVTX {}", place::thread(thread)).as_bytes());
        }
        _ => write_thread(event, thread),
    }
}

/// Writes what a sort of row is that is neither range nor mark.
fn write_sort(args: &mut Object<'_>, sort: i64, names: &Names) {
    if sort == MARK || RANGES.contains(&sort) {
        return;
    }
    write_code(args, "event type", "ENUM_NSYS_EVENT_TYPE", (sort, names));
}

/// The payload is of one of several types; where versions before 2021 had no value of a type they wrote 0.
fn write_payload(args: &mut Object<'_>, payloads: &[Value<'_>]) {
    let payload =
        payloads.iter().find(|payload| payload.is_set()).or(payloads.iter().find(|payload| payload.is_some()));
    if let Some(payload) = payload {
        payload.write_plain("payload", args);
    }
}

impl Vocabulary {
    /// Writes what a range or mark was given beside its text.
    fn write_marks(&self, args: &mut Object<'_>, thread: Option<i64>, marks: &[Value<'_>]) {
        let [category, color, domain, payloads @ ..] = marks else { return };
        let process = thread.map_or(0, process);
        let [category, color, domain] = [category, color, domain].map(|mark| mark.integer().unwrap_or(0));
        if domain != 0 {
            write_name(args, "domain", domain, self.domains.get(&(process, domain)));
        }
        if category != 0 {
            write_name(args, "category", category, self.categories.get(&(process, domain, category)));
        }
        if color != 0 {
            args.text("color", format!("#{:08X}", color as u32).as_bytes());
        }
        write_payload(args, payloads);
    }
}

fn write_name(args: &mut Object<'_>, key: &str, number: i64, name: Option<&Arc<[u8]>>) {
    match name {
        Some(name) => args.text(key, name),
        None => args.integer(key, number),
    }
}
