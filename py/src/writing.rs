//! Writes files.

use std::fs::File;
use std::io::{self, BufWriter};

use kinetoscope::write::gzip::write_gzip;
use pyo3::prelude::*;

use crate::error::os_error;

/// Writes a file, in a gzip stream or plain, without holding the GIL; returns the result of
/// `write`.
pub(crate) fn written<T: Send>(
    py: Python<'_>,
    path: &str,
    gzip: bool,
    write: impl FnOnce(&mut dyn io::Write) -> io::Result<T> + Send,
) -> PyResult<T> {
    let write = |file: File| {
        let mut out = BufWriter::new(file);
        if gzip { write_gzip(&mut out, write) } else { write(&mut out) }
    };
    py.detach(|| File::create(path).and_then(write).map_err(|error| os_error(&error, path)))
}
