//! Converts the tables of RPD.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::known::RocmKnown;
use super::launch_shape::blocks_of;
use super::words::{COPY_CATEGORY, DRIVER, RUNTIME, TEXTS, USER_MARKER, category_of_call, work};
use crate::read::event_text::{EventText, write_bytes, write_shape};
use crate::read::sqlite::{SqlContent, SqlDatabase, SqlRecord, SqlTable, TextTable};
use crate::read::table_export::TableStage;
use crate::read::table_row::{KeyedLookup, TableColumns, TableRow, integer};
use crate::time::Ts;

/// Of a launch by these names, the grid has work-items; of others, blocks.
const LAUNCHES_BY_ITEMS: [&[u8]; 2] = [b"hipExtModuleLaunchKernel", b"hipHccModuleLaunchKernel"];
/// Calls of whose kernels each version of the tracer writes details. Of others, such as a launch of
/// a graph, some versions write none.
const LAUNCHES: [&[u8]; 6] = [
    b"hipLaunchKernel",
    b"hipExtLaunchKernel",
    b"hipModuleLaunchKernel",
    b"hipExtModuleLaunchKernel",
    b"hipHccModuleLaunchKernel",
    b"hipLaunchCooperativeKernel",
];
/// The same for copies.
const COPIES: [&[u8]; 11] = [
    b"hipMemcpy",
    b"hipMemcpyAsync",
    b"hipMemcpyWithStream",
    b"hipMemcpyHtoD",
    b"hipMemcpyHtoDAsync",
    b"hipMemcpyDtoH",
    b"hipMemcpyDtoHAsync",
    b"hipMemcpyDtoD",
    b"hipMemcpyDtoDAsync",
    b"hipMemcpy2D",
    b"hipMemcpy2DAsync",
];

