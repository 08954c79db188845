//! Reads the first bytes of a file for its kind and rank.

use std::borrow::Cow;
use std::io::{Cursor, Read as _};

use super::builder::TraceBuilder;
use super::container::{Container, sniff};
use super::database::is_trace;
use super::decompress::decompress;
use super::files::read_window;
use super::input::Limits;
use super::snapshot::read_snapshot;
use super::text_window::TextWindow;
use crate::error::Error;
use crate::trace::Trace;

/// So much text is looked at: whatever stands before the events, and not all that hostile bytes
/// unpack to.
const MAX_TEXT: u64 = 1 << 22;

/// So many bytes tell what a stream is.
const SNIFFED: u64 = 1 << 12;

/// Facts about a file before it is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FileHead {
    /// Whether it is an Execution Trace; `None` when the bytes do not tell.
    pub is_execution: Option<bool>,
    /// The rank in its `distributedInfo`, where that stands before the events.
    pub rank: Option<i64>,
}

impl FileHead {
    /// Facts about a trace that was read, whole or from its first bytes.
    pub fn of(trace: &Trace) -> Self {
        let is_execution = match (trace.events.is_empty(), trace.nodes.is_empty()) {
            (false, _) => Some(false),
            (true, false) => Some(true),
            (true, true) => None,
        };
        Self { is_execution, rank: trace.rank() }
    }
}

/// Facts from a file's first bytes, some 64 KiB, plain or compressed. Defects show when the file is
/// read.
///
/// ```
/// use kinetoscope::read::{FileHead, head};
/// let cut = br#"{"distributedInfo": {"rank": 3}, "traceEvents": [{"ph": "X", "name": "a", "ts": 1, "dur": 1}, {"ph""#;
/// assert_eq!(head(cut), FileHead { is_execution: Some(false), rank: Some(3) });
/// assert_eq!(head(b"hello"), FileHead::default());
/// ```
pub fn head(bytes: &[u8]) -> FileHead {
    read_head(bytes).unwrap_or_default()
}

/// Recognises a file by its first bytes as [`sniff`] does, and looks into a compressed stream.
///
/// ```
/// use kinetoscope::read::{Container, sniff_inside};
/// assert_eq!(sniff_inside(b"{\"segments\": []}"), Container::MemorySnapshot);
/// ```
pub fn sniff_inside(bytes: &[u8]) -> Container {
    let mut text = Vec::new();
    // The first bytes of a stream that was cut decompress, too.
    let _ = decompress(sniff(bytes), Cursor::new(bytes)).take(SNIFFED).read_to_end(&mut text);
    sniff(&text)
}

fn read_head(bytes: &[u8]) -> Result<FileHead, Error> {
    let limits = Limits::default();
    let text = decompress(sniff(bytes), Cursor::new(Cow::Borrowed(bytes))).take(MAX_TEXT);
    let mut window = TextWindow::on(Box::new(text), limits);
    window.gather()?;
    match sniff(window.text()) {
        Container::Snapshot => Ok(FileHead::of(&read_snapshot(window.text(), limits)?)),
        Container::Sqlite => Ok(FileHead { is_execution: is_trace(window.text()).then_some(false), rank: None }),
        #[cfg(feature = "xspace")]
        Container::XSpace => Ok(FileHead { is_execution: Some(false), rank: None }),
        Container::Json | Container::Perfetto => {
            let mut builder = TraceBuilder::default();
            read_window(window, None, None, limits, &mut builder)?;
            Ok(FileHead::of(&builder.finish()?))
        }
        // A graph for simulators has nodes, too.
        _ => Ok(FileHead::default()),
    }
}
