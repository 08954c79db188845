//! Recognizes a file by its content, not by its name.

use super::flight::is_flight_recorder;
use super::foreign::{PROTON, is_tree, of_binary};
use super::memory::is_memory_snapshot;
use super::pftrace::is_perfetto;
use super::pickle::NEWEST_PROTOCOL;
use super::timeline::is_memory_timeline;
use crate::write::snapshot::MAGIC;

/// The content of a file by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Container {
    /// A JSON object or array, perhaps after a byte order mark.
    Json,
    /// A gzip stream.
    Gzip,
    /// An xz stream.
    Xz,
    /// A zstd stream.
    Zstd,
    /// A tar archive.
    Tar,
    /// A zip archive.
    Zip,
    /// One of our own snapshots.
    Snapshot,
    /// A Chakra trace in protobuf.
    Chakra,
    /// A Chakra trace in JSON.
    ChakraJson,
    /// A pickle of a protocol that is read: perhaps a memory snapshot or a flight recorder.
    Pickle,
    /// A memory snapshot in JSON.
    MemorySnapshot,
    /// A dump of a flight recorder in JSON.
    FlightRecorder,
    /// A memory timeline in JSON.
    MemoryTimeline,
    /// An `SQLite` database, perhaps an export of Nsight Systems.
    Sqlite,
    /// A trace of Perfetto in protobuf.
    Perfetto,
    /// A profile of XLA in protobuf.
    #[cfg(feature = "xspace")]
    XSpace,
    /// Metrics sampled beside a trace, as JSON lines.
    Metrics,
    /// Nothing at all.
    Empty,
    /// Something else, in words.
    Other(&'static str),
}

impl Container {
    /// Its name in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Json => "JSON",
            Self::Gzip => "a gzip stream",
            Self::Xz => "an xz stream",
            Self::Zstd => "a zstd stream",
            Self::Tar => "a tar archive",
            Self::Zip => "a zip archive",
            Self::Snapshot => "a kinetoscope snapshot",
            Self::Chakra => "a Chakra trace",
            Self::ChakraJson => "a Chakra trace in JSON",
            Self::Pickle => "a Python pickle",
            Self::MemorySnapshot => "a memory snapshot",
            Self::FlightRecorder => "a flight recorder",
            Self::MemoryTimeline => "a memory timeline",
            Self::Sqlite => "an SQLite database",
            Self::Perfetto => "a Perfetto trace",
            #[cfg(feature = "xspace")]
            Self::XSpace => "an XSpace of XLA's profiler",
            Self::Metrics => {
                "sampled metrics of ks.profile (read the trace beside them, or the folder with ks.read_dir)"
            }
            Self::Empty => "an empty file",
            Self::Other(words) => words,
        }
    }

    /// Whether a file like this may hold a trace.
    #[cfg(feature = "archives")]
    pub fn may_be_recording(self) -> bool {
        #[cfg(feature = "xspace")]
        if self == Self::XSpace {
            return true;
        }
        self.is_stream() || matches!(self, Self::Json | Self::Snapshot | Self::Sqlite | Self::Perfetto)
    }

    pub(super) fn is_stream(self) -> bool {
        matches!(self, Self::Gzip | Self::Xz | Self::Zstd)
    }
}

pub(super) const BOM: &[u8] = b"\xef\xbb\xbf";

/// The first bytes of a file of metrics.
const METRICS_MARK: &[u8] = b"{\"kinetoscope_metrics\"";

const PAGE: &str = "an HTML or XML page";

/// HTML pages of `PyTorch` with a readable alternative, each with a text in its head.
const PAGES: [(&str, &str); 2] = [
    (
        "GPU Memory Timeline HTML",
        "a memory timeline in HTML, which holds only a picture (export it as .json or .raw.json.gz)",
    ),
    ("MemoryViz.js", "a memory snapshot in HTML (dump it as a pickle instead)"),
];

