//! The state of a running export: pending text, names and devices.

use std::collections::BTreeMap;

use super::device_streams::DeviceStreams;
use super::name::NsightNames;
use super::nvtx_names::NvtxNames;
use crate::read::event_text::EventText;
use crate::read::json_object::JsonObject;

/// Pending elements of `traceEvents`, and the state that all rows share.
#[derive(Debug, Default)]
pub(super) struct ExportState {
    pub(super) events: EventText,
    pub(super) known: ExportNames,
    /// Calls that stand in the export a second time, with their backtraces.
    pub(super) num_backtraces: u64,
}

/// Names of numbers, devices and ranges in the export.
#[derive(Debug, Default)]
pub(super) struct ExportNames {
    pub(super) names: NsightNames,
    pub(super) places: DeviceStreams,
    pub(super) vocabulary: NvtxNames,
    /// See [`Limits::include_environment`](crate::read::Limits::include_environment).
    pub(super) keeps_environment: bool,
    /// Bytes that were to go into the header.
    pub(super) header_bytes: usize,
    /// Tables of the header with the number of rows that are not carried.
    pub(super) private_rows: Vec<(String, i64)>,
    /// The properties of each device, as an object.
    pub(super) devices: BTreeMap<i64, Vec<u8>>,
    /// Metrics of GPUs.
    #[cfg(feature = "kernel-counters")]
    pub(super) metrics: super::metric::MetricNames,
    /// When the recording began, since the Unix epoch.
    pub(super) base_ns: Option<i64>,
}

impl ExportState {
    /// Adds an element.
    pub(super) fn element(&mut self, fill: impl FnOnce(&mut JsonObject<'_>, &mut ExportNames)) {
        self.events.element(|event| fill(event, &mut self.known));
    }
}
