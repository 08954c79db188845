//! Errors: reasons why a trace cannot be read or a request is invalid. Tolerated defects are
//! [warnings](crate::warning::Warning).

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// A position in a file. Its text is empty if nothing is known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Position {
    /// Name of the file, if known.
    pub file: Option<Arc<str>>,
    /// Offset in the decompressed text in bytes, if known.
    pub byte: Option<u64>,
    /// Index in `traceEvents` (or in the list of the file), if inside a list.
    pub event: Option<u64>,
    /// Id of a node of the Execution Trace or of a graph, if the position is a node.
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

/// A failed read or an invalid request. The text states expected, found, and the position.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error(#[from] Box<ErrorKind>);

impl Error {
    /// The kind of the error.
    pub fn kind(&self) -> &ErrorKind {
        &self.0
    }

    /// The position in the file, if the error has one.
    pub fn position(&self) -> Option<&Position> {
        match self.kind() {
            ErrorKind::Malformed { position, .. }
            | ErrorKind::Unsupported { position, .. }
            | ErrorKind::Limit { position, .. }
            | ErrorKind::Snapshot { position, .. } => Some(position),
            ErrorKind::Unreadable { .. } | ErrorKind::UnknownOption { .. } | ErrorKind::Request { .. } => None,
        }
    }

    /// The same error; one of a limit or a snapshot with the name of the file, if it has none.
    pub(crate) fn in_file(mut self, file: Option<&str>) -> Self {
        if let ErrorKind::Limit { position, .. } | ErrorKind::Snapshot { position, .. } = &mut *self.0
            && position.file.is_none()
        {
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

/// The error of a system, or one of ours that a stream carried.
pub(crate) fn unreadable(source: std::io::Error) -> Error {
    match source.downcast::<Error>() {
        Ok(error) => error,
        Err(source) => ErrorKind::Unreadable { source }.into(),
    }
}

/// A position in brackets; empty without a position.
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
    /// The format is recognized but not supported.
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
    /// The input exceeds a limit.
    #[error("expected at most {limit} {unit}, found more{}", behind(position))]
    Limit {
        /// The limited quantity.
        unit: &'static str,
        /// The limit.
        limit: u64,
        /// The file or the member of an archive, if known.
        position: Position,
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
    /// A request with an unknown option of an analysis.
    #[error("expected {expected}, found {found}")]
    UnknownOption {
        /// The options of the analysis.
        expected: String,
        /// The given name.
        found: String,
    },
    /// An invalid request.
    #[error("expected {expected}, found {found}")]
    Request {
        /// The valid choices.
        expected: String,
        /// The given value.
        found: String,
    },
}
