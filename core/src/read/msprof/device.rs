//! Converts tasks, collectives and clocks of devices.

use super::host::{FROM_CALL, FROM_OPERATOR, write_arrow};
use super::known::{COMPUTE_TEXTS, COPY_KINDS, DATA_TYPES, MsprofKnown, is_set};
use super::layer::TraceLayer;
use super::words::{collective_of, dtype_of, is_public_group};
use crate::read::event_text::{EventText, write_bytes};
use crate::read::json_object::{JsonObject, object};
use crate::read::table_row::TableRow;
use crate::time::Ts;

/// Names and arguments of a task that another table has.
#[derive(Default)]
struct TaskDetails {
    /// The number of its name.
    name: Option<i64>,
    /// Arguments, as an object.
    args: Vec<u8>,
    bytes: Option<i64>,
}

pub(super) fn write_task(row: &TableRow<'_>, _: usize, known: &mut MsprofKnown, events: &mut EventText) {
    let [start, end, device, connection, id, process, kind, context, stream, task, model] = row.numbers();
    let (Some(start), Some(device), Some(stream)) = (start, device, stream) else { return row.warn_invalid() };
    let place = (process.unwrap_or(0), device);
    known.first_place.get_or_insert(place);
    let kind = known.text(row, kind).unwrap_or_default();
    let details = id.map(|id| task_details(known, row, (id, &kind))).unwrap_or_default();
    let name = known.text(row, details.name).unwrap_or_else(|| kind.clone());
    let layer = known.layers.device(events, TraceLayer::Hardware, place);
    known.layers.row(events, (layer, stream), || format!("Stream {stream}"));
    let connection = connection.filter(is_set);
    events.element(|event| {
        row.write_span(event, start, end);
        event.text("name", &name);
        event.integer("pid", layer);
        event.integer("tid", stream);
        event.object("args", |args| {
            args.text("Task Type", &kind);
            let numbers = [("Task Id", task), ("Context Id", context), ("Model Id", model)];
            write_numbers(args, numbers.map(|(key, number)| (key, number.filter(is_set))));
            write_numbers(args, [("connection_id", connection)]);
            args.keys_of(&details.args);
            write_bytes(args, [Some(start), end, details.bytes]);
        });
    });
    for kind in [FROM_OPERATOR, FROM_CALL] {
        if let Some(id) = connection {
            write_arrow(events, false, (kind, id), (layer, stream, start));
        }
    }
    row.expect(!name.is_empty());
}

/// The kind of copies. `msprof` describes all of them, if it records calls of the runtime; other
/// tasks, such as kernels, need not have details.
const COPY: &[u8] = b"MEMCPY_ASYNC";

fn task_details(known: &mut MsprofKnown, row: &TableRow<'_>, (id, kind): (i64, &[u8])) -> TaskDetails {
    let (mut details, id) = (TaskDetails::default(), Some(id));
    if let Some([name, values @ ..]) = row.numbers_of::<15>(known.compute.as_ref(), id) {
        details.name = name;
        details.args = compute_args(known, row, values);
    } else if let Some([name, from, to, size]) = row.numbers_of(known.communication.as_ref(), id) {
        (details.name, details.bytes) = (name, size);
        object(&mut details.args, |args| {
            write_numbers(args, [("src rank", from), ("dst rank", to)].map(|(key, rank)| (key, rank.filter(is_set))));
        });
    } else if let Some([name]) = row.numbers_of(known.schedule.as_ref(), id) {
        details.name = name;
    }
    let copy = row.numbers_of(known.copies.as_ref(), id);
    row.expect(copy.is_some() || known.copies.is_none() || kind != COPY);
    if let Some([size, operation]) = copy {
        details.bytes = size.or(details.bytes);
        let label = known.label(COPY_KINDS, operation).filter(|_| details.args.is_empty());
        if let Some(label) = label {
            object(&mut details.args, |args| args.text("operation", label.as_bytes()));
        }
    }
    details
}

/// Facts of a computation, as an object.
fn compute_args(known: &mut MsprofKnown, row: &TableRow<'_>, values: [Option<i64>; 14]) -> Vec<u8> {
    let [texts @ .., blocks, mixed, old_blocks, old_mixed] = values;
    let texts = texts.map(|text| known.text(row, text));
    let mut out = Vec::new();
    object(&mut out, |args| {
        for ((_, key), text) in COMPUTE_TEXTS.iter().zip(texts) {
            if let Some(text) = text.filter(|text| !text.is_empty() && **text != *b"N/A") {
                args.text(key, &text);
            }
        }
        write_numbers(args, [("Block Num", blocks.or(old_blocks)), ("Mix Block Num", mixed.or(old_mixed))]);
    });
    out
}

pub(super) fn write_collective(row: &TableRow<'_>, _: usize, known: &mut MsprofKnown, events: &mut EventText) {
    let [name, start, end, connection, group, dtype, algorithm, count, kind, device, relay, retry] = row.numbers();
    let Some(start) = start else { return row.warn_invalid() };
    let (process, first_device) = known.first_place.unwrap_or((0, 0));
    let place = (process, device.unwrap_or(first_device));
    let found = known.text(row, name);
    let number = known.group(group.unwrap_or(-1));
    let [group, algorithm, kind] = [group, algorithm, kind].map(|id| known.text(row, id));
    let dtype = known.label(DATA_TYPES, dtype).map(str::to_owned);
    let layer = known.layers.device(events, TraceLayer::Communication, place);
    known.layers.row(events, (layer, number), || format!("Group {number} Communication"));
    let connection = connection.filter(is_set);
    events.element(|event| {
        row.write_span(event, start, end);
        event.text("name", found.as_deref().unwrap_or_default());
        event.integer("pid", layer);
        event.integer("tid", number);
        event.object("args", |args| {
            if let Some(collective) = kind.as_deref().and_then(collective_of) {
                args.text("Collective name", collective.as_bytes());
            }
            let group = group.as_deref().filter(|group| is_public_group(group));
            let numbered = format!("group {number}").into_bytes();
            args.text("Process Group Name", group.unwrap_or(&numbered));
            if let Some(dtype) = &dtype {
                args.text("dtype", dtype_of(dtype).as_bytes());
            }
            write_numbers(
                args,
                [("In msg nelems", count), ("connection_id", connection), ("relay", relay), ("retry", retry)],
            );
            if let Some(algorithm) = algorithm.filter(|algorithm| !algorithm.is_empty()) {
                args.text("alg_type", &algorithm);
            }
        });
    });
    if let Some(id) = connection {
        write_arrow(events, false, (FROM_CALL, id), (layer, number, start));
    }
    row.expect(found.is_some());
}

fn write_numbers<const N: usize>(args: &mut JsonObject<'_>, numbers: [(&str, Option<i64>); N]) {
    for (key, number) in numbers {
        if let Some(number) = number {
            args.integer(key, number);
        }
    }
}

/// A change of the clock of a device's cores.
pub(super) fn write_frequency(row: &TableRow<'_>, _: usize, known: &mut MsprofKnown, events: &mut EventText) {
    let [Some(device), Some(time), Some(mhz)] = row.numbers() else { return row.warn_invalid() };
    let process = known.first_place.map_or(0, |(process, _)| process);
    let layer = known.layers.device(events, TraceLayer::Hardware, (process, device));
    events.element(|event| {
        event.text("ph", b"C");
        event.text("name", b"AI Core Freq");
        event.integer("pid", layer);
        event.micros("ts", Ts(time));
        event.object("args", |args| args.integer("MHz", mhz));
    });
}
