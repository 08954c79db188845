//! A row of a table, by the columns that are taken.

use std::sync::Arc;

#[cfg(feature = "msprof")]
use super::sqlite::SqlDatabase;
use super::sqlite::{FindsRows, SqlContent, SqlRecord, SqlTable, StoredColumn};

/// Where some columns of a table are; none for those that it lacks.
#[derive(Debug)]
pub(super) struct TableColumns(Vec<Option<StoredColumn>>);

impl TableColumns {
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
pub(super) struct TableLookup {
    table: Arc<SqlTable>,
    columns: TableColumns,
}

impl TableLookup {
    pub(super) fn new(table: &Arc<SqlTable>, columns: &[&str]) -> Self {
        Self { table: Arc::clone(table), columns: TableColumns::new(table, columns) }
    }

    /// The row of a number, and where its columns are.
    pub(super) fn row(&self, database: &dyn FindsRows, number: i64) -> Option<(SqlRecord, &TableColumns)> {
        Some((database.row(&self.table, number).ok()??, &self.columns))
    }
}

/// A table whose rows are found by a column, whether or not it is the number of the row.
#[cfg(feature = "msprof")]
pub(super) struct KeyedLookup {
    lookup: TableLookup,
    /// The row of each key, where those are not the same.
    rows: Option<rustc_hash::FxHashMap<i64, i64>>,
}

#[cfg(feature = "msprof")]
impl KeyedLookup {
    pub(super) fn new(database: &SqlDatabase<'_>, table: &Arc<SqlTable>, key: &str, columns: &[&str]) -> Self {
        let rows = (!table.is_found_by(key)).then(|| {
            let (columns, mut rows) = (TableColumns::new(table, &[key]), database.rows(table, i64::MIN));
            let mut found = rustc_hash::FxHashMap::default();
            // Rows before a fault are known.
            while let Ok(Some(row)) = rows.next() {
                let [key] = columns.of(row);
                if let Some(key) = whole(key) {
                    found.entry(key).or_insert(row.row);
                }
            }
            found
        });
        Self { lookup: TableLookup::new(table, columns), rows }
    }

    /// The whole numbers in the row of a key.
    pub(super) fn numbers<const N: usize>(&self, database: &dyn FindsRows, key: i64) -> Option<[Option<i64>; N]> {
        let number = self.rows.as_ref().map_or(Some(key), |rows| rows.get(&key).copied())?;
        let (record, columns) = self.lookup.row(database, number)?;
        Some(columns.of(&record).map(whole))
    }
}

/// A row that is being read.
pub(super) struct TableRow<'r> {
    pub(super) database: &'r dyn FindsRows,
    pub(super) record: &'r SqlRecord,
    pub(super) columns: &'r TableColumns,
}

impl<'r> TableRow<'r> {
    /// The values of the first columns that are taken.
    pub(super) fn taken<const N: usize>(&self) -> [SqlContent<'r>; N] {
        self.columns.of(self.record)
    }
}

/// An integer; none for anything else.
pub(super) fn integer(content: SqlContent<'_>) -> Option<i64> {
    if let SqlContent::Integer(number) = content { Some(number) } else { None }
}

/// A whole number, however a column of numbers keeps it.
#[cfg(feature = "msprof")]
pub(super) fn whole(content: SqlContent<'_>) -> Option<i64> {
    match content {
        SqlContent::Real(number) if number.fract() == 0.0 && number.abs() < 9e15 => Some(number as i64),
        _ => integer(content),
    }
}

/// A text that is not empty.
pub(super) fn text(content: SqlContent<'_>) -> Option<&[u8]> {
    if let SqlContent::Text(text) = content { Some(text).filter(|text| !text.is_empty()) } else { None }
}
