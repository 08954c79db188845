//! Tables: named columns over the rows of a linked trace. What leaves the core as a `DataFrame` is decided here.

mod capture;
mod cells;
mod chakra;
mod collective;
mod event;
mod health;
mod lines;
mod link;
mod memory;
mod node;
mod packed;
mod picked;
mod point;
mod rows;
mod stacked;
mod values;

use std::ops::Range;

use serde_json::Value;

use crate::link::LinkedTrace;
pub use capture::CAPTURED;
pub use cells::Cells;
pub use chakra::{CHAKRA_TABLES, chakra_metadata};
pub(crate) use collective::RANK_COLLECTIVES;
pub use collective::RANK_TABLES;
pub(crate) use event::EVENTS;
pub use lines::json_lines;
pub use memory::{MEMORY_SNAPSHOT_TABLES, MEMORY_TIMELINE_TABLES};
pub(crate) use packed::Packed;
pub(crate) use picked::{Picked, ordered};
pub use rows::{ColumnType, Rows};
pub use stacked::{Part, Stacked};
pub use values::Values;

/// A table's name, its rows and its columns, over recordings of sort `S`.
#[derive(Debug)]
pub struct Table<S: 'static = LinkedTrace> {
    /// The name it is asked for by.
    pub name: &'static str,
    /// What a row is.
    pub doc: &'static str,
    /// The number of rows.
    pub num_rows: fn(&S) -> usize,
    /// The columns.
    pub columns: &'static [Column<S>],
}

/// A column: its name, what it holds, and how a row's value is found.
#[derive(Debug)]
pub struct Column<S: 'static = LinkedTrace> {
    /// The name; times end in `_ns`, sizes in `_bytes`.
    pub name: &'static str,
    /// How a row's value is found.
    pub get: Getter<S>,
}

/// How a row's value is found, and of which type it is. A missing value is null.
#[derive(Debug)]
pub enum Getter<S: 'static = LinkedTrace> {
    /// Signed integers.
    Int(fn(&S, usize) -> Option<i64>),
    /// Identifiers.
    UInt(fn(&S, usize) -> Option<u64>),
    /// Floats.
    Float(fn(&S, usize) -> Option<f64>),
    /// True or false.
    Bool(fn(&S, usize) -> Option<bool>),
    /// Texts: appended to the given string; false for null.
    Text(fn(&S, usize, &mut String) -> bool),
    /// Texts that are JSON, in files that are well-formed.
    Json(fn(&S, usize, &mut String) -> bool),
}

/// Version of the names, types and meanings of all tables; a new one wherever one of them changes.
pub const SCHEMA_VERSION: &str = "2";

/// How a column's name says its unit.
const UNITS: [(&str, &str); 3] = [("_ns", "ns"), ("bytes", "bytes"), ("_gbps", "GB/s")];

impl<S> Column<S> {
    /// The unit of its values, where they have one.
    pub fn unit(&self) -> Option<&'static str> {
        UNITS.iter().find(|(ending, _)| self.name.ends_with(ending)).map(|(_, unit)| *unit)
    }

    /// The values of some rows.
    pub fn values(&self, source: &S, rows: Range<usize>) -> Values {
        match self.get {
            Getter::Int(get) => Values::Int(rows.map(|row| get(source, row)).collect()),
            Getter::UInt(get) => Values::UInt(rows.map(|row| get(source, row)).collect()),
            Getter::Float(get) => Values::Float(rows.map(|row| get(source, row)).collect()),
            Getter::Bool(get) => Values::Bool(rows.map(|row| get(source, row)).collect()),
            Getter::Text(get) | Getter::Json(get) => {
                let (mut bytes, mut ends, mut valid) = (String::new(), Vec::new(), Vec::new());
                for row in rows {
                    valid.push(get(source, row, &mut bytes));
                    ends.push(bytes.len());
                }
                Values::Text { bytes, ends, valid }
            }
        }
    }
}

/// All tables of a trace.
///
/// ```
/// use kinetoscope::table::{TABLES, table};
/// assert_eq!(TABLES[0].name, "events");
/// assert!(table("nodes").is_some());
/// ```
pub const TABLES: &[&Table] = &[
    &EVENTS,
    &point::INSTANTS,
    &point::COUNTERS,
    &point::FLOWS,
    &point::ITERATIONS,
    &node::NODES,
    &node::TENSORS,
    &node::DEPENDENCIES,
    &node::PROCESS_GROUPS,
    &link::LINKS,
    &collective::COLLECTIVES,
    &health::HEALTH,
];

/// The table of that name.
pub fn table(name: &str) -> Option<&'static Table> {
    TABLES.iter().copied().find(|table| table.name == name)
}

pub(crate) const fn int<S>(name: &'static str, get: fn(&S, usize) -> Option<i64>) -> Column<S> {
    Column { name, get: Getter::Int(get) }
}

pub(crate) const fn uint<S>(name: &'static str, get: fn(&S, usize) -> Option<u64>) -> Column<S> {
    Column { name, get: Getter::UInt(get) }
}

pub(crate) const fn float<S>(name: &'static str, get: fn(&S, usize) -> Option<f64>) -> Column<S> {
    Column { name, get: Getter::Float(get) }
}

pub(crate) const fn boolean<S>(name: &'static str, get: fn(&S, usize) -> Option<bool>) -> Column<S> {
    Column { name, get: Getter::Bool(get) }
}

pub(crate) const fn text<S>(name: &'static str, get: fn(&S, usize, &mut String) -> bool) -> Column<S> {
    Column { name, get: Getter::Text(get) }
}

pub(crate) const fn json<S>(name: &'static str, get: fn(&S, usize, &mut String) -> bool) -> Column<S> {
    Column { name, get: Getter::Json(get) }
}

/// Appends a name, which may be empty but is never null.
pub(crate) fn put_name(out: &mut String, name: &str) -> bool {
    out.push_str(name);
    true
}

/// Appends a JSON value: a string without its quotes, any other as it is written; null is null.
pub(crate) fn put_json(out: &mut String, value: &Value) -> bool {
    match value {
        Value::String(text) => put(out, text),
        Value::Null => false,
        other => put(out, &other.to_string()),
    }
}

/// Appends a text; an empty one is null.
pub(crate) fn put(out: &mut String, text: &str) -> bool {
    out.push_str(text);
    !text.is_empty()
}
