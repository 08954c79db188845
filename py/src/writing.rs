//! Writes files.

use std::fs::File;
use std::io::{self, BufWriter};

use kinetoscope::write::gzip::write_gzip;
use pyo3::prelude::*;

use crate::error::os_error;
use crate::interrupt::InterruptibleWriter;
use crate::memory::detached;

/// Writes a file, in a gzip stream or plain, without holding the GIL; returns the result of
/// `write`.
pub(crate) fn written<T: Send>(
    py: Python<'_>,
    path: &str,
    gzip: bool,
    write: impl FnOnce(&mut dyn io::Write) -> io::Result<T> + Send,
) -> PyResult<T> {
    detached(py, || {
        let file = File::create(path).map_err(|error| os_error(&error, path))?;
        let mut out = InterruptibleWriter::new(BufWriter::new(file));
        let done = if gzip { write_gzip(&mut out, write) } else { write(&mut out) };
        done.map_err(|error| out.raised.take().unwrap_or_else(|| os_error(&error, path)))
    })?
}
