//! Reads databases of `msprof` and of `torch_npu.profiler` (`msprof_*.db`,
//! `ascend_pytorch_profiler_*.db`).
//!
//! Tables and columns are those of "msprof导出db格式数据说明" in the documentation of msprof. Texts
//! are numbers of `STRING_IDS`, times nanoseconds since 1970. `PYTORCH_API` has operators,
//! `CANN_API` calls of the runtime, `TASK` work of devices, `COMMUNICATION_OP` collectives. A task
//! shares its `connectionId` with its call and, through `CONNECTION_IDS`, with its operator.
//!
//! The text is that of the `trace_view.json` which the same tools write: the same processes, rows
//! and arrows. So `vendor` gives the same work the same kinds.

mod device;
mod host;
mod known;
mod layer;
mod tables;
mod words;

use std::sync::Arc;

use super::sqlite::{SqlDatabase, SqlTable};
use super::table_export::TableExport;
use known::MsprofKnown;
pub(super) use words::TEXTS;

/// Tables by which a database is known, beside that of texts.
const EVENTS: [&str; 5] = ["TASK", "CANN_API", "PYTORCH_API", "COMMUNICATION_OP", "MSTX_EVENTS"];

/// Whether a database with these tables is one of `msprof`.
pub(super) fn is_known(tables: &[Arc<SqlTable>]) -> bool {
    let has = |name: &str| tables.iter().any(|table| table.name == name);
    has(TEXTS) && EVENTS.iter().any(|name| has(name))
}

/// A database of `msprof` that is being read; `name` is for messages.
pub(super) fn export<'a>(
    (database, tables): (SqlDatabase<'a>, Vec<Arc<SqlTable>>),
    name: Option<&str>,
) -> TableExport<'a, MsprofKnown> {
    let known = MsprofKnown::new(&database, &tables);
    let stages = tables::stages(&tables);
    TableExport::new((database, tables), stages, known, name)
}
