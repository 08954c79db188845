//! A table with its documented columns.

use serde::Serialize;

use super::column_doc::ColumnDoc;
use super::column_unit::column_unit;
use crate::table::{ColumnType, Table, TableRows};

/// A table that users can get.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SchemaTable {
    /// Name of the table.
    pub table: &'static str,
    /// Name of the analysis that returns the table; `None` for tables of a recording.
    pub analysis: Option<&'static str>,
    /// Owner of the table: `trace`, `job`, `chakra`, `flight_recorder`,
    /// `flight_recorder_set`, `memory_snapshot`, `memory_timeline` or `replay`.
    pub of: &'static str,
    /// Description of a row.
    pub doc: &'static str,
    /// Columns, in order.
    pub columns: Vec<SchemaColumn>,
}

/// A column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SchemaColumn {
    /// Name of the column.
    pub name: &'static str,
    /// Type: `int64`, `uint64`, `float64`, `bool`, `string`, or `json` (a string that is JSON).
    #[serde(rename = "type")]
    pub column_type: &'static str,
    /// Unit; `None` for columns without numbers.
    pub unit: Option<&'static str>,
    /// Field of the file that the value comes from, or `computed`.
    pub source: &'static str,
    /// Meaning, with a formula if there is one.
    pub doc: &'static str,
}

/// The place of a table: its owner, and the analysis that returns it.
#[derive(Debug, Clone, Copy)]
pub(super) struct TableOwner {
    pub(super) of: &'static str,
    pub(super) analysis: Option<&'static str>,
}

impl TableOwner {
    /// A table of a recording.
    pub(super) fn recording(of: &'static str) -> Self {
        Self { of, analysis: None }
    }

    /// Describes a table by its definition.
    pub(super) fn table<S>(self, table: &Table<S>) -> SchemaTable {
        let columns = table.columns.iter().map(|column| (column.name, column.get.column_type()));
        SchemaTable::new(self, (table.name, table.doc), columns)
    }

    /// Describes a table by its rows, of which there may be none.
    pub(super) fn rows(self, rows: &dyn TableRows) -> SchemaTable {
        let columns = (0..rows.num_columns()).map(|at| (rows.column_name(at), rows.column_type(at)));
        SchemaTable::new(self, (rows.name(), rows.doc()), columns)
    }
}

impl SchemaTable {
    fn new(
        owner: TableOwner,
        (table, doc): (&'static str, &'static str),
        columns: impl Iterator<Item = (&'static str, ColumnType)>,
    ) -> Self {
        let mut described = Self { table, analysis: owner.analysis, of: owner.of, doc, columns: Vec::new() };
        let columns = columns.map(|(name, column_type)| described.column(name, column_type)).collect();
        described.columns = columns;
        described
    }

    /// Name that distinguishes tables of one name: the analysis of a trace or job, else the owner.
    ///
    /// ```
    /// use kinetoscope::schema::schema;
    /// let tables = schema();
    /// let iterations = tables.iter().filter(|table| table.table == "iterations");
    /// assert!(iterations.map(|table| table.scope()).eq(["trace", "summary"]));
    /// ```
    pub fn scope(&self) -> &'static str {
        match self.analysis {
            Some(analysis) if matches!(self.of, "trace" | "job") => analysis,
            _ => self.of,
        }
    }

    fn column(&self, name: &'static str, column_type: ColumnType) -> SchemaColumn {
        let entry = ColumnDoc::all_of(self, name).first().copied();
        let unit = || entry.and_then(|entry| entry.unit).or_else(|| column_unit(name));
        let is_number = matches!(column_type, ColumnType::Int | ColumnType::UInt | ColumnType::Float);
        SchemaColumn {
            name,
            column_type: type_name(column_type),
            unit: if is_number { unit() } else { None },
            source: entry.map_or("", |entry| entry.source),
            doc: entry.map_or("", |entry| entry.doc),
        }
    }
}

fn type_name(column_type: ColumnType) -> &'static str {
    match column_type {
        ColumnType::Int => "int64",
        ColumnType::UInt => "uint64",
        ColumnType::Float => "float64",
        ColumnType::Bool => "bool",
        ColumnType::Text => "string",
        ColumnType::Json => "json",
    }
}
