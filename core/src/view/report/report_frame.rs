//! Reads the first rows of a table by its columns.

use std::sync::Arc;

use crate::table::{ColumnValues, PickedRows, TableColumn, TableRows, ordered};

/// The values of some rows of a table.
#[derive(Default)]
pub(super) struct ReportFrame {
    table: &'static str,
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
        let columns = (0..table.num_columns()).map(values).collect();
        Self { table: table.name(), columns, num_rows, num_in_all, is_top: false }
    }

    /// Rows that were made of those of another frame, the first of so many.
    pub(super) fn derived(&self, columns: Vec<(&'static str, ColumnValues)>, num_in_all: usize) -> Self {
        let num_rows = columns.first().map_or(0, |(_, values)| values.len());
        Self { table: self.table, columns, num_rows, num_in_all, is_top: false }
    }

    /// Some of a table's rows, of so many.
    pub(super) fn picked(table: &Arc<dyn TableRows>, rows: Vec<u32>, num_in_all: usize) -> Self {
        Self { num_in_all, ..Self::of(&*PickedRows::of(Arc::clone(table), rows), usize::MAX) }
    }

    /// The rows with the most of a number: tables of several ranks have one rank's after the
    /// other's.
    pub(super) fn top(table: &Arc<dyn TableRows>, by: TableColumn, limit: usize) -> Self {
        Self { is_top: true, ..Self::of(&*ordered(table, by.name, true), limit) }
    }

    /// A number, whole or not.
    pub(super) fn number(&self, column: TableColumn, row: usize) -> Option<f64> {
        match self.values(column)? {
            ColumnValues::Float(values) => values.get(row).filter(|value| value.is_finite()),
            values => int(values, row).map(|value| value as f64),
        }
    }

    pub(super) fn int(&self, column: TableColumn, row: usize) -> Option<i64> {
        int(self.values(column)?, row)
    }

    pub(super) fn flag(&self, column: TableColumn, row: usize) -> Option<bool> {
        match self.values(column)? {
            ColumnValues::Bool(values) => values.get(row),
            _ => None,
        }
    }

    /// A text; none for an empty one.
    pub(super) fn text(&self, column: TableColumn, row: usize) -> Option<&str> {
        self.values(column)?.text(row).filter(|text| !text.is_empty())
    }

    /// The rank of a row, in tables of a job.
    pub(super) fn rank(&self, row: usize) -> Option<i64> {
        int(self.named("rank")?, row)
    }

    /// The index of a row's trace among those of its rank, in tables of a job.
    pub(super) fn window(&self, row: usize) -> Option<i64> {
        int(self.named("window")?, row)
    }

    /// The values of a column. Its table is known to have it, so that only a column of another
    /// table is missing here.
    fn values(&self, column: TableColumn) -> Option<&ColumnValues> {
        debug_assert!(self.columns.is_empty() || self.table == column.table, "{} is not {}", self.table, column.table);
        self.named(column.name)
    }

    fn named(&self, name: &str) -> Option<&ColumnValues> {
        self.columns.iter().find(|(known, _)| *known == name).map(|(_, values)| values)
    }
}

fn int(values: &ColumnValues, row: usize) -> Option<i64> {
    match values {
        ColumnValues::UInt(values) => i64::try_from(values.get(row)?).ok(),
        _ => values.int(row),
    }
}
