//! From bytes to a [`Trace`]: inflate, recognise by content, scan, build columns.

mod args;
mod builder;
mod container;
mod document;
mod element;
mod execution;
mod pairs;
pub mod snapshot;
mod tracks;

use std::borrow::Cow;
use std::sync::Arc;

use crate::error::{Error, ErrorKind, Position};
use crate::trace::Trace;
use crate::warning::WarningKind;
use builder::Builder;
pub use container::{Container, sniff};

/// One file's bytes, plain or compressed.
#[derive(Debug, Clone)]
pub struct Input<'a> {
    /// The bytes.
    pub bytes: Cow<'a, [u8]>,
    /// A name for messages.
    pub name: Option<&'a str>,
}

impl<'a> Input<'a> {
    /// Bytes without a name.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes: Cow::Borrowed(bytes), name: None }
    }

    /// The same bytes with a name for messages.
    #[must_use]
    pub fn named(self, name: &'a str) -> Self {
        Self { name: Some(name), ..self }
    }
}

/// What a reader may use up.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Bytes of decompressed text, 8 GiB when not said.
    pub max_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_bytes: 8 << 30 }
    }
}

/// Reads the files of one rank: a Kineto trace, an Execution Trace, or both, in any order.
///
/// Files are told apart by their keys, not by their names. Defects that can be survived are counted in
/// [`Trace::warnings`].
///
/// # Errors
/// When a file is no trace at all, when two files are of the same sort, or when a limit is passed.
///
/// ```
/// use kinetoscope::{Input, Limits, read};
/// let json = br#"{"traceEvents": [{"ph": "X", "name": "aten::add", "pid": 1, "tid": 2, "ts": 5.1, "dur": 2}]}"#;
/// let trace = read(&[Input::new(json)], Limits::default())?;
/// assert_eq!(trace.events.start[0].0, 5_100);
/// # Ok::<(), kinetoscope::Error>(())
/// ```
pub fn read(inputs: &[Input<'_>], limits: Limits) -> Result<Trace, Error> {
    let mut builder = Builder::default();
    for input in inputs {
        let file = input.name.map(Arc::from);
        let inflated = container::inflate(input, limits)?;
        if inflated.is_damaged {
            let position = || Position { file: file.clone(), byte: Some(inflated.text.len() as u64), event: None };
            builder.trace.warnings.push(WarningKind::DamagedCompression, position);
        }
        document::read_document(&inflated.text, file, &mut builder)?;
    }
    if inputs.is_empty() {
        return Err(
            ErrorKind::Request { expected: String::from("at least one file"), found: String::from("none") }.into()
        );
    }
    Ok(builder.finish())
}
