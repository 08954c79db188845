//! Reads the first rows of a table by column name.

use std::sync::Arc;

use crate::table::{ColumnValues, PickedRows, TableRows, ordered};

/// The values of some rows.
#[derive(Default)]
pub(super) struct ReportFrame {
    columns: Vec<(&'static str, ColumnValues)>,
    /// How many rows are here.
    pub(super) num_rows: usize,
    /// How many the table has.
    pub(super) num_in_all: usize,
    /// Whether they are here for having the most of something, and not for being first.
    pub(super) is_top: bool,
}

impl ReportFrame {
    pub(super) fn of(table: &dyn TableRows, limit: usize) -> Self {
        let num_in_all = table.num_rows();
        let num_rows = num_in_all.min(limit);
        let values = |at| (table.column_name(at), table.values(at, 0..num_rows));
        Self { columns: (0..table.num_columns()).map(values).collect(), num_rows, num_in_all, is_top: false }
    }

    /// Rows that were made here, the first of so many.
    pub(super) fn of_columns(columns: Vec<(&'static str, ColumnValues)>, num_in_all: usize) -> Self {
        let num_rows = columns.first().map_or(0, |(_, values)| values.len());
        Self { columns, num_rows, num_in_all, is_top: false }
    }

    /// Some of a table's rows, of so many.
    pub(super) fn picked(table: &Arc<dyn TableRows>, rows: Vec<u32>, num_in_all: usize) -> Self {
        Self { num_in_all, ..Self::of(&*PickedRows::of(Arc::clone(table), rows), usize::MAX) }
    }

    /// The rows with the most of a number: tables of several ranks have one rank's after the
    /// other's.
    pub(super) fn top(table: &Arc<dyn TableRows>, by: &str, limit: usize) -> Self {
        Self { is_top: true, ..Self::of(&*ordered(table, by, true), limit) }
    }

    /// A number, whole or not.
    pub(super) fn number(&self, name: &str, row: usize) -> Option<f64> {
        number(self.values(name)?, row)
    }

    pub(super) fn int(&self, name: &str, row: usize) -> Option<i64> {
        int(self.values(name)?, row)
    }

    pub(super) fn flag(&self, name: &str, row: usize) -> Option<bool> {
        match self.values(name)? {
            ColumnValues::Bool(values) => values.get(row),
            _ => None,
        }
    }

    /// A text; none for an empty one.
    pub(super) fn text(&self, name: &str, row: usize) -> Option<&str> {
        self.values(name)?.text(row).filter(|text| !text.is_empty())
    }

    fn values(&self, name: &str) -> Option<&ColumnValues> {
        self.columns.iter().find(|(known, _)| *known == name).map(|(_, values)| values)
    }
}

fn number(values: &ColumnValues, row: usize) -> Option<f64> {
    match values {
        ColumnValues::Float(values) => values.get(row).filter(|value| value.is_finite()),
        _ => int(values, row).map(|value| value as f64),
    }
}

fn int(values: &ColumnValues, row: usize) -> Option<i64> {
    match values {
        ColumnValues::UInt(values) => i64::try_from(values.get(row)?).ok(),
        _ => values.int(row),
    }
}
