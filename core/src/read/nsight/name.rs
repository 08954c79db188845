//! Resolves texts by number (`StringIds`) and labels of codes (`ENUM_…`).

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::object::JsonObject;
use crate::read::sqlite::{FindsRows, SqlContent, SqlDatabase, SqlFault, SqlTable};

/// Texts are kept up to so many bytes, then forgotten and looked up again.
const MAX_KEPT_BYTES: usize = 1 << 26;

/// A longer text is none: many events may have it.
pub(super) const MAX_TEXT_BYTES: usize = 1 << 20;

/// Tables of codes that are read, and rows of each: several times as many as any version has.
const MAX_TABLES: usize = 300;
const MAX_CODES: usize = 1000;
/// Letters of a label; the rest is cut off.
const MAX_LABEL: usize = 100;

/// Texts of `StringIds` and of the tables of codes (`ENUM_…`).
#[derive(Debug, Default)]
pub(super) struct NsightNames {
    /// The table of texts, if one can be looked up on first use.
    indexed: Option<Arc<SqlTable>>,
    texts: FxHashMap<i64, Option<Arc<[u8]>>>,
    num_bytes: usize,
    labels: FxHashMap<String, FxHashMap<i64, Vec<u8>>>,
}

impl NsightNames {
    /// Reads the labels. A table of codes that cannot be read has none.
    pub(super) fn new(database: &SqlDatabase<'_>, tables: &[Arc<SqlTable>]) -> Self {
        let codes = tables.iter().filter(|table| table.name.starts_with("ENUM_")).take(MAX_TABLES);
        let labels = codes.map(|table| (table.name.clone(), labels(database, table).unwrap_or_default()));
        let mut names = Self { labels: labels.collect(), ..Self::default() };
        if let Some(table) = tables.iter().find(|table| table.name == "StringIds") {
            if table.is_found_by("id") {
                names.indexed = Some(Arc::clone(table));
            } else {
                // Names read before a fault are kept; later ones are missing.
                let _ = names.read_all(database, table);
            }
        }
        names
    }

    /// The text of a number.
    pub(super) fn text(&mut self, database: &dyn FindsRows, id: i64) -> Option<Arc<[u8]>> {
        if let Some(table) = &self.indexed
            && !self.texts.contains_key(&id)
        {
            if self.num_bytes > MAX_KEPT_BYTES {
                self.texts.clear();
                self.num_bytes = 0;
            }
            let record = database.row(table, id).ok().flatten();
            let found = record.and_then(|record| text(table.column("value")?.of(&record)));
            self.keep(id, found);
        }
        self.texts.get(&id)?.clone()
    }

    /// The label of a code in a table of codes.
    pub(super) fn label(&self, table: &str, code: i64) -> Option<&[u8]> {
        Some(self.labels.get(table)?.get(&code)?)
    }

    /// Copies that someone made of a part of an export have no index.
    fn read_all(&mut self, database: &SqlDatabase<'_>, table: &SqlTable) -> Result<(), SqlFault> {
        let Some((id, value)) = table.column("id").zip(table.column("value")) else { return Ok(()) };
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

/// Writes a code by its label, or as it is where it has none.
pub(super) fn write_code(args: &mut JsonObject<'_>, key: &str, table: &str, (code, names): (i64, &NsightNames)) {
    match names.label(table, code) {
        Some(label) => args.text(key, label),
        None => args.integer(key, code),
    }
}

fn text(value: SqlContent<'_>) -> Option<Arc<[u8]>> {
    let SqlContent::Text(text) = value else { return None };
    (text.len() <= MAX_TEXT_BYTES).then(|| text.into())
}

fn labels(database: &SqlDatabase<'_>, table: &SqlTable) -> Result<FxHashMap<i64, Vec<u8>>, SqlFault> {
    let (mut labels, mut rows) = (FxHashMap::default(), database.rows(table, i64::MIN));
    let Some((id, label)) = table.column("id").zip(table.column("label")) else { return Ok(labels) };
    while labels.len() < MAX_CODES
        && let Some(row) = rows.next()?
    {
        if let (SqlContent::Integer(id), SqlContent::Text(label)) = (id.of(row), label.of(row)) {
            labels.insert(id, String::from_utf8_lossy(label).chars().take(MAX_LABEL).collect::<String>().into());
        }
    }
    Ok(labels)
}
