//! The dictionary of columns: sources and meanings by name.

use super::schema_table::SchemaTable;

/// Entries of all columns: see the first lines of the file.
const COLUMNS: &str = include_str!("columns.tsv");

/// Any table.
const ANY: &str = "*";

/// A unit that the name states.
const NAMED: &str = "-";

/// The meaning of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnDoc {
    /// Name of the column.
    pub column: &'static str,
    /// Tables with this meaning, separated by commas: `nodes`, or `chakra.nodes` (see
    /// [`SchemaTable::scope`]); `*` for all tables without an entry of their own.
    pub tables: &'static str,
    /// Unit, if the name does not state it.
    pub unit: Option<&'static str>,
    /// Field of the file that the value comes from, or `computed`.
    pub source: &'static str,
    /// Meaning, with a formula if there is one.
    pub doc: &'static str,
}

/// All entries, sorted by column, then by table.
///
/// ```
/// use kinetoscope::schema::column_docs;
/// let start = column_docs().find(|entry| entry.column == "start_ns").unwrap();
/// assert_eq!((start.tables, start.unit), ("*", None));
/// ```
pub fn column_docs() -> impl Iterator<Item = ColumnDoc> {
    COLUMNS.lines().filter(|line| !line.starts_with('#')).filter_map(entry)
}

fn entry(line: &'static str) -> Option<ColumnDoc> {
    let mut cells = line.split('\t');
    let mut cell = || cells.next();
    let (column, tables, unit) = (cell()?, cell()?, cell()?);
    Some(ColumnDoc { column, tables, unit: Some(unit).filter(|unit| *unit != NAMED), source: cell()?, doc: cell()? })
}

impl ColumnDoc {
    /// Whether the entry is for all tables without an entry of their own.
    pub fn is_general(&self) -> bool {
        self.tables == ANY
    }

    /// Whether the entry names a table.
    pub fn names(&self, table: &SchemaTable) -> bool {
        self.tables.split(',').any(|name| match name.split_once('.') {
            Some((scope, name)) => scope == table.scope() && name == table.table,
            None => name == table.table,
        })
    }

    /// The entries of a column in a table: those that name the table, else the general one.
    pub fn all_of(table: &SchemaTable, column: &str) -> Vec<Self> {
        let (general, named): (Vec<_>, Vec<_>) = column_docs()
            .filter(|entry| entry.column == column && (entry.is_general() || entry.names(table)))
            .partition(Self::is_general);
        if named.is_empty() { general } else { named }
    }
}
