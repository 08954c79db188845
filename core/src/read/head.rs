//! What the first bytes of a file tell about it.

use std::borrow::Cow;
use std::io::{Cursor, Read as _};

use super::builder::Builder;
use super::decompress::decompress;
#[cfg(feature = "nsight")]
use super::nsight::is_export;
use super::snapshot::read_snapshot;
use super::window::Window;
use super::{Container, Limits, read_window, sniff};
use crate::error::Error;
use crate::trace::Trace;

/// So much text is looked at: whatever stands before the events, and not all that hostile bytes unpack to.
const MAX_TEXT: u64 = 1 << 22;

/// What is known of a file before it is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Head {
    /// Whether it is an Execution Trace; `None` when the bytes do not tell.
    pub is_execution: Option<bool>,
    /// The rank in its `distributedInfo`, where that stands before the events.
    pub rank: Option<i64>,
}

impl Head {
    /// What is known of a file that was read, all of it or its first bytes.
    pub fn of(trace: &Trace) -> Self {
        let is_execution = match (trace.events.is_empty(), trace.nodes.is_empty()) {
            (false, _) => Some(false),
            (true, false) => Some(true),
            (true, true) => None,
        };
        Self { is_execution, rank: trace.rank() }
    }
}

/// What a file's first bytes tell, some 64 KiB, plain or compressed. What is wrong with them shows when the file is read.
///
/// ```
/// use kinetoscope::read::{Head, head};
/// let cut = br#"{"distributedInfo": {"rank": 3}, "traceEvents": [{"ph": "X", "name": "a", "ts": 1, "dur": 1}, {"ph""#;
/// assert_eq!(head(cut), Head { is_execution: Some(false), rank: Some(3) });
/// assert_eq!(head(b"hello"), Head::default());
/// ```
pub fn head(bytes: &[u8]) -> Head {
    read_head(bytes).unwrap_or_default()
}

fn read_head(bytes: &[u8]) -> Result<Head, Error> {
    let limits = Limits::default();
    let text = decompress(sniff(bytes), Cursor::new(Cow::Borrowed(bytes))).take(MAX_TEXT);
    let mut window = Window::on(Box::new(text), limits);
    window.gather()?;
    match sniff(window.text()) {
        Container::Snapshot => Ok(Head::of(&read_snapshot(window.text(), limits)?)),
        #[cfg(feature = "nsight")]
        Container::Sqlite => Ok(Head { is_execution: is_export(window.text()).then_some(false), rank: None }),
        Container::Json => {
            let mut builder = Builder::default();
            read_window(window, None, None, limits, &mut builder)?;
            Ok(Head::of(&builder.finish()?))
        }
        // A graph for simulators has nodes, too.
        _ => Ok(Head::default()),
    }
}
