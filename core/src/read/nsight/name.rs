//! Resolves texts by number (`StringIds`) and labels of codes (`ENUM_…`).

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::read::json_object::JsonObject;
use crate::read::sqlite::{FindsRows, SqlContent, SqlDatabase, SqlFault, SqlTable, TextTable};

/// Tables of codes that are read, and rows of each: several times as many as any version has.
const MAX_TABLES: usize = 300;
const MAX_CODES: usize = 1000;
/// Letters of a label; the rest is cut off.
const MAX_LABEL: usize = 100;

/// Texts of `StringIds` and of the tables of codes (`ENUM_…`).
#[derive(Debug, Default)]
pub(super) struct NsightNames {
    texts: TextTable,
    labels: FxHashMap<String, FxHashMap<i64, Vec<u8>>>,
}

impl NsightNames {
    /// Reads the labels. A table of codes that cannot be read has none.
    pub(super) fn new(database: &SqlDatabase<'_>, tables: &[Arc<SqlTable>]) -> Self {
        let codes = tables.iter().filter(|table| table.name.starts_with("ENUM_")).take(MAX_TABLES);
        let labels = codes.map(|table| (table.name.clone(), labels(database, table).unwrap_or_default()));
        let texts = tables.iter().find(|table| table.name == "StringIds");
        let texts = texts.map(|table| TextTable::new(database, table, ["id", "value"])).unwrap_or_default();
        Self { texts, labels: labels.collect() }
    }

    /// The text of a number.
    pub(super) fn text(&mut self, database: &dyn FindsRows, id: i64) -> Option<Arc<[u8]>> {
        self.texts.text(database, id)
    }

    /// The label of a code in a table of codes.
    pub(super) fn label(&self, table: &str, code: i64) -> Option<&[u8]> {
        Some(self.labels.get(table)?.get(&code)?)
    }
}

/// Writes a code by its label, or as it is where it has none.
pub(super) fn write_code(args: &mut JsonObject<'_>, key: &str, table: &str, (code, names): (i64, &NsightNames)) {
    match names.label(table, code) {
        Some(label) => args.text(key, label),
        None => args.integer(key, code),
    }
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
