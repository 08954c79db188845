//! Defines tables: named columns with the functions that give their values.

use std::ops::Range;

use serde_json::Value;

use super::values::ColumnValues;
use crate::link::LinkedTrace;

/// A table's name, its rows and its columns, over recordings of sort `S`.
#[derive(Debug)]
pub struct Table<S: 'static = LinkedTrace> {
    /// The name it is asked for by.
    pub name: &'static str,
    /// The description of a row.
    pub doc: &'static str,
    /// The number of rows.
    pub num_rows: fn(&S) -> usize,
    /// The columns.
    pub columns: &'static [Column<S>],
}

/// A column: its name, and the function that returns the value of a row.
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

/// How a column's name says its unit.
pub(super) const UNITS: [(&str, &str); 3] = [("_ns", "ns"), ("bytes", "bytes"), ("_gbps", "GB/s")];

impl<S> Column<S> {
    /// The unit of its values, where they have one.
    pub fn unit(&self) -> Option<&'static str> {
        UNITS.iter().find(|(ending, _)| self.name.ends_with(ending)).map(|(_, unit)| *unit)
    }

    /// The values of some rows.
    pub fn values(&self, source: &S, rows: Range<usize>) -> ColumnValues {
        match self.get {
            Getter::Int(get) => ColumnValues::Int(rows.map(|row| get(source, row)).collect()),
            Getter::UInt(get) => ColumnValues::UInt(rows.map(|row| get(source, row)).collect()),
            Getter::Float(get) => ColumnValues::Float(rows.map(|row| get(source, row)).collect()),
            Getter::Bool(get) => ColumnValues::Bool(rows.map(|row| get(source, row)).collect()),
            Getter::Text(get) | Getter::Json(get) => {
                let (mut bytes, mut ends, mut valid) = (String::new(), Vec::new(), Vec::new());
                for row in rows {
                    valid.push(get(source, row, &mut bytes));
                    ends.push(bytes.len());
                }
                ColumnValues::Text { bytes, ends, valid }
            }
        }
    }
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
