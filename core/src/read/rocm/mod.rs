//! Reads databases of `ROCm`: of `rocprofv3` (`rocpd`) and of the tracer RPD.
//!
//! `rocpd` has a set of tables for each process, with its number in their names. Events have their
//! times, or refer to a table of times; they have their process, thread, agent, queue and stream,
//! or refer to a table of tracks. RPD has one set: calls (`rocpd_api`), device work (`rocpd_op`),
//! and which call started which work.

mod export;
#[cfg(feature = "kernel-counters")]
mod pmc;
mod rocpd;
mod rocpd_set;
mod row;
mod rpd;
mod stage;
mod words;

use super::sqlite::SqlTable;
pub(super) use export::RocmExport;
pub(super) use words::TEXTS;

/// Whether a database with this table is one of `ROCm`.
pub(super) fn is_known(table: &SqlTable) -> bool {
    table.name.starts_with(TEXTS)
}
