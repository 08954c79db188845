//! Resolves texts by number (`StringIds`) and labels of codes (`ENUM_…`).

use std::sync::Arc;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension as _};
use rustc_hash::FxHashMap;

use super::database::{SqlTable, quoted};
use super::object::JsonObject;

/// Texts are kept up to so many bytes, then forgotten and looked up again.
const MAX_KEPT_BYTES: usize = 1 << 26;

/// A longer text is none: many events may have it.
pub(super) const MAX_TEXT_BYTES: usize = 1 << 20;

/// Tables of codes that are read, and rows of each: several times as many as any version has.
const MAX_TABLES: usize = 300;
const MAX_CODES: usize = 1000;

/// Texts of `StringIds` and of the tables of codes (`ENUM_…`).
#[derive(Debug, Default)]
pub(super) struct NsightNames {
    /// Whether a text can be looked up on first use.
    is_indexed: bool,
    texts: FxHashMap<i64, Option<Arc<[u8]>>>,
    num_bytes: usize,
    labels: FxHashMap<String, FxHashMap<i64, Vec<u8>>>,
}

impl NsightNames {
    /// Reads the labels. A table of codes that cannot be read has none.
    pub(super) fn new(connection: &Connection, tables: &[SqlTable]) -> Self {
        let codes = tables.iter().filter(|table| table.name.starts_with("ENUM_")).take(MAX_TABLES);
        let labels = codes.map(|table| (table.name.clone(), labels(connection, &table.name).unwrap_or_default()));
        let mut names = Self { labels: labels.collect(), ..Self::default() };
        if let Some(table) = tables.iter().find(|table| table.name == "StringIds") {
            names.is_indexed = table.key.as_deref() == Some("id");
            if !names.is_indexed {
                // Names read before a fault are kept; later ones are missing.
                let _ = names.read_all(connection);
            }
        }
        names
    }

    /// The text of a number.
    pub(super) fn text(&mut self, connection: &Connection, id: i64) -> Option<Arc<[u8]>> {
        if self.is_indexed && !self.texts.contains_key(&id) {
            if self.num_bytes > MAX_KEPT_BYTES {
                self.texts.clear();
                self.num_bytes = 0;
            }
            let found = find(connection, id).ok().flatten();
            self.keep(id, found);
        }
        self.texts.get(&id)?.clone()
    }

    /// The label of a code in a table of codes.
    pub(super) fn label(&self, table: &str, code: i64) -> Option<&[u8]> {
        Some(self.labels.get(table)?.get(&code)?)
    }

    /// Copies that someone made of a part of an export have no index.
    fn read_all(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let mut statement = connection.prepare("SELECT id, value FROM StringIds")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()?
            && self.num_bytes <= MAX_KEPT_BYTES
        {
            if let ValueRef::Integer(id) = row.get_ref(0)? {
                self.keep(id, text(row.get_ref(1)?));
            }
        }
        Ok(())
    }

    fn keep(&mut self, id: i64, text: Option<Arc<[u8]>>) {
        self.num_bytes += size_of::<(i64, Arc<[u8]>)>() + text.as_ref().map_or(0, |text| text.len());
        self.texts.insert(id, text);
    }
}

/// Writes a code by its label, or as it is where it has none.
pub(super) fn write_code(args: &mut JsonObject<'_>, key: &str, table: &str, (code, names): (i64, &NsightNames)) {
    match names.label(table, code) {
        Some(label) => args.text(key, label),
        None => args.integer(key, code),
    }
}

fn find(connection: &Connection, id: i64) -> rusqlite::Result<Option<Arc<[u8]>>> {
    let mut statement = connection.prepare("SELECT value FROM StringIds WHERE id = ?1")?;
    statement.query_row([id], |row| Ok(text(row.get_ref(0)?))).optional().map(Option::flatten)
}

fn text(value: ValueRef<'_>) -> Option<Arc<[u8]>> {
    let ValueRef::Text(text) = value else { return None };
    (text.len() <= MAX_TEXT_BYTES).then(|| text.into())
}

fn labels(connection: &Connection, table: &str) -> rusqlite::Result<FxHashMap<i64, Vec<u8>>> {
    let sql = format!(
        "SELECT id, CAST(substr(label, 1, 100) AS BLOB) FROM {} \
         WHERE typeof(id) = 'integer' AND typeof(label) = 'text' LIMIT {MAX_CODES}",
        quoted(table)
    );
    let mut statement = connection.prepare(&sql)?;
    statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}
