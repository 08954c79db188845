//! A row of a table, by the columns that are taken.

use std::cell::RefCell;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::event_text::{known_end, write_span};
use super::json_object::JsonObject;
use super::sqlite::{FindsRows, SqlContent, SqlDatabase, SqlRecord, SqlTable, StoredColumn, TextTable};
use crate::warning::WarningKind;

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

/// A table whose rows are found by a column, whether or not it is the number of the row.
pub(super) struct KeyedLookup {
    table: Arc<SqlTable>,
    columns: TableColumns,
    /// The row of each key, where those are not the same.
    rows: Option<FxHashMap<i64, i64>>,
}

impl KeyedLookup {
    pub(super) fn new(database: &SqlDatabase<'_>, table: &Arc<SqlTable>, key: &str, columns: &[&str]) -> Self {
        let rows = (!table.is_found_by(key)).then(|| {
            let (columns, mut rows) = (TableColumns::new(table, &[key]), database.rows(table, i64::MIN));
            let mut found = FxHashMap::default();
            // Rows before a fault are known.
            while let Ok(Some(row)) = rows.next() {
                let [key] = columns.of(row);
                if let Some(key) = integer(key) {
                    found.entry(key).or_insert(row.row);
                }
            }
            found
        });
        Self { table: Arc::clone(table), columns: TableColumns::new(table, columns), rows }
    }

    /// The row of a key, and where its columns are.
    pub(super) fn row(&self, database: &dyn FindsRows, key: i64) -> Option<(SqlRecord, &TableColumns)> {
        let number = self.rows.as_ref().map_or(Some(key), |rows| rows.get(&key).copied())?;
        Some((database.row(&self.table, number).ok()??, &self.columns))
    }
}

/// A row that is being read.
pub(super) struct TableRow<'r> {
    pub(super) database: &'r dyn FindsRows,
    pub(super) record: &'r SqlRecord,
    columns: &'r TableColumns,
    /// Defects of the row so far, each once.
    defects: RefCell<Vec<WarningKind>>,
}

impl<'r> TableRow<'r> {
    pub(super) fn new(database: &'r dyn FindsRows, record: &'r SqlRecord, columns: &'r TableColumns) -> Self {
        Self { database, record, columns, defects: RefCell::default() }
    }

    /// The values of the first columns that are taken.
    pub(super) fn taken<const N: usize>(&self) -> [SqlContent<'r>; N] {
        self.columns.of(self.record)
    }

    /// The same as whole numbers.
    pub(super) fn numbers<const N: usize>(&self) -> [Option<i64>; N] {
        self.numbers_in(self.columns, self.record)
    }

    /// Whole numbers in the row of a key in another table; none without that row.
    pub(super) fn numbers_of<const N: usize>(
        &self,
        lookup: Option<&KeyedLookup>,
        key: Option<i64>,
    ) -> Option<[Option<i64>; N]> {
        let (record, columns) = lookup?.row(self.database, key?)?;
        Some(self.numbers_in(columns, &record))
    }

    /// Whole numbers in a row that this one refers to: one of them may be wrong, too.
    pub(super) fn numbers_in<const N: usize>(&self, columns: &TableColumns, record: &SqlRecord) -> [Option<i64>; N] {
        columns.of(record).map(|content| self.number(content))
    }

    /// A whole number; none for null and, counted, for anything else.
    pub(super) fn number(&self, content: SqlContent<'_>) -> Option<i64> {
        let number = integer(content);
        self.expect(number.is_some() || content == SqlContent::Null);
        number
    }

    /// A text that is not empty; none for null and, counted, for anything else.
    pub(super) fn words<'t>(&self, content: SqlContent<'t>) -> Option<&'t [u8]> {
        self.expect(matches!(content, SqlContent::Text(_) | SqlContent::Null));
        text(content)
    }

    /// The defects of the row.
    pub(super) fn into_defects(self) -> Vec<WarningKind> {
        self.defects.into_inner()
    }

    fn warn(&self, kind: WarningKind) {
        let mut defects = self.defects.borrow_mut();
        if !defects.contains(&kind) {
            defects.push(kind);
        }
    }

    /// Counts a value that is missing or wrong, or that refers to a missing row.
    pub(super) fn warn_invalid(&self) {
        self.warn(WarningKind::InvalidValue);
    }

    /// The same, unless all is well.
    pub(super) fn expect(&self, is_valid: bool) {
        if !is_valid {
            self.warn_invalid();
        }
    }

    /// The text of a number, which is expected to have one.
    pub(super) fn text(&self, texts: &mut TextTable, id: Option<i64>) -> Option<Arc<[u8]>> {
        let found = texts.text(self.database, id?);
        self.expect(found.is_some());
        found
    }

    /// The row of a key in another table, which is expected to have one.
    pub(super) fn referred<'t>(
        &self,
        lookup: Option<&'t KeyedLookup>,
        key: Option<i64>,
    ) -> Option<(SqlRecord, &'t TableColumns)> {
        let key = key?;
        let found = lookup.and_then(|lookup| lookup.row(self.database, key));
        self.expect(found.is_some());
        found
    }

    /// Writes when something began and how long it took. Tables hold what has ended: without an
    /// end, the duration is unknown.
    pub(super) fn write_span(&self, event: &mut JsonObject<'_>, start: i64, end: Option<i64>) {
        let end = known_end(Some(start), end);
        if end.is_none() {
            self.warn(WarningKind::MissingDuration);
        }
        write_span(event, Some(start), end.or(Some(start)));
    }
}

/// A whole number, however the column keeps it: some writers declare times as texts, or numbers as
/// reals. None for anything else; a row that is being read counts that.
pub(super) fn integer(content: SqlContent<'_>) -> Option<i64> {
    match content {
        SqlContent::Integer(number) => Some(number),
        SqlContent::Real(number) if number.fract() == 0.0 && number.abs() < 9e15 => Some(number as i64),
        SqlContent::Text(digits) if digits.len() <= MAX_DIGITS => std::str::from_utf8(digits).ok()?.parse().ok(),
        _ => None,
    }
}

/// The length of the least number, with its sign.
const MAX_DIGITS: usize = 20;

/// A text that is not empty.
pub(super) fn text(content: SqlContent<'_>) -> Option<&[u8]> {
    if let SqlContent::Text(text) = content { Some(text).filter(|text| !text.is_empty()) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_may_be_kept_as_texts_or_reals() {
        for content in [SqlContent::Integer(7), SqlContent::Real(7.0), SqlContent::Text(b"7")] {
            assert_eq!(integer(content), Some(7), "{content:?}");
        }
        assert_eq!(integer(SqlContent::Text(b"-9223372036854775808")), Some(i64::MIN));
        let others: [&[u8]; 5] = [b"", b"zz", b"1.5", b" 7", b"9223372036854775808"];
        let others = others.map(SqlContent::Text).into_iter();
        for content in others.chain([SqlContent::Null, SqlContent::Real(1.5), SqlContent::Blob(b"7")]) {
            assert_eq!(integer(content), None, "{content:?}");
        }
        assert_eq!(integer(SqlContent::Real(f64::NAN)).or(integer(SqlContent::Real(1e300))), None);
    }
}
