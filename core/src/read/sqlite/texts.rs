//! Finds texts by their numbers in a table.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::column::StoredColumn;
use super::database::{FindsRows, SqlDatabase};
use super::fault::SqlFault;
use super::record::SqlContent;
use super::schema::SqlTable;

/// Texts are kept up to so many bytes, then forgotten and looked up again.
const MAX_KEPT_BYTES: usize = 1 << 26;

/// A longer text is none: many events may have it.
pub(in crate::read) const MAX_TEXT_BYTES: usize = 1 << 20;

/// Texts by their numbers.
#[derive(Debug, Default)]
pub(in crate::read) struct TextTable {
    /// The table and its column of texts, if one can be looked up on first use.
    indexed: Option<(Arc<SqlTable>, StoredColumn)>,
    texts: FxHashMap<i64, Option<Arc<[u8]>>>,
    num_bytes: usize,
}

impl TextTable {
    /// The texts in a column of a table.
    pub(in crate::read) fn new(database: &SqlDatabase<'_>, table: &Arc<SqlTable>, [id, text]: [&str; 2]) -> Self {
        let mut texts = Self::default();
        let Some(column) = table.column(text) else { return texts };
        if table.is_found_by(id) {
            texts.indexed = Some((Arc::clone(table), column.clone()));
        } else {
            // Texts read before a fault are kept; later ones are missing.
            let _ = texts.read_all(database, table, [id, text]);
        }
        texts
    }

    /// The text of a number.
    pub(in crate::read) fn text(&mut self, database: &dyn FindsRows, id: i64) -> Option<Arc<[u8]>> {
        if let Some((table, column)) = &self.indexed
            && !self.texts.contains_key(&id)
        {
            let record = database.row(table, id).ok().flatten();
            let found = record.and_then(|record| text(column.of(&record)));
            if self.num_bytes > MAX_KEPT_BYTES {
                self.texts.clear();
                self.num_bytes = 0;
            }
            self.keep(id, found);
        }
        self.texts.get(&id)?.clone()
    }

    /// Copies that someone made of a part of a database have no index.
    fn read_all(&mut self, database: &SqlDatabase<'_>, table: &SqlTable, names: [&str; 2]) -> Result<(), SqlFault> {
        let [Some(id), Some(value)] = names.map(|name| table.column(name)) else { return Ok(()) };
        let mut rows = database.rows(table, i64::MIN);
        while self.num_bytes <= MAX_KEPT_BYTES
            && let Some(row) = rows.next()?
        {
            if let SqlContent::Integer(id) = id.of(row) {
                self.keep(id, text(value.of(row)));
            }
        }
        Ok(())
    }

    fn keep(&mut self, id: i64, text: Option<Arc<[u8]>>) {
        self.num_bytes += size_of::<(i64, Arc<[u8]>)>() + text.as_ref().map_or(0, |text| text.len());
        self.texts.insert(id, text);
    }
}

fn text(value: SqlContent<'_>) -> Option<Arc<[u8]>> {
    let SqlContent::Text(text) = value else { return None };
    (text.len() <= MAX_TEXT_BYTES).then(|| text.into())
}
