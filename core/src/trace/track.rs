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

/// The label of a trace in a file of a whole job, before the numbers of its processes: its rank, or
/// else its place in the job.
pub(crate) fn process_label(rank: Option<i64>, at: usize) -> String {
    rank.map_or_else(|| format!("[trace {at}] "), |rank| format!("rank {rank}: "))
}

/// The device in the place of a process: its number, also behind labels of ranks as in `rank 3: 0`
/// and `[TP00] 0`.
pub(crate) fn device_in_place(process: &str) -> Option<i64> {
    let number = std::iter::successors(Some(process), |text| without_label(text)).last()?;
    number.parse().ok()
}

/// The text behind the first label, if there is one.
fn without_label(process: &str) -> Option<&str> {
    let labelled = match process.strip_prefix('[') {
        Some(label) => label.split_once("] "),
        None => process.strip_prefix("rank ").and_then(|label| label.split_once(": ")),
    };
    labelled.map(|(_, own)| own)
}

#[cfg(test)]
mod tests {
    use super::{device_in_place, process_label};

    #[test]
    fn devices_are_found_behind_labels() {
        let labels = [process_label(Some(3), 0), process_label(None, 1), "[TP00-DP01] ".into(), String::new()];
        for label in labels {
            assert_eq!(device_in_place(&format!("{label}2")), Some(2), "{label}");
        }
        // A job that was read from such a file and written again.
        assert_eq!(device_in_place("rank 3: rank 3: 2"), Some(2));
        for other in ["rank 3", "rank 3:", "rank 3: GPU", "[TP00]", "[TP00] ", "rank: 3", "GPU 0", ""] {
            assert_eq!(device_in_place(other), None, "{other}");
        }
    }
}
