//! A selection of rows of a table.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;

use super::rows::TableRows;
use super::values::{ColumnType, ColumnValues};
use crate::sort;

/// Rows of another table, by their places there.
pub(crate) struct PickedRows {
    rows_of: Arc<dyn TableRows>,
    rows: Vec<u32>,
}

impl PickedRows {
    /// These rows alone, in the order given.
    pub(crate) fn of(rows_of: Arc<dyn TableRows>, rows: Vec<u32>) -> Arc<dyn TableRows> {
        Arc::new(Self { rows_of, rows })
    }
}

/// All rows in the order of a column, nulls last; unchanged where there is no such column.
pub(crate) fn ordered(table: &Arc<dyn TableRows>, column: &str, descends: bool) -> Arc<dyn TableRows> {
    let num_rows = table.num_rows();
    let Some(at) = (0..table.num_columns()).find(|at| table.column_name(*at) == column) else {
        return Arc::clone(table);
    };
    let values = table.values(at, 0..num_rows);
    let mut places: Vec<u32> = (0..num_rows as u32).collect();
    sort::by(&mut places, |a, b| values.compare((*a as usize, *b as usize), descends));
    PickedRows::of(Arc::clone(table), places)
}

/// All rows by the size of the integers of a column, whatever their sign: the largest first, nulls
/// last.
pub(crate) fn ordered_by_size(table: &Arc<dyn TableRows>, column: &str) -> Arc<dyn TableRows> {
    let num_rows = table.num_rows();
    let found = (0..table.num_columns()).find(|at| table.column_name(*at) == column);
    let Some(ColumnValues::Int(values)) = found.map(|at| table.values(at, 0..num_rows)) else {
        return Arc::clone(table);
    };
    let mut places: Vec<u32> = (0..num_rows as u32).collect();
    sort::by_key(&mut places, |row| Reverse(values.get(*row as usize).map(i64::unsigned_abs)));
    PickedRows::of(Arc::clone(table), places)
}

impl TableRows for PickedRows {
    fn name(&self) -> &'static str {
        self.rows_of.name()
    }

    fn doc(&self) -> &'static str {
        self.rows_of.doc()
    }

    fn num_rows(&self) -> usize {
        self.rows.len()
    }

    fn num_columns(&self) -> usize {
        self.rows_of.num_columns()
    }

    fn column_name(&self, column: usize) -> &'static str {
        self.rows_of.column_name(column)
    }

    fn column_type(&self, column: usize) -> ColumnType {
        self.rows_of.column_type(column)
    }

    fn column_unit(&self, column: usize) -> Option<&'static str> {
        self.rows_of.column_unit(column)
    }

    fn values(&self, column: usize, rows: Range<usize>) -> ColumnValues {
        let mut all = self.rows_of.values(column, 0..0);
        for run in self.rows[rows].chunk_by(|row, next| row + 1 == *next) {
            let start = run[0] as usize;
            all.append(self.rows_of.values(column, start..start + run.len()));
        }
        all
    }
}
