//! What an export says of the recording as a whole: the header of the Kineto trace that it would be.

use rusqlite::Connection;

use super::database::{Table, quoted};
use super::object::{Object, object};
use super::row::{Faults, Layout, Row};
use super::scene::{Known, Scene};
use super::sort::Sort;

/// Rows of a table that go into the header, and bytes that all of them may have; what is more is not read.
const MAX_ROWS: usize = 1000;
const MAX_BYTES: usize = 1 << 24;

/// A device with a higher number has no name: names are in a list, each at its device's place.
const MAX_DEVICE: i64 = 1023;

pub(super) const DEVICE: Sort = Sort {
    table: "TARGET_INFO_GPU",
    takes: &["id", "name"],
    has_rest: true,
    write: |row, scene| {
        let [id, name] = row.taken();
        let Some(id) = id.integer().filter(|id| (0..=MAX_DEVICE).contains(id)) else { return };
        let name = name.name(&mut scene.known.names);
        let device = properties(row, &mut scene.known, |device| {
            device.integer("id", id);
            device.text("name", &name);
        });
        if scene.known.has_room(device.len()) {
            scene.known.devices.insert(id, device);
        }
    },
};

pub(super) const START: Sort = Sort {
    table: "TARGET_INFO_SESSION_START_TIME",
    takes: &["utcEpochNs"],
    has_rest: false,
    write: |row, scene| {
        let [ns] = row.taken();
        scene.known.base_ns = scene.known.base_ns.or(ns.integer());
    },
};

fn properties(row: &Row<'_>, known: &mut Known, fill: impl FnOnce(&mut Object<'_>)) -> Vec<u8> {
    let mut out = Vec::new();
    object(&mut out, |properties| {
        fill(properties);
        row.write_rest(&mut known.names, properties);
    });
    out
}

/// Whether a table says something of the recording as a whole, or of the machine.
fn is_header(table: &Table) -> bool {
    let is_about = |start| table.name.starts_with(start) && table.name != DEVICE.table;
    ["META_DATA_", "TARGET_INFO_", "ANALYSIS_DETAILS"].into_iter().any(is_about)
}

impl Known {
    /// Writes the keys of the header. Gives the tables that are neither in it nor `is_read`.
    pub(super) fn write_header<'t>(
        &mut self,
        header: &mut Object<'_>,
        connection: &Connection,
        tables: &'t [Table],
        is_read: impl Fn(&Table) -> bool,
    ) -> Vec<&'t Table> {
        write_list(header.field("deviceProperties"), &self.device_list());
        if let Some(ns) = self.base_ns {
            header.integer("baseTimeNanoseconds", ns);
        }
        let mut unread = Vec::new();
        header.object("nsight", |about| {
            for table in tables {
                let rows = if is_header(table) { self.rows(connection, table) } else { Vec::new() };
                if !rows.is_empty() {
                    write_list(about.field(&table.name), &rows);
                } else if !is_read(table) {
                    unread.push(table);
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

    /// The rows of a table as objects; none when it cannot be read, or when there is no room for them.
    fn rows(&mut self, connection: &Connection, table: &Table) -> Vec<Vec<u8>> {
        let layout = Layout::new(table.columns.clone(), &["name"]);
        let mut read = || {
            let mut statement = connection.prepare(&format!("{} LIMIT {MAX_ROWS}", layout.select(table)))?;
            let mut rows = statement.query([])?;
            let mut found = Vec::new();
            while let Some(values) = rows.next()? {
                let row = Row { connection, values, layout: &layout, faults: &Faults::default() };
                let [name] = row.taken();
                // A report may be mailed: what was in the environment is not for everybody.
                if name.contains("ENVIRON") {
                    continue;
                }
                let object = properties(&row, self, |object| name.write_plain("name", object));
                if !self.has_room(object.len()) {
                    return Ok(Vec::new());
                }
                found.push(object);
            }
            Ok::<_, rusqlite::Error>(found)
        };
        read().unwrap_or_default()
    }
}

/// Writes how many rows of which tables are not in the trace.
pub(super) fn write_unread(header: &mut Object<'_>, connection: &Connection, unread: &[&Table], scene: &Scene) {
    header.object("nsight_unread", |counts| {
        let mut left = MAX_COUNTED;
        for table in unread {
            let limit = left.min(MAX_COUNT);
            match count(connection, table, limit + 1) {
                Ok(0) => {}
                Ok(count) => {
                    left -= count.min(limit);
                    if count > limit {
                        counts.text(&table.name, format!("more than {limit}").as_bytes());
                    } else {
                        counts.integer(&table.name, count);
                    }
                }
                Err(fault) => counts.text(&table.name, fault.to_string().as_bytes()),
            }
        }
        if scene.num_backtraces > 0 {
            counts.integer("CUPTI_ACTIVITY_KIND_RUNTIME, backtraces", scene.num_backtraces as i64);
        }
    });
}

/// Rows are counted up to so many, in one table and in all: to count them is to read them.
const MAX_COUNT: i64 = 1_000_000;
const MAX_COUNTED: i64 = 10_000_000;

fn count(connection: &Connection, table: &Table, limit: i64) -> rusqlite::Result<i64> {
    let name = quoted(&table.name);
    connection.query_row(&format!("SELECT count(*) FROM (SELECT 1 FROM {name} LIMIT {limit})"), [], |row| row.get(0))
}

fn write_list(out: &mut Vec<u8>, items: &[Vec<u8>]) {
    out.push(b'[');
    out.extend_from_slice(&items.join(b",".as_slice()));
    out.push(b']');
}
