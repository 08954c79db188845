//! Tables as bytes, to be put together where others of their kind are.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::rows::{ColumnType, Rows};
use super::values::Values;
use crate::error::{Error, ErrorKind};

/// The values of a table without its names, which whoever unpacks it knows.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Packed {
    num_rows: usize,
    columns: Vec<Values>,
}

/// A table of another's kind with rows of its own.
struct Unpacked {
    like: Arc<dyn Rows>,
    packed: Packed,
}

impl Packed {
    /// All values of a table.
    pub(crate) fn of(rows: &dyn Rows) -> Self {
        let num_rows = rows.num_rows();
        Self { num_rows, columns: (0..rows.num_columns()).map(|column| rows.values(column, 0..num_rows)).collect() }
    }

    /// The table, of the kind of `like`. An error where it has other columns.
    pub(crate) fn unpacked(self, like: &Arc<dyn Rows>) -> Result<Arc<dyn Rows>, Error> {
        let is_column = |(column, values): (usize, &Values)| {
            values.column_type().is_like(like.column_type(column)) && values.len() == self.num_rows
        };
        if self.columns.len() != like.num_columns() || !self.columns.iter().enumerate().all(is_column) {
            let expected = format!("the columns of {}", like.name());
            return Err(ErrorKind::Request { expected, found: String::from("others") }.into());
        }
        Ok(Arc::new(Unpacked { like: Arc::clone(like), packed: self }))
    }
}

impl Rows for Unpacked {
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

    fn values(&self, column: usize, rows: Range<usize>) -> Values {
        self.packed.columns[column].part(rows)
    }
}
