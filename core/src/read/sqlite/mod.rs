//! Reads tables of an `SQLite` database, in Rust alone: the same code serves browsers, and nothing
//! in an untrusted database can run.
//!
//! Rows come in the order of their numbers. Views, indexes, triggers, virtual tables and tables
//! without row numbers are not read, and computed columns are not computed. A log written ahead
//! (`-wal`) is not looked for.
//! The format is described in "Database File Format", in the documentation of `SQLite`.

mod column;
mod cursor;
mod database;
mod fault;
mod page;
mod record;
mod schema;
mod texts;

pub(super) use column::StoredColumn;
pub(super) use database::{FindsRows, SqlDatabase};
pub(super) use fault::SqlFault;
pub(super) use record::{SqlContent, SqlRecord};
pub(super) use schema::SqlTable;
pub(super) use texts::{MAX_TEXT_BYTES, TextTable};
