//! A table bound to its rows, for any kind of recording.

use std::ops::{Deref, Range};
use std::sync::{Arc, LazyLock};

use super::column::Table;
use super::values::{ColumnType, ColumnValues};

/// A table with its rows. Columns are known by their place, which is below
/// [`num_columns`](Self::num_columns).
pub trait TableRows: Send + Sync {
    /// The name in requests.
    fn name(&self) -> &'static str;

    /// The description of a row.
    fn doc(&self) -> &'static str;

    /// The number of rows.
    fn num_rows(&self) -> usize;

    /// The number of columns.
    fn num_columns(&self) -> usize;

    /// A column's name, which includes its unit.
    fn column_name(&self, column: usize) -> &'static str;

    /// A column's type.
    fn column_type(&self, column: usize) -> ColumnType;

    /// The unit of a column's values, where they have one.
    fn column_unit(&self, column: usize) -> Option<&'static str>;

    /// The values of some rows.
    fn values(&self, column: usize, rows: Range<usize>) -> ColumnValues;
}

impl<S: Send + Sync> Table<S> {
    /// The table with the rows of one recording.
    pub fn of(&'static self, source: &Arc<S>) -> Arc<dyn TableRows> {
        Arc::new(BoundTable { table: self, source: Arc::clone(source) })
    }
}

impl<R: Send + Sync> Table<Vec<R>> {
    /// The table with rows that are computed on first use.
    pub(crate) fn later(&'static self, make: impl FnOnce() -> Vec<R> + Send + 'static) -> Arc<dyn TableRows> {
        Arc::new(BoundTable {
            table: self,
            source: LazyLock::new(Box::new(make) as Box<dyn FnOnce() -> Vec<R> + Send>),
        })
    }
}

struct BoundTable<S: 'static, P> {
    table: &'static Table<S>,
    source: P,
}

impl<S, P: Deref<Target = S> + Send + Sync> TableRows for BoundTable<S, P> {
    fn name(&self) -> &'static str {
        self.table.name
    }

    fn doc(&self) -> &'static str {
        self.table.doc
    }

    fn num_rows(&self) -> usize {
        (self.table.num_rows)(&self.source)
    }

    fn num_columns(&self) -> usize {
        self.table.columns.len()
    }

    fn column_name(&self, column: usize) -> &'static str {
        self.table.columns[column].name
    }

    fn column_type(&self, column: usize) -> ColumnType {
        self.table.columns[column].get.column_type()
    }

    fn column_unit(&self, column: usize) -> Option<&'static str> {
        self.table.columns[column].unit()
    }

    fn values(&self, column: usize, rows: Range<usize>) -> ColumnValues {
        self.table.columns[column].values(&self.source, rows)
    }
}
