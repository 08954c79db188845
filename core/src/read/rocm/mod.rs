//! Reads databases of `ROCm`: of `rocprofv3` (`rocpd`) and of the tracer RPD.
//!
//! `rocpd` has a set of tables for each process, with its number in their names. Events have their
//! times, or refer to a table of times; they have their process, thread, agent, queue and stream,
//! or refer to a table of tracks. RPD has one set: calls (`rocpd_api`), device work (`rocpd_op`),
//! and which call started which work.

mod known;
mod launch_shape;
#[cfg(feature = "kernel-counters")]
mod pmc;
mod rocpd;
mod rocpd_set;
mod rpd;
mod words;

use std::sync::Arc;

use super::sqlite::{SqlDatabase, SqlTable};
use super::table_export::TableExport;
use known::RocmKnown;
pub(super) use words::TEXTS;

/// Whether a database with this table is one of `ROCm`. Of `rocpd`, the table of texts may be
/// missing.
pub(super) fn is_known(table: &SqlTable) -> bool {
    table.name.starts_with(TEXTS) || rocpd::suffix_of(&table.name).is_some()
}

/// A database of `ROCm` that is being read; `name` is for messages.
pub(super) fn export<'a>(
    (database, tables): (SqlDatabase<'a>, Vec<Arc<SqlTable>>),
    name: Option<&str>,
) -> TableExport<'a, RocmKnown> {
    let mut known = RocmKnown::default();
    let mut stages = rpd::stages(&database, &tables, &mut known.rpd);
    stages.extend(rocpd::stages(&database, &tables, &mut known.sets));
    TableExport::new((database, tables), stages, known, name)
}
