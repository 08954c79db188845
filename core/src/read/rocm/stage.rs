//! A table that is read, and the facts that its rows refer to.

use std::sync::Arc;

use super::rocpd_set::RocpdSet;
use super::row::{RocmColumns, RocmRow};
use super::rpd::RpdTables;
use crate::read::event_text::EventText;
use crate::read::nsight::device_streams::DeviceStreams;
use crate::read::sqlite::SqlTable;

/// A table whose rows become events.
pub(super) struct RocmStage {
    pub(super) table: Arc<SqlTable>,
    pub(super) columns: RocmColumns,
    /// The set that the table belongs to.
    pub(super) set: usize,
    /// Adds a row; false if it has no start or an unknown reference.
    pub(super) write: fn(&RocmRow<'_>, usize, &mut RocmKnown, &mut EventText) -> bool,
}

impl RocmStage {
    pub(super) fn new(
        table: &Arc<SqlTable>,
        names: &[&str],
        set: usize,
        write: fn(&RocmRow<'_>, usize, &mut RocmKnown, &mut EventText) -> bool,
    ) -> Self {
        Self { table: Arc::clone(table), columns: RocmColumns::new(table, names), set, write }
    }
}

/// Facts of the other tables.
#[derive(Default)]
pub(super) struct RocmKnown {
    pub(super) rpd: RpdTables,
    pub(super) sets: Vec<RocpdSet>,
    /// Streams of all processes.
    pub(super) streams: DeviceStreams,
}
