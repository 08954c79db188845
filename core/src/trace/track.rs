//! Tracks: one host thread or device stream each.

use serde::{Deserialize, Serialize};

use crate::id::StrId;

/// A host thread or a device stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Track {
    /// `pid` as it is written.
    pub process: StrId,
    /// `tid` as it is written.
    pub thread: StrId,
    /// The name of the thread (`thread_name`).
    pub name: StrId,
    /// Where the file wants it (`thread_sort_index`).
    pub sort_index: Option<i64>,
    /// The device and stream, for a stream.
    pub stream: Option<Stream>,
}

/// A stream of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stream {
    /// Number of the device, where the file gives one.
    pub device: Option<i64>,
    /// Number of the stream, where the file gives one.
    pub stream: Option<i64>,
}

/// Metadata of a process, or of a device in a process's place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// `pid` as it is written.
    pub process: StrId,
    /// `process_name`.
    pub name: StrId,
    /// `process_labels`, such as `CPU` or `GPU 0`.
    pub labels: StrId,
    /// `process_sort_index`.
    pub sort_index: Option<i64>,
}
