//! Converts the tables of RPD.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::known::RocmKnown;
use super::words::{MARKER, RUNTIME, TEXTS, work};
use crate::read::event_text::{EventText, write_bytes, write_shape, write_span};
use crate::read::sqlite::{SqlContent, SqlDatabase, SqlRecord, SqlTable, TextTable};
use crate::read::table_export::TableStage;
use crate::read::table_row::{TableColumns, TableLookup, TableRow, integer, text};
use crate::time::Ts;

/// The name of calls that are markers; their argument is the text.
const USER_MARKER: &[u8] = b"UserMarker";
/// Of a launch by this name, the grid has work-items; of others, blocks.
const LAUNCH_BY_ITEMS: &[u8] = b"hipExtModuleLaunchKernel";

/// Tables that others refer to.
#[derive(Default)]
pub(in crate::read) struct RpdTables {
    texts: TextTable,
    /// The call that started each work.
    call_of_work: FxHashMap<i64, i64>,
    calls: Option<TableLookup>,
    /// Details of kernels and copies: by the work, or by its call.
    kernels: [Option<TableLookup>; 2],
    copies: [Option<TableLookup>; 2],
}

const KERNEL: &[&str] = &[
    "gridX",
    "gridY",
    "gridZ",
    "workgroupX",
    "workgroupY",
    "workgroupZ",
    "groupSegmentSize",
    "kernelName_id",
    "stream",
];
const COPY: &[&str] = &["size", "stream"];

/// Whether a table only adds to the rows of others.
pub(super) fn is_support(name: &str) -> bool {
    const SUPPORT: [&str; 7] = [
        "rocpd_api_ops",
        "rocpd_kernelapi",
        "rocpd_kernelop",
        "rocpd_copyapi",
        "rocpd_copyop",
        "rocpd_kernelcodeobject",
        "rocpd_op_inputSignals",
    ];
    SUPPORT.contains(&name)
}

/// The tables whose rows become events; `known` gets those that they refer to.
pub(super) fn stages(
    database: &SqlDatabase<'_>,
    tables: &[Arc<SqlTable>],
    known: &mut RpdTables,
) -> Vec<TableStage<RocmKnown>> {
    let table = |name: &str| tables.iter().find(|table| table.name == name);
    let Some(texts) = table(TEXTS) else { return Vec::new() };
    known.texts = TextTable::new(database, texts, ["id", "string"]);
    if let Some(links) = table("rocpd_api_ops") {
        known.call_of_work = calls_of_work(database, links);
    }
    let lookup = |name: &str, columns| table(name).map(|table| TableLookup::new(table, columns));
    known.calls = lookup("rocpd_api", &["apiName_id"]);
    known.kernels = ["rocpd_kernelop", "rocpd_kernelapi"].map(|name| lookup(name, KERNEL));
    known.copies = ["rocpd_copyop", "rocpd_copyapi"].map(|name| lookup(name, COPY));
    let calls = table("rocpd_api");
    let calls = calls
        .map(|table| TableStage::new(table, &["pid", "tid", "start", "end", "apiName_id", "args_id"], 0, write_call));
    let works = table("rocpd_op");
    let works = works.map(|table| {
        TableStage::new(table, &["gpuId", "queueId", "start", "end", "description_id", "opType_id"], 0, write_work)
    });
    let monitor = table("rocpd_monitor");
    let monitor = monitor.map(|table| {
        TableStage::new(table, &["deviceType", "deviceId", "monitorType", "start", "value"], 0, write_sample)
    });
    calls.into_iter().chain(works).chain(monitor).collect()
}

/// The call of each work, as far as the table can be read.
fn calls_of_work(database: &SqlDatabase<'_>, links: &SqlTable) -> FxHashMap<i64, i64> {
    let (columns, mut found) = (TableColumns::new(links, &["api_id", "op_id"]), FxHashMap::default());
    let mut rows = database.rows(links, i64::MIN);
    while let Ok(Some(row)) = rows.next() {
        if let [Some(call), Some(work)] = columns.of(row).map(integer) {
            found.insert(work, call);
        }
    }
    found
}

fn write_call(row: &TableRow<'_>, _: usize, known: &mut RocmKnown, events: &mut EventText) -> bool {
    let [process, thread, start, end, name, args] = row.taken().map(integer);
    let Some(start) = start else { return false };
    let texts = &mut known.rpd.texts;
    let mut text = |id: Option<i64>| id.and_then(|id| texts.text(row.database, id)).unwrap_or_default();
    let (name, args) = (text(name), text(args));
    let is_marker = &*name == USER_MARKER;
    events.element(|event| {
        write_span(event, Some(start), end);
        event.text("cat", if is_marker { MARKER } else { RUNTIME }.as_bytes());
        event.text("name", if is_marker { &args } else { &name });
        event.integer("pid", process.unwrap_or(0));
        event.integer("tid", thread.unwrap_or(0));
        event.object("args", |fields| {
            if !is_marker {
                fields.integer("correlation", row.record.row);
                if !args.is_empty() {
                    fields.text("args", &args);
                }
            }
        });
    });
    true
}

