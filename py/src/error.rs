//! Converts errors of the core to Python exceptions.

use std::io;

use kinetoscope::{Error, ErrorKind};
use pyo3::create_exception;
use pyo3::exceptions::{PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;

create_exception!(kinetoscope, TraceError, PyValueError, "A trace cannot be read, or a request is invalid.");
create_exception!(kinetoscope, TraceParseError, TraceError, "The file is malformed.");
create_exception!(kinetoscope, TraceLimitError, TraceError, "The file exceeds a limit, such as `max_bytes`.");
create_exception!(kinetoscope, UnsupportedTraceError, TraceError, "The file has an unsupported format.");

/// The matching Python exception.
pub(crate) fn raised(error: &Error) -> PyErr {
    let message = printable(&error.to_string());
    match error.kind() {
        ErrorKind::Malformed { .. } | ErrorKind::Snapshot { .. } => TraceParseError::new_err(message),
        ErrorKind::Limit { .. } => TraceLimitError::new_err(message),
        ErrorKind::Unsupported { .. } => UnsupportedTraceError::new_err(message),
        // Python's own error for a keyword that a function does not have.
        ErrorKind::UnknownOption { .. } => PyTypeError::new_err(message),
        ErrorKind::Unreadable { .. } => PyOSError::new_err(message),
        _ => TraceError::new_err(message),
    }
}

/// The text with control characters escaped: names of files, members and fields come from
/// strangers.
fn printable(text: &str) -> String {
    let is_format = |letter: char| matches!(letter, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    let escape = |letter: char| letter != '\n' && (letter.is_control() || is_format(letter));
    text.chars().fold(String::with_capacity(text.len()), |mut out, letter| {
        if escape(letter) {
            out.extend(letter.escape_unicode());
        } else {
            out.push(letter);
        }
        out
    })
}

/// Python's own exception for a file that cannot be opened or written, with its name.
pub(crate) fn os_error(error: &io::Error, path: &str) -> PyErr {
    match error.raw_os_error() {
        Some(code) => {
            let text = io::Error::from_raw_os_error(code).to_string();
            let words = text.strip_suffix(&format!(" (os error {code})")).unwrap_or(&text);
            PyOSError::new_err((code, words.to_owned(), path.to_owned()))
        }
        None => PyOSError::new_err(format!("{path}: {error}")),
    }
}
