//! Packs tables as bytes, to combine them elsewhere.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::rows::TableRows;
use super::values::{ColumnType, ColumnValues};
use crate::error::{Error, ErrorKind};

/// The values of a table without its names, which whoever unpacks it knows.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PackedTable {
    num_rows: usize,
    columns: Vec<ColumnValues>,
}

/// A table of another's kind with rows of its own.
struct UnpackedTable {
    like: Arc<dyn TableRows>,
    packed: PackedTable,
}

impl PackedTable {
    /// All values of a table.
    pub(crate) fn of(rows: &dyn TableRows) -> Self {
        let num_rows = rows.num_rows();
        Self { num_rows, columns: (0..rows.num_columns()).map(|column| rows.values(column, 0..num_rows)).collect() }
    }

    /// The table, of the kind of `like`. An error where it has other columns.
    pub(crate) fn unpacked(self, like: &Arc<dyn TableRows>) -> Result<Arc<dyn TableRows>, Error> {
        let is_column = |(column, values): (usize, &ColumnValues)| {
            values.column_type().is_like(like.column_type(column)) && values.len() == self.num_rows
        };
        if self.columns.len() != like.num_columns() || !self.columns.iter().enumerate().all(is_column) {
            let expected = format!("the columns of the table {}", like.name());
            return Err(ErrorKind::Request { expected, found: String::from("other columns") }.into());
        }
        Ok(Arc::new(UnpackedTable { like: Arc::clone(like), packed: self }))
    }
}

impl TableRows for UnpackedTable {
    fn name(&self) -> &'static str {
        self.like.name()
    }

    fn doc(&self) -> &'static str {
        self.like.doc()
    }

    fn num_rows(&self) -> usize {
        self.packed.num_rows
    }

    fn num_columns(&self) -> usize {
        self.packed.columns.len()
    }

    fn column_name(&self, column: usize) -> &'static str {
        self.like.column_name(column)
    }

    fn column_type(&self, column: usize) -> ColumnType {
        self.like.column_type(column)
    }

    fn column_unit(&self, column: usize) -> Option<&'static str> {
        self.like.column_unit(column)
    }

    fn values(&self, column: usize, rows: Range<usize>) -> ColumnValues {
        self.packed.columns[column].part(rows)
    }
}
