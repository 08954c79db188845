//! The state of a running export: pending text, names and devices.

use std::collections::BTreeMap;

use super::device_streams::DeviceStreams;
use super::name::NsightNames;
use super::nvtx_names::NvtxNames;
use super::object::{JsonObject, object};
use crate::time::Ts;

/// Pending elements of `traceEvents`, and the state that all rows share.
#[derive(Debug, Default)]
pub(super) struct ExportState {
    pub(super) out: Vec<u8>,
    pub(super) num_elements: u64,
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
    /// When the recording began, since the Unix epoch.
    pub(super) base_ns: Option<i64>,
}

impl ExportState {
    /// Adds an element.
    pub(super) fn element(&mut self, fill: impl FnOnce(&mut JsonObject<'_>, &mut ExportNames)) {
        if self.num_elements > 0 {
            self.out.extend_from_slice(b",\n");
        }
        self.num_elements += 1;
        object(&mut self.out, |event| fill(event, &mut self.known));
    }

    /// Adds a metadata element: the name of a process or a thread.
    pub(super) fn metadata(&mut self, what: &str, (process, thread): (i64, i64), name: &[u8]) {
        self.element(|event, _| {
            event.text("ph", b"M");
            event.text("name", what.as_bytes());
            event.integer("pid", process);
            event.integer("tid", thread);
            event.object("args", |args| args.text("name", name));
        });
    }
}

/// Writes when something began and how long it took; without an end, it never ended.
pub(super) fn write_span(event: &mut JsonObject<'_>, start: Option<i64>, end: Option<i64>) {
    // Where versions before 2021 had no value they wrote 0 or -1.
    let end = end.filter(|end| *end > 0 || start.is_none_or(|start| start <= *end));
    event.text("ph", if end.is_some() { b"X" } else { b"B" });
    if let Some(start) = start {
        event.micros("ts", Ts(start));
        if let Some(end) = end {
            event.micros("dur", Ts(end.saturating_sub(start)));
        }
    }
}
