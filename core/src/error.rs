//! Errors: reasons why a trace cannot be read. All other defects are a
//! [`Warning`](crate::warning::Warning).

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// A place in a file; without words where nothing is known of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Position {
    /// Name of the file, where one is known.
    pub file: Option<Arc<str>>,
    /// Offset in the decompressed text, where one is known.
    pub byte: Option<u64>,
    /// Index in `traceEvents` (or whatever list the file has), where inside one.
    pub event: Option<u64>,
    /// Id of a node of the Execution Trace, or of a graph made of it, where it is one.
    pub node: Option<u64>,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.file.as_ref().map(ToString::to_string);
        let byte = self.byte.map(|byte| format!("byte {byte}"));
        let event = self.event.map(|event| format!("event {event}"));
        let node = self.node.map(|node| format!("node {node}"));
        let parts: Vec<_> = [file, byte, event, node].into_iter().flatten().collect();
        f.write_str(&parts.join(", "))
    }
}

/// No trace can be read: states expected, found, and the position.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error(#[from] Box<ErrorKind>);

impl Error {
    /// The kind, to tell cases apart.
    pub fn kind(&self) -> &ErrorKind {
        &self.0
    }

    /// The place in the file, where the error has one.
    pub fn position(&self) -> Option<&Position> {
        match self.kind() {
            ErrorKind::Malformed { position, .. }
            | ErrorKind::Unsupported { position, .. }
            | ErrorKind::Snapshot { position, .. } => Some(position),
            ErrorKind::Unreadable { .. } | ErrorKind::Limit { .. } | ErrorKind::UnknownOption { .. } | ErrorKind::Request { .. } => None,
        }
    }

    /// The same of a snapshot that was read from a file of that name.
    pub(crate) fn of_snapshot(mut self, file: Option<&str>) -> Self {
        if let ErrorKind::Snapshot { position, .. } = &mut *self.0 {
            position.file = file.map(Arc::from);
        }
        self
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Self(Box::new(kind))
    }
}

/// A place in brackets; nothing where none is known.
fn behind(position: &Position) -> String {
    if *position == Position::default() { String::new() } else { format!(" ({position})") }
}

/// The kinds of [`Error`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The bytes are malformed.
    #[error("expected {expected}, found {found}{}", behind(position))]
    Malformed {
        /// The expected content.
        expected: &'static str,
        /// The content at the position.
        found: String,
        /// Where.
        position: Position,
    },
    /// The bytes are something, but nothing that is read.
    #[error("expected {expected}, found {found}{}", behind(position))]
    Unsupported {
        /// The formats that are supported.
        expected: &'static str,
        /// The recognized format.
        found: Cow<'static, str>,
        /// Where.
        position: Position,
    },
    /// The file cannot be read.
    #[error("expected a readable file, found: {source}")]
    Unreadable {
        /// The system's error.
        source: std::io::Error,
    },
    /// A limit that the caller set was passed.
    #[error("expected at most {limit} {unit}, found more")]
    Limit {
        /// The limited quantity.
        unit: &'static str,
        /// The limit.
        limit: u64,
    },
    /// A snapshot that this version cannot load.
    #[error("expected a kinetoscope snapshot of version {expected}, found {found}{}", behind(position))]
    Snapshot {
        /// The version that is loaded.
        expected: u32,
        /// The given value.
        found: String,
        /// The file, if it was read from one.
        position: Position,
    },
    /// A request with an option that the analysis does not have.
    #[error("expected {expected}, found {found}")]
    UnknownOption {
        /// The options of the analysis.
        expected: String,
        /// The given name.
        found: String,
    },
    /// A request that is not understood.
    #[error("expected {expected}, found {found}")]
    Request {
        /// The valid choices.
        expected: String,
        /// The given value.
        found: String,
    },
}
