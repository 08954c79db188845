//! Reads databases of other profilers as Kineto traces.

use std::io::{Read, Seek};
use std::sync::Arc;

use super::builder::TraceBuilder;
use super::exported::{ExportWalk, read_exported};
use super::input::{Limits, ReadProgress};
#[cfg(feature = "msprof")]
use super::msprof;
use super::nsight::{self, NsightExport};
use super::rocm;
use super::sqlite::{SqlDatabase, SqlFault, SqlTable};
use crate::error::{Error, ErrorKind, Position};
use crate::trace::Trace;

/// Reads a database, which may be larger than the memory: pages of it are read as they are needed.
/// `name` is for messages, and `watch` is told how much of the file was read.
///
/// It is an export of Nsight Systems, or a database of `ROCm` (`rocprofv3`, RPD) or of `msprof`. A
/// database in memory is read by [`read_file`](super::read_file).
///
/// # Errors
/// When the source is no database or another one, when a limit is passed, and those of `watch`. A
/// table that is damaged further on is read up to there, and counted.
pub fn read_database(
    source: impl Read + Seek + Send,
    name: Option<&str>,
    limits: Limits,
    watch: Option<ReadProgress<'_>>,
) -> Result<Trace, Error> {
    let mut builder = TraceBuilder::default();
    read_database_into(source, name, watch, limits, &mut builder)?;
    builder.finish()
}

/// The same, into a trace in the making.
pub(super) fn read_database_into(
    source: impl Read + Seek + Send,
    name: Option<&str>,
    watch: Option<ReadProgress<'_>>,
    limits: Limits,
    builder: &mut TraceBuilder,
) -> Result<(), Error> {
    let database = SqlDatabase::open(source).map_err(|fault| malformed(&fault, name))?;
    let tables = database.tables().map_err(|fault| malformed(&fault, name))?;
    let tables: Vec<Arc<SqlTable>> = tables.into_iter().map(Arc::new).collect();
    if tables.iter().any(|table| rocm::is_known(table)) {
        let export = ExportWalk::new(rocm::export((database, tables), name), watch);
        return read_exported(export, name, limits, builder);
    }
    if tables.iter().any(|table| nsight::is_known(table)) {
        let export = NsightExport::new((database, tables), name, limits.include_environment);
        return read_exported(ExportWalk::new(export, watch), name, limits, builder);
    }
    #[cfg(feature = "msprof")]
    if msprof::is_known(&tables) {
        let export = ExportWalk::new(msprof::export((database, tables), name), watch);
        return read_exported(export, name, limits, builder);
    }
    Err(foreign(&tables, name))
}

/// Whether a database whose first bytes these are may be read: it has a known table of texts among
/// the first.
pub(super) fn is_trace(head: &[u8]) -> bool {
    let has = |table: &str| memchr::memmem::find(head, table.as_bytes()).is_some();
    #[cfg(feature = "msprof")]
    if has(msprof::TEXTS) {
        return true;
    }
    has(nsight::TABLES[0]) || has(rocm::TEXTS)
}

/// The error that no trace can be given for a fault of a database: it is cut, damaged, or none.
fn malformed(fault: &SqlFault, name: Option<&str>) -> Error {
    let position = Position { file: name.map(Into::into), ..Position::default() };
    ErrorKind::Malformed { expected: "a complete SQLite database", found: fault.to_string(), position }.into()
}

#[cfg(feature = "msprof")]
const EXPECTED: &str = "an export of Nsight Systems, or a database of ROCm or msprof";
#[cfg(not(feature = "msprof"))]
const EXPECTED: &str = "an export of Nsight Systems or a database of ROCm (Python's `ks.read` reads msprof's, too)";

/// The error that a database is none of a profiler.
fn foreign(tables: &[Arc<SqlTable>], name: Option<&str>) -> Error {
    const SHOWN: usize = 5;
    let names: Vec<&str> = tables.iter().take(SHOWN).map(|table| table.name.as_str()).collect();
    let more = if tables.len() > SHOWN { ", …" } else { "" };
    let found = match names.as_slice() {
        [] => String::from("an SQLite database without tables"),
        names => format!("an SQLite database with the tables {}{more}", names.join(", ")),
    };
    let position = Position { file: name.map(Into::into), ..Position::default() };
    ErrorKind::Unsupported { expected: EXPECTED, found: found.into(), position }.into()
}