fn write_work(row: &TableRow<'_>, _: usize, known: &mut RocmKnown, events: &mut EventText) -> bool {
    let [device, queue, start, end, description, kind] = row.taken().map(integer);
    let (Some(start), Some(device)) = (start, device) else { return false };
    let RpdTables { texts, call_of_work, calls, kernels, copies } = &mut known.rpd;
    let call = call_of_work.get(&row.record.row).copied();
    let keys = [Some(row.record.row), call];
    let mut text = |id: Option<i64>| id.and_then(|id| texts.text(row.database, id)).filter(|text| !text.is_empty());
    let kind = text(kind).map_or_else(String::new, |kind| String::from_utf8_lossy(&kind).into_owned());
    let (category, name) = work(&kind);
    let kernel = details(kernels, row, keys).filter(|_| category == "kernel");
    let (numbers, stream) = kernel.as_ref().map_or(([None; 8], None), |(record, columns)| {
        let [numbers @ .., stream] = columns.of::<9>(record);
        (numbers.map(integer), stream_text(stream))
    });
    let [grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, kernel_name] = numbers;
    let mut sides = [grid_x, grid_y, grid_z];
    let launch = call.and_then(|call| calls.as_ref()?.row(row.database, call));
    let launch = launch.and_then(|(record, columns)| integer(columns.of::<1>(&record)[0]));
    if text(launch).is_some_and(|name| &*name == LAUNCH_BY_ITEMS) {
        for (side, block) in sides.iter_mut().zip([block_x, block_y, block_z]) {
            *side = side.zip(block.filter(|block| *block > 0)).map(|(items, block)| items / block);
        }
    }
    let copy = details(copies, row, keys).filter(|_| category != "kernel");
    let bytes = copy.as_ref().and_then(|(record, columns)| integer(columns.of::<1>(record)[0]));
    let found = text(description).or_else(|| text(kernel_name));
    let name = name.or_else(|| found.map(|name| String::from_utf8_lossy(&name).into_owned())).unwrap_or(kind);
    events.element(|event| {
        write_span(event, Some(start), end);
        event.text("cat", category.as_bytes());
        event.text("name", name.as_bytes());
        event.integer("pid", device);
        event.integer("tid", queue.unwrap_or(0));
        event.object("args", |args| {
            args.integer("device", device);
            args.integer("stream", queue.unwrap_or(0));
            if let Some(call) = call {
                args.integer("correlation", call);
            }
            if let Some(stream) = &stream {
                args.text("hip stream", stream);
            }
            write_shape(args, "grid", sides);
            write_shape(args, "block", [block_x, block_y, block_z]);
            if let Some(shared) = shared {
                args.integer("shared memory", shared);
            }
            write_bytes(args, [Some(start), end, bytes]);
        });
    });
    true
}

/// The details of a work, by its own number or by that of its call.
fn details<'t>(
    tables: &'t [Option<TableLookup>; 2],
    row: &TableRow<'_>,
    keys: [Option<i64>; 2],
) -> Option<(SqlRecord, &'t TableColumns)> {
    tables.iter().zip(keys).find_map(|(table, key)| table.as_ref()?.row(row.database, key?))
}

/// A stream by its address in the process.
fn stream_text(content: SqlContent<'_>) -> Option<Vec<u8>> {
    text(content).map(<[u8]>::to_vec)
}

/// A sample of the clock or the power of a device.
fn write_sample(row: &TableRow<'_>, _: usize, _: &mut RocmKnown, events: &mut EventText) -> bool {
    let [device_kind, device, kind, start, value] = row.taken();
    let (Some(kind), Some(start)) = (text(kind), integer(start)) else { return false };
    let device = integer(device).unwrap_or(0);
    let value = match value {
        SqlContent::Integer(number) => number.to_string(),
        SqlContent::Real(number) if number.is_finite() => format!("{number:?}"),
        // Texts of numbers, as columns without a type keep them.
        SqlContent::Text(number) if number.len() < 32 => match String::from_utf8_lossy(number).parse::<f64>() {
            Ok(number) if number.is_finite() => format!("{number:?}"),
            _ => return false,
        },
        _ => return false,
    };
    let name = [text(device_kind).unwrap_or(b"device"), format!(" {device} ").as_bytes(), kind].concat();
    events.element(|event| {
        event.text("ph", b"C");
        event.text("name", &name);
        event.integer("pid", device);
        event.micros("ts", Ts(start));
        event.object("args", |args| args.field(&String::from_utf8_lossy(kind)).extend_from_slice(value.as_bytes()));
    });
    true
}
