//! Defines tables: named columns with the functions that give their values.

use std::ops::Range;

use serde_json::Value;

use super::values::{ColumnType, ColumnValues};
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

/// A column that its table is known to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TableColumn {
    pub(crate) table: &'static str,
    pub(crate) name: &'static str,
}

impl<S> Table<S> {
    /// The column of that name. In a constant, a name that the table lacks does not compile.
    pub(crate) const fn column(&self, name: &'static str) -> TableColumn {
        assert!(self.column_type(name).is_some(), "the table has no column of this name");
        TableColumn { table: self.name, name }
    }

    /// The type of the column of that name, if there is one.
    pub(crate) const fn column_type(&self, name: &str) -> Option<ColumnType> {
        let mut at = 0;
        while at < self.columns.len() {
            if is_same(self.columns[at].name, name) {
                return Some(self.columns[at].get.column_type());
            }
            at += 1;
        }
        None
    }
}

impl<S> Getter<S> {
    /// The type of the values.
    pub(crate) const fn column_type(&self) -> ColumnType {
        match self {
            Self::Int(_) => ColumnType::Int,
            Self::UInt(_) => ColumnType::UInt,
            Self::Float(_) => ColumnType::Float,
            Self::Bool(_) => ColumnType::Bool,
            Self::Text(_) => ColumnType::Text,
            Self::Json(_) => ColumnType::Json,
        }
    }
}

/// Whether two names are the same; constants cannot use `==` for texts.
pub(crate) const fn is_same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
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

#[cfg(test)]
mod tests {
    use super::{Table, int, is_same};
    use crate::table::ColumnType;

    static TABLE: Table<Vec<i64>> =
        Table { name: "t", doc: "", num_rows: Vec::len, columns: &[int("dur_ns", |rows, at| Some(rows[at]))] };

    #[test]
    fn a_column_is_found_by_its_whole_name() {
        assert_eq!((TABLE.column("dur_ns").table, TABLE.column("dur_ns").name), ("t", "dur_ns"));
        assert_eq!(TABLE.column_type("dur_ns"), Some(ColumnType::Int));
        assert!(["dur", "dur_ns_", "", "DUR_NS"].iter().all(|name| TABLE.column_type(name).is_none()));
        assert!(is_same("", "") && !is_same("", "a"));
    }

    #[test]
    #[should_panic(expected = "the table has no column of this name")]
    fn a_wrong_name_is_refused() {
        TABLE.column("duration_ns");
    }
}
