//! Facts that the rows of several tables refer to.

use super::rocpd;
use super::rocpd_set::{RocpdSet, write_devices};
use super::rpd::{self, RpdTables};
use crate::read::event_text::EventText;
use crate::read::json_object::JsonObject;
use crate::read::nsight::device_streams::DeviceStreams;
use crate::read::table_export::TableFormat;

/// Facts of the other tables.
#[derive(Default)]
pub(in crate::read) struct RocmKnown {
    pub(super) rpd: RpdTables,
    pub(super) sets: Vec<RocpdSet>,
    /// Streams of all processes.
    pub(super) streams: DeviceStreams,
}

impl TableFormat for RocmKnown {
    const UNREAD: &'static str = "rocm_unread";

    fn is_support(name: &str) -> bool {
        const READ: [&str; 3] = ["rocpd_string", "rocpd_metadata", "rocpd_info_"];
        READ.iter().any(|start| name.starts_with(start)) || rpd::is_support(name) || rocpd::is_support(name)
    }

    fn write_start(&self, events: &mut EventText) {
        self.sets.iter().for_each(|set| set.write_names(events));
    }

    fn write_header(&mut self, header: &mut JsonObject<'_>) {
        write_devices(&self.sets, header);
    }
}
