//! Converts the metadata of a recording to the header of a Kineto trace.

use std::sync::Arc;

use super::column::SqlColumn;
use super::export_state::{ExportNames, ExportState};
use super::row::{RowFaults, SqlLayout, SqlRow};
use super::row_kind::RowKind;
use crate::read::environment::is_private_key;
use crate::read::exported::write_counts;
use crate::read::json_object::{JsonObject, object};
use crate::read::secret_text::has_secret;
use crate::read::sqlite::{SqlDatabase, SqlFault, SqlTable};

/// Limits of the header, in rows of a table and bytes of all; the rest is not read.
const MAX_ROWS: usize = 1000;
const MAX_BYTES: usize = 1 << 24;

/// A device with a higher number has no name: names are in a list, each at its device's place.
const MAX_DEVICE: i64 = 1023;

pub(super) const DEVICE: RowKind = RowKind {
    table: "TARGET_INFO_GPU",
    takes: &["id", "name"],
    has_rest: true,
    write: |row, state| {
        let [id, name] = row.taken();
        let Some(id) = id.integer().filter(|id| (0..=MAX_DEVICE).contains(id)) else { return };
        let name = name.name(&mut state.known.names);
        let device = properties(row, &mut state.known, |device| {
            device.integer("id", id);
            device.text("name", &name);
        });
        if state.known.has_room(device.len()) {
            state.known.devices.insert(id, device);
        }
    },
};

pub(super) const START: RowKind = RowKind {
    table: "TARGET_INFO_SESSION_START_TIME",
    takes: &["utcEpochNs"],
    has_rest: false,
    write: |row, state| {
        let [ns] = row.taken();
        state.known.base_ns = state.known.base_ns.or(ns.integer());
    },
};

fn properties(row: &SqlRow<'_>, known: &mut ExportNames, fill: impl FnOnce(&mut JsonObject<'_>)) -> Vec<u8> {
    let mut out = Vec::new();
    object(&mut out, |properties| {
        fill(properties);
        if known.keeps_environment {
            row.write_rest(&mut known.names, properties);
        } else {
            row.write_numbers(&mut known.names, properties);
        }
    });
    out
}

/// Whether a table describes the whole recording or the machine.
fn is_header(table: &SqlTable) -> bool {
    let is_about = |start| table.name.starts_with(start) && table.name != DEVICE.table;
    ["META_DATA_", "TARGET_INFO_", "ANALYSIS_DETAILS"].into_iter().any(is_about)
}

/// Tables of the header that are carried without the environment: of their rows, numbers and public
/// facts.
const CARRIED: [&str; 8] = [
    "ANALYSIS_DETAILS",
    "META_DATA_CAPTURE",
    "META_DATA_EXPORT",
    "TARGET_INFO_CUDA_CONTEXT_INFO",
    "TARGET_INFO_CUDA_DEVICE",
    "TARGET_INFO_CUDA_STREAM",
    "TARGET_INFO_SESSION_START_TIME",
    "TARGET_INFO_SYSTEM_ENV",
];

/// Whether a name and its value may be shared: a number, or the version or name of a product.
fn is_public(name: &str, value: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'-');
    // A number of four parts may be an address.
    let is_number = value.bytes().all(is_digit) && value.matches('.').count() < 3 || matches!(value, "true" | "false");
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b" ._+-".contains(&byte);
    let is_product = ["version", "product"].iter().any(|word| name.to_ascii_lowercase().contains(word));
    let is_product = is_product && !has_secret(value);
    !is_private_key(name) && (is_number || is_product && value.len() < MAX_FACT && value.bytes().all(is_plain))
}

/// Longer texts are no versions.
const MAX_FACT: usize = 64;

impl ExportNames {
    /// Writes the keys of the header. Gives the tables that are neither in it nor `is_read`.
    pub(super) fn write_header<'t>(
        &mut self,
        header: &mut JsonObject<'_>,
        database: &SqlDatabase<'_>,
        tables: &'t [Arc<SqlTable>],
        is_read: impl Fn(&SqlTable) -> bool,
    ) -> Vec<&'t SqlTable> {
        write_list(header.field("deviceProperties"), &self.device_list());
        if let Some(ns) = self.base_ns {
            header.integer("baseTimeNanoseconds", ns);
        }
        let mut unread = Vec::new();
        header.object("nsight", |about| {
            for table in tables {
                let is_carried = self.keeps_environment || CARRIED.contains(&&*table.name);
                let rows = if is_header(table) && is_carried { self.rows(database, table) } else { Vec::new() };
                if !rows.is_empty() {
                    write_list(about.field(&table.name), &rows);
                } else if !is_read(table) {
                    unread.push(&**table);
                }
            }
        });
        unread
    }

    /// Devices by their numbers, from 0 on.
    fn device_list(&mut self) -> Vec<Vec<u8>> {
        let end = self.devices.last_key_value().map_or(0, |(id, _)| id + 1);
        let unnamed = |id| format!("{{\"id\":{id},\"name\":\"\"}}").into_bytes();
        (0..end).map(|id| self.devices.remove(&id).unwrap_or_else(|| unnamed(id))).collect()
    }

    /// Whether so many more bytes may go into the header.
    fn has_room(&mut self, num_bytes: usize) -> bool {
        self.header_bytes += num_bytes;
        self.header_bytes <= MAX_BYTES
    }

    /// The rows of a table as objects; none when it cannot be read, or when there is no room for
    /// them.
    fn rows(&mut self, database: &SqlDatabase<'_>, table: &SqlTable) -> Vec<Vec<u8>> {
        let layout = SqlLayout::new(table.columns.iter().map(SqlColumn::new).collect(), &["name", "value"]);
        let mut num_private = 0;
        let mut read = || {
            let (mut rows, mut found) = (database.rows(table, i64::MIN), Vec::new());
            for _ in 0..MAX_ROWS {
                let Some(record) = rows.next()? else { break };
                let row = SqlRow { database, record, layout: &layout, faults: &RowFaults::default() };
                let [name, value] = row.taken();
                let is_shared = self.keeps_environment
                    || !value.is_some() && !name.is_some()
                    || name.words().zip(value.words()).is_some_and(|(name, value)| is_public(&name, &value));
                if !is_shared {
                    num_private += 1;
                    continue;
                }
                let object = properties(&row, self, |object| {
                    name.write_plain("name", object);
                    value.write_plain("value", object);
                });
                if !self.has_room(object.len()) {
                    return Ok(Vec::new());
                }
                found.push(object);
            }
            Ok::<_, SqlFault>(found)
        };
        let found = read().unwrap_or_default();
        if num_private > 0 && !found.is_empty() {
            self.private_rows.push((table.name.clone(), num_private));
        }
        found
    }
}

/// Writes how many rows of which tables are not in the trace.
pub(super) fn write_unread(
    header: &mut JsonObject<'_>,
    database: &SqlDatabase<'_>,
    unread: &[&SqlTable],
    state: &ExportState,
) {
    header.object("nsight_unread", |counts| {
        write_counts(counts, database, unread.iter().copied());
        for (table, count) in &state.known.private_rows {
            counts.integer(&format!("{table}, environment"), *count);
        }
        if state.num_backtraces > 0 {
            counts.integer("CUPTI_ACTIVITY_KIND_RUNTIME, backtraces", state.num_backtraces as i64);
        }
    });
}

fn write_list(out: &mut Vec<u8>, items: &[Vec<u8>]) {
    out.push(b'[');
    out.extend_from_slice(&items.join(b",".as_slice()));
    out.push(b']');
}
