//! Reads the first rows of a table by its columns.

use std::sync::Arc;

use crate::table::{ColumnValues, PickedRows, TableColumn, TableRows, ordered};

/// The values of some rows of a table.
#[derive(Default)]
pub(super) struct ReportFrame {
    table: &'static str,
    columns: Vec<(&'static str, ColumnValues)>,
    /// Number of rows in the frame.
    pub(super) num_rows: usize,
    /// Number of rows in the table.
    pub(super) num_in_all: usize,
    /// Whether the frame holds the largest rows instead of the first ones.
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

    /// A frame of computed columns, the first rows of `num_in_all`.
    pub(super) fn derived(&self, columns: Vec<(&'static str, ColumnValues)>, num_in_all: usize) -> Self {
        let num_rows = columns.first().map_or(0, |(_, values)| values.len());
        Self { table: self.table, columns, num_rows, num_in_all, is_top: false }
    }

    /// A frame of selected rows, out of `num_in_all`.
    pub(super) fn picked(table: &Arc<dyn TableRows>, rows: Vec<u32>, num_in_all: usize) -> Self {
        Self { num_in_all, ..Self::of(&*PickedRows::of(Arc::clone(table), rows), usize::MAX) }
    }

    /// The rows with the largest values of a column. Tables of jobs need it, because their rows are
    /// grouped by rank.
    pub(super) fn top(table: &Arc<dyn TableRows>, by: TableColumn, limit: usize) -> Self {
        Self { is_top: true, ..Self::of(&*ordered(table, by.name, true), limit) }
    }

    /// A number, integer or float.
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

    /// A text; `None` if it is empty.
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

    /// Whether rows have names of the trace, which need room.
    pub(super) fn has_names(&self) -> bool {
        self.named("name").is_some() || self.named("path").is_some()
    }

    /// The values of a column. The compiler has checked that its table has the column, so a miss
    /// means that the frame is of another table.
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
