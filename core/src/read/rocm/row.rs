//! A row of a table, by the columns that are taken.

use std::sync::Arc;

use crate::read::sqlite::{FindsRows, SqlContent, SqlRecord, SqlTable, StoredColumn};

/// Where some columns of a table are; none for those that it lacks.
#[derive(Debug)]
pub(super) struct RocmColumns(Vec<Option<StoredColumn>>);

impl RocmColumns {
    pub(super) fn new(table: &SqlTable, names: &[&str]) -> Self {
        Self(names.iter().map(|name| table.column(name).cloned()).collect())
    }

    /// The values of the first columns; null for each that the table lacks.
    pub(super) fn of<'r, const N: usize>(&self, record: &'r SqlRecord) -> [SqlContent<'r>; N] {
        let value = |column: &StoredColumn| column.of(record);
        std::array::from_fn(|at| self.0.get(at).and_then(Option::as_ref).map_or(SqlContent::Null, value))
    }
}

/// A table whose rows are found by their numbers.
pub(super) struct RocmLookup {
    table: Arc<SqlTable>,
    columns: RocmColumns,
}

impl RocmLookup {
    pub(super) fn new(table: &Arc<SqlTable>, columns: &[&str]) -> Self {
        Self { table: Arc::clone(table), columns: RocmColumns::new(table, columns) }
    }

    /// The row of a number, and where its columns are.
    pub(super) fn row(&self, database: &dyn FindsRows, number: i64) -> Option<(SqlRecord, &RocmColumns)> {
        Some((database.row(&self.table, number).ok()??, &self.columns))
    }
}

/// A row that is being read.
pub(super) struct RocmRow<'r> {
    pub(super) database: &'r dyn FindsRows,
    pub(super) record: &'r SqlRecord,
    pub(super) columns: &'r RocmColumns,
}

impl<'r> RocmRow<'r> {
    /// The values of the first columns that are taken.
    pub(super) fn taken<const N: usize>(&self) -> [SqlContent<'r>; N] {
        self.columns.of(self.record)
    }
}

/// An integer; none for anything else.
pub(super) fn integer(content: SqlContent<'_>) -> Option<i64> {
    if let SqlContent::Integer(number) = content { Some(number) } else { None }
}

/// A text that is not empty.
pub(super) fn text(content: SqlContent<'_>) -> Option<&[u8]> {
    if let SqlContent::Text(text) = content { Some(text).filter(|text| !text.is_empty()) } else { None }
}
