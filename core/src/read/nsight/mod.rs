//! Reads exports of Nsight Systems as Kineto traces.
//!
//! `nsys export --type sqlite` writes a database with one table per kind of event. The reader
//! streams the rows as the text of a Kineto trace into the reader of Kineto traces. The position of
//! an event in that text is its id. Therefore exports support everything that Kineto traces
//! support.

mod call;
mod column;
mod copy;
mod device;
pub(super) mod device_streams;
mod export;
mod export_state;
mod header;
mod kernel;
mod memory;
#[cfg(feature = "kernel-counters")]
mod metric;
mod name;
mod nvtx;
mod nvtx_names;
mod nvtx_operator;
mod row;
mod row_kind;
mod row_kinds;
mod title;

use super::sqlite::SqlTable;
pub(super) use export::NsightExport;

/// Tables by which an export is known; the first is in every one.
pub(super) const TABLES: [&str; 2] = ["StringIds", "META_DATA_EXPORT"];

/// Whether a database with this table is an export.
pub(super) fn is_known(table: &SqlTable) -> bool {
    TABLES.contains(&&*table.name) || row_kinds::SORTS.iter().any(|sort| sort.table == table.name)
}
