//! Opens an untrusted database: nothing in it runs, and nothing on disk changes.

use std::fmt::Write as _;
use std::io::Read as _;
use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};

use super::column::SqlColumn;
use crate::error::{Error, ErrorKind, Position};

/// An open database.
pub(in crate::read) struct NsightDatabase<'a> {
    pub(super) connection: Connection,
    /// A name for messages.
    pub(super) name: Option<&'a str>,
    /// Unread bytes; bytes in memory count as read.
    pub(super) num_bytes: u64,
}

/// At a longer value the reading of a table ends: `SQLite` takes it into memory before its length
/// can be looked at.
const MAX_VALUE_BYTES: i32 = 1 << 26;

impl<'a> NsightDatabase<'a> {
    /// The one in a file, of which pages are read as they are needed.
    pub(super) fn at_path(path: &Path, name: Option<&'a str>) -> Result<Self, Error> {
        let opened = open_path(path).and_then(hardened).and_then(|connection| Ok((size(&connection)?, connection)));
        let (num_bytes, connection) = opened.map_err(|fault| malformed(&fault, name))?;
        Ok(Self { connection, name, num_bytes })
    }

    /// The one that these bytes are; they are copied.
    pub(in crate::read) fn in_memory(bytes: &[u8], name: Option<&'a str>) -> Result<Self, Error> {
        let connection = open_bytes(bytes).and_then(hardened).map_err(|fault| malformed(&fault, name))?;
        Ok(Self { connection, name, num_bytes: 0 })
    }

    /// All its real tables.
    pub(super) fn tables(&self) -> Result<Vec<SqlTable>, Error> {
        tables(&self.connection).map_err(|fault| malformed(&fault, self.name))
    }
}

/// The error that no trace can be given for a fault of a database: it is cut, damaged, or none.
fn malformed(fault: &rusqlite::Error, name: Option<&str>) -> Error {
    let position = Position { file: name.map(Into::into), ..Position::default() };
    ErrorKind::Malformed { expected: "a complete SQLite database", found: fault.to_string(), position }.into()
}

fn open_path(path: &Path) -> rusqlite::Result<Connection> {
    // Immutable: nothing is locked, and no journal is looked for.
    let mut uri = String::from(match (path.is_absolute(), cfg!(windows)) {
        (true, true) => "file:///",
        (true, false) => "file://",
        (false, _) => "file:",
    });
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' => uri.push(char::from(*byte)),
            b'\\' if cfg!(windows) => uri.push('/'),
            _ => {
                // Writing into a `String` cannot fail.
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri.push_str("?immutable=1");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(uri, flags)
}

fn open_bytes(bytes: &[u8]) -> rusqlite::Result<Connection> {
    let mut connection = Connection::open_in_memory()?;
    // In memory there is no log to write ahead: a database that says it has one is read without.
    let mut header = bytes.get(..HEADER_BYTES).unwrap_or(bytes).to_vec();
    if let Some(versions) = header.get_mut(VERSIONS) {
        versions.fill(1);
    }
    let rest = &bytes[header.len()..];
    connection.deserialize_read_exact("main", header.chain(rest), bytes.len(), true)?;
    Ok(connection)
}

const HEADER_BYTES: usize = 100;

/// Where the header says whether there is a log: the versions needed to write and to read.
const VERSIONS: std::ops::Range<usize> = 18..20;

fn hardened(connection: Connection) -> rusqlite::Result<Connection> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    for config in [
        DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA,
        DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW,
        DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER,
        DbConfig::SQLITE_DBCONFIG_DQS_DML,
        DbConfig::SQLITE_DBCONFIG_DQS_DDL,
    ] {
        connection.set_db_config(config, false)?;
    }
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    connection.execute_batch("PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY;")?;
    Ok(connection)
}

/// A real table: no view, and none that code stands behind.
#[derive(Debug)]
pub(super) struct SqlTable {
    pub(super) name: String,
    pub(super) columns: Vec<SqlColumn>,
    /// The column that is the primary key, so that a row is found by it at once.
    pub(super) key: Option<String>,
}

/// All real tables, by name, but for `SQLite`'s own.
fn tables(connection: &Connection) -> rusqlite::Result<Vec<SqlTable>> {
    // This text declares a table; views and virtual tables differ.
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE TABLE %' \
               AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name";
    let names: Vec<String> = connection.prepare(sql)?.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    names.into_iter().map(|name| table(connection, name)).collect()
}

fn table(connection: &Connection, name: String) -> rusqlite::Result<SqlTable> {
    let mut statement = connection.prepare("SELECT name, pk FROM pragma_table_info(?1)")?;
    let rows = statement.query_map([&name], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let rows: Vec<(String, i64)> = rows.collect::<Result<_, _>>()?;
    let keys: Vec<_> = rows.iter().filter(|(_, place)| *place > 0).collect();
    let key = if let [(key, _)] = keys.as_slice() { Some(key.clone()) } else { None };
    Ok(SqlTable { name, key, columns: rows.into_iter().map(|(name, _)| SqlColumn::new(name)).collect() })
}

impl SqlTable {
    /// Whether rows can be asked for by their numbers: not where a column has taken the name for
    /// those.
    pub(super) fn has_numbers(&self) -> bool {
        !self.columns.iter().any(|column| column.name.eq_ignore_ascii_case("_rowid_"))
    }
}

/// The number of a table's last row, 0 when it has none.
pub(super) fn last_row(connection: &Connection, table: &SqlTable) -> rusqlite::Result<i64> {
    let sql = format!("SELECT coalesce(max(_rowid_), 0) FROM {}", quoted(&table.name));
    connection.query_row(&sql, [], |row| row.get(0))
}

/// The size of a database in bytes.
fn size(connection: &Connection) -> rusqlite::Result<u64> {
    let sql = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";
    connection.query_row(sql, [], |row| row.get(0)).map(i64::unsigned_abs)
}

/// A name as SQL.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
