//! Errors of the core as Python exceptions.

use kinetoscope::{Error, ErrorKind};
use pyo3::create_exception;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

create_exception!(kinetoscope, TraceError, PyValueError, "A trace cannot be given.");
create_exception!(kinetoscope, TraceParseError, TraceError, "The bytes are not what they claim to be.");
create_exception!(kinetoscope, UnsupportedTraceError, TraceError, "The bytes are something that is not read.");

/// The exception that says the same.
pub(crate) fn raised(error: &Error) -> PyErr {
    let message = error.to_string();
    match error.kind() {
        ErrorKind::Malformed { .. } | ErrorKind::Snapshot { .. } => TraceParseError::new_err(message),
        ErrorKind::Unsupported { .. } => UnsupportedTraceError::new_err(message),
        ErrorKind::Unreadable { .. } => PyOSError::new_err(message),
        _ => TraceError::new_err(message),
    }
}