/// Tables that others refer to.
#[derive(Default)]
pub(in crate::read) struct RpdTables {
    texts: TextTable,
    /// Arguments of calls, where they have a table of their own.
    arguments: Option<TextTable>,
    /// The call that started each work that is not read yet.
    call_of_work: FxHashMap<i64, i64>,
    calls: Option<KeyedLookup>,
    /// Details of kernels and copies: by the work, or by its call.
    kernels: [Option<KeyedLookup>; 2],
    copies: [Option<KeyedLookup>; 2],
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
const COPY: &[&str] = &["size"];
const CALL: &[&str] = &["id", "pid", "tid", "start", "end", "apiName_id", "args_id", "domain_id", "category_id"];
const WORK: &[&str] = &["id", "gpuId", "queueId", "start", "end", "description_id", "opType_id"];
const SAMPLE: &[&str] = &["deviceType", "deviceId", "monitorType", "start", "value"];

/// Which call started which work.
const LINKS: &str = "rocpd_api_ops";
/// Texts of arguments, since schema 3.
const ARGUMENTS: &str = "rocpd_ustring";

/// Whether a table only adds to the rows of others.
pub(super) fn is_support(name: &str) -> bool {
    const SUPPORT: [&str; 8] = [
        ARGUMENTS,
        LINKS,
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
    let texts = |name: &str| table(name).map(|table| TextTable::new(database, table, ["id", "string"]));
    known.texts = texts(TEXTS).unwrap_or_default();
    known.arguments = texts(ARGUMENTS);
    if let Some(links) = table(LINKS) {
        known.call_of_work = calls_of_work(database, links);
    }
    let lookup =
        |name: &str, key: &str, columns| table(name).map(|table| KeyedLookup::new(database, table, key, columns));
    known.calls = lookup("rocpd_api", "id", &["apiName_id"]);
    let details = |[of_work, of_call]: [&str; 2], columns| {
        [lookup(of_work, "op_ptr_id", columns), lookup(of_call, "api_ptr_id", columns)]
    };
    known.kernels = details(["rocpd_kernelop", "rocpd_kernelapi"], KERNEL);
    known.copies = details(["rocpd_copyop", "rocpd_copyapi"], COPY);
    let stage = |name: &str, columns, write| table(name).map(|table| TableStage::new(table, columns, 0, write));
    let found = [
        stage("rocpd_api", CALL, write_call),
        stage("rocpd_op", WORK, write_work),
        stage("rocpd_monitor", SAMPLE, write_sample),
        stage(LINKS, &["op_id", "api_id"], check_link),
    ];
    found.into_iter().flatten().collect()
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

fn write_call(row: &TableRow<'_>, _: usize, known: &mut RocmKnown, events: &mut EventText) {
    let [id, process, thread, start, end, name, args, domain, scope] = row.numbers();
    let Some(start) = start else { return row.warn_invalid() };
    let RpdTables { texts, arguments, .. } = &mut known.rpd;
    let mut word = |id| row.text(texts, id).map(|text| String::from_utf8_lossy(&text).into_owned());
    // A domain without its text is an unknown one; old schemas have no domains.
    let domain = domain.map(|domain| word(Some(domain)).unwrap_or_default());
    let (name, scope) = (word(name), word(scope).unwrap_or_default());
    let args = row.text(arguments.as_mut().unwrap_or(texts), args).unwrap_or_default();
    row.expect(name.is_some());
    let name = name.unwrap_or_default();
    let category = category_of_call(domain.as_deref(), &scope, &name);
    let is_user_marker = name == USER_MARKER;
    events.element(|event| {
        row.write_span(event, start, end);
        event.text("cat", category.as_bytes());
        event.text("name", if is_user_marker { &args } else { name.as_bytes() });
        event.integer("pid", process.unwrap_or(0));
        event.integer("tid", thread.unwrap_or(0));
        event.object("args", |fields| {
            if [RUNTIME, DRIVER].contains(&category) {
                fields.integer("correlation", id.unwrap_or(row.record.row));
            }
            if let Some(domain) = domain.filter(|domain| !domain.is_empty()) {
                fields.text("domain", domain.as_bytes());
            }
            if !is_user_marker && !args.is_empty() {
                fields.text("args", &args);
            }
        });
    });
}

fn write_work(row: &TableRow<'_>, _: usize, known: &mut RocmKnown, events: &mut EventText) {
    let [id, device, queue, start, end, description, kind] = row.numbers();
    let (Some(start), Some(device)) = (start, device) else { return row.warn_invalid() };
    let tables = &mut known.rpd;
    let id = id.unwrap_or(row.record.row);
    let call = tables.call_of_work.remove(&id);
    let keys = [Some(id), call];
    let mut word = |id| row.text(&mut tables.texts, id).map(|text| String::from_utf8_lossy(&text).into_owned());
    let [description, kind] = [word(description), word(kind)];
    row.expect(kind.is_some());
    let (description, kind) = (description.unwrap_or_default(), kind.unwrap_or_default());
    let (category, name) = work(&kind, &description);
    let is_kernel = category == "kernel";
    let launch = if is_kernel { tables.launch(row, keys) } else { RpdLaunch::default() };
    let bytes = if is_kernel { None } else { tables.copied_bytes(row, keys, category) };
    let name = name.unwrap_or_else(|| {
        let known = [description, tables.kernel_name(row, &launch)];
        let name = known.into_iter().find(|name| !name.is_empty());
        // A kernel has a name of its own.
        row.expect(name.is_some() || !is_kernel);
        name.unwrap_or(kind)
    });
    events.element(|event| {
        row.write_span(event, start, end);
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
            if let Some(stream) = &launch.stream {
                args.text("hip stream", stream);
            }
            write_shape(args, "grid", launch.grid);
            write_shape(args, "block", launch.block);
            if let Some(shared) = launch.shared {
                args.integer("shared memory", shared);
            }
            write_bytes(args, [Some(start), end, bytes]);
        });
    });
}

/// The details of a kernel.
#[derive(Default)]
struct RpdLaunch {
    grid: [Option<i64>; 3],
    block: [Option<i64>; 3],
    shared: Option<i64>,
    /// The number of the kernel's name.
    name: Option<i64>,
    /// The stream's address in the process.
    stream: Option<Vec<u8>>,
}

impl RpdTables {
    /// The details of a kernel, by the numbers of the work and of its call.
    fn launch(&mut self, row: &TableRow<'_>, keys: [Option<i64>; 2]) -> RpdLaunch {
        let call = self.call_name(row, keys[1]);
        let found = details(&self.kernels, row, keys);
        row.expect(found.is_some() || !LAUNCHES.contains(&&*call));
        let Some((record, columns)) = found else { return RpdLaunch::default() };
        let [.., stream] = columns.of::<9>(&record);
        let [grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, name] = row.numbers_in(columns, &record);
        let (sides, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
        let grid = if LAUNCHES_BY_ITEMS.contains(&&*call) { blocks_of(sides, block) } else { sides };
        RpdLaunch { grid, block, shared, name, stream: row.words(stream).map(<[u8]>::to_vec) }
    }

    /// The size of a copy or a fill, by the same numbers.
    fn copied_bytes(&mut self, row: &TableRow<'_>, keys: [Option<i64>; 2], category: &str) -> Option<i64> {
        let is_detailed = category == COPY_CATEGORY && COPIES.contains(&&*self.call_name(row, keys[1]));
        let found = details(&self.copies, row, keys);
        row.expect(found.is_some() || !is_detailed);
        let (record, columns) = found?;
        let [bytes] = row.numbers_in(columns, &record);
        bytes
    }

    /// The name of the call that started a work; empty if unknown, which the call's row counts.
    fn call_name(&mut self, row: &TableRow<'_>, call: Option<i64>) -> Arc<[u8]> {
        let found = row.numbers_of(self.calls.as_ref(), call);
        let text = found.and_then(|[name]| self.texts.text(row.database, name?));
        text.unwrap_or_default()
    }

    /// The name of a kernel in its details.
    fn kernel_name(&mut self, row: &TableRow<'_>, launch: &RpdLaunch) -> String {
        let name = row.text(&mut self.texts, launch.name).unwrap_or_default();
        String::from_utf8_lossy(&name).into_owned()
    }
}

/// The details of a work, by its own number or by that of its call.
fn details<'t>(
    tables: &'t [Option<KeyedLookup>; 2],
    row: &TableRow<'_>,
    keys: [Option<i64>; 2],
) -> Option<(SqlRecord, &'t TableColumns)> {
    tables.iter().zip(keys).find_map(|(table, key)| table.as_ref()?.row(row.database, key?))
}

/// A sample of the clock or the power of a device.
fn write_sample(row: &TableRow<'_>, _: usize, _: &mut RocmKnown, events: &mut EventText) {
    let [device_kind, device, kind, start, value] = row.taken();
    let (Some(kind), Some(start)) = (row.words(kind), row.number(start)) else { return row.warn_invalid() };
    let device = row.number(device).unwrap_or(0);
    let value = match value {
        SqlContent::Integer(number) => number.to_string(),
        SqlContent::Real(number) if number.is_finite() => format!("{number:?}"),
        // Texts of numbers, as columns without a type keep them.
        SqlContent::Text(number) if number.len() < 32 => match String::from_utf8_lossy(number).parse::<f64>() {
            Ok(number) if number.is_finite() => format!("{number:?}"),
            _ => return row.warn_invalid(),
        },
        _ => return row.warn_invalid(),
    };
    let name = [row.words(device_kind).unwrap_or(b"device"), format!(" {device} ").as_bytes(), kind].concat();
    events.element(|event| {
        event.text("ph", b"C");
        event.text("name", &name);
        event.integer("pid", device);
        event.micros("ts", Ts(start));
        event.object("args", |args| args.field(&String::from_utf8_lossy(kind)).extend_from_slice(value.as_bytes()));
    });
}

/// Counts a link to work that the file lacks, or from no call.
fn check_link(row: &TableRow<'_>, _: usize, known: &mut RocmKnown, _: &mut EventText) {
    let [work, call] = row.numbers();
    row.expect(call.is_some() && work.is_some_and(|work| !known.rpd.call_of_work.contains_key(&work)));
}