/// Signatures of readable formats, and of files that are often given by mistake.
const SIGNATURES: [(&[u8], Container); 11] = [
    (b"\x1f\x8b", Container::Gzip),
    (b"\xfd7zXZ\0", Container::Xz),
    (b"\x28\xb5\x2f\xfd", Container::Zstd),
    (b"PK\x03\x04", Container::Zip),
    (MAGIC, Container::Snapshot),
    (b"version https://git-lfs", Container::Other("a Git LFS pointer (fetch the file with `git lfs pull`)")),
    (b"SQLite format 3\0", Container::Sqlite),
    (METRICS_MARK, Container::Metrics),
    (b"BZh", Container::Other("a bzip2 stream")),
    (b"<", Container::Other(PAGE)),
    (b"\x7fELF", Container::Other("an executable program")),
];

pub(super) const BINARY: &str = "binary data";

/// Recognises a file by its first bytes; no more than a kilobyte is looked at.
pub fn sniff(head: &[u8]) -> Container {
    let head = &head[..head.len().min(HEAD_BYTES as usize)];
    if head.get(257..262) == Some(b"ustar") {
        return Container::Tar;
    }
    let text = head.strip_prefix(BOM).unwrap_or(head).trim_ascii_start();
    // Blanks may stand before a text, and before nothing else.
    let is_text = |signature: &[u8]| signature.iter().all(|byte| byte.is_ascii_graphic() || *byte == b' ');
    let begins = |signature: &[u8]| head.starts_with(signature) || is_text(signature) && text.starts_with(signature);
    let found = SIGNATURES.iter().find(|(signature, _)| begins(signature));
    #[cfg(feature = "chakra")]
    if !head.starts_with(BOM) && super::chakra::is_chakra(head) {
        return Container::Chakra;
    }
    match (found, text.first()) {
        // A frame of zstd that holds no text, before one that does.
        _ if matches!(head, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..]) => Container::Zstd,
        _ if matches!(head, [0x80, 2..=NEWEST_PROTOCOL, ..]) => Container::Pickle,
        (Some(_), Some(b'<')) => Container::Other(page(head)),
        (Some((_, container)), _) => *container,
        (None, None) => Container::Empty,
        #[cfg(feature = "chakra")]
        (None, Some(b'{')) if super::graph::is_graph(text) => Container::ChakraJson,
        (None, Some(b'{')) if is_memory_snapshot(text) => Container::MemorySnapshot,
        (None, Some(b'{')) if is_flight_recorder(text) => Container::FlightRecorder,
        (None, Some(b'[')) if is_memory_timeline(text) => Container::MemoryTimeline,
        (None, Some(b'[')) if is_tree(text) => Container::Other(PROTON),
        (None, Some(b'{' | b'[')) => Container::Json,
        #[cfg(feature = "xspace")]
        (None, Some(_)) if super::foreign::is_xspace(head) => Container::XSpace,
        (None, Some(_)) if head.first() == Some(&0x0a) && of_binary(head).is_none() && is_perfetto(head) => {
            Container::Perfetto
        }
        (None, _) if head.iter().any(|byte| *byte < b'\t') => Container::Other(of_binary(head).unwrap_or(BINARY)),
        (None, _) => Container::Other(of_binary(head).unwrap_or("text that is not a JSON object or array")),
    }
}

/// Identifies an HTML page.
fn page(head: &[u8]) -> &'static str {
    let found = PAGES.iter().find(|(words, _)| head.windows(words.len()).any(|window| window == words.as_bytes()));
    found.map_or(PAGE, |(_, page)| *page)
}

/// As many bytes as are needed to recognise a file.
pub(super) const HEAD_BYTES: u64 = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_decides_not_the_name() {
        assert_eq!(sniff(b"\xef\xbb\xbf \r\n{"), Container::Json);
        assert_eq!(sniff(b"\xef\xbb\xbf{\n\"traceEvents\": ["), Container::Json);
        assert_eq!(sniff(b"\x1f\x8b\x08"), Container::Gzip);
        assert_eq!(sniff(b"  \n"), Container::Empty);
        assert_eq!(sniff(b"<!doctype html>"), Container::Other("an HTML or XML page"));
        assert_eq!(sniff(b"\x80\x04\x95"), Container::Pickle);
        assert_eq!(sniff(b"\x80\x01"), Container::Other(BINARY));
        assert_eq!(sniff(b" [[-1, 1,"), Container::MemoryTimeline);
        assert_eq!(sniff(b"{ \"device_traces\": ["), Container::MemorySnapshot);
        assert_eq!(sniff(b"hello"), Container::Other("text that is not a JSON object or array"));
    }
}
