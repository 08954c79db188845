//! Wraps a writer in a gzip stream.

use std::io;

use flate2::Compression;
use flate2::write::GzEncoder;

/// Passes `write` a gzip stream into `out`; returns its result.
///
/// # Errors
/// Those of `out` and of `write`.
///
/// ```
/// use kinetoscope::{Input, Limits, read, write::{chrome::write_chrome, gzip::write_gzip}};
/// let json = br#"[{"ph": "X", "name": "aten::add", "pid": 1, "tid": 2, "ts": 5.1, "dur": 2}]"#;
/// let trace = read([Input::new(json)], Limits::default())?;
/// let mut file = Vec::new();
/// write_gzip(&mut file, |out| write_chrome(&trace, out)).unwrap();
/// assert_eq!(read([Input::new(&file)], Limits::default())?.events, trace.events);
/// # Ok::<(), kinetoscope::Error>(())
/// ```
pub fn write_gzip<T>(
    out: &mut dyn io::Write,
    write: impl FnOnce(&mut dyn io::Write) -> io::Result<T>,
) -> io::Result<T> {
    let mut encoder = GzEncoder::new(out, Compression::default());
    let written = write(&mut encoder)?;
    encoder.finish()?.flush()?;
    Ok(written)
}
