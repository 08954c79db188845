//! Files with all ranks of a job.

use std::io::{self, BufWriter, Write};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread;

use kinetoscope::write::chrome;
use kinetoscope::write::perfetto::write_perfetto;
use kinetoscope::{Input, Limits, LinkedTrace, read};
use pyo3::prelude::*;

use crate::trace::Trace;
use crate::writing::written;

/// The traces of a job with their ranks.
type RankedTraces = [(Option<i64>, Arc<LinkedTrace>)];

/// Writes Chrome's JSON of all ranks, in a gzip stream or plain.
#[pyfunction]
pub(crate) fn write_chrome_of_job(
    py: Python<'_>,
    traces: Vec<(Option<i64>, PyRef<'_, Trace>)>,
    is_aligned: bool,
    path: String,
    gzip: bool,
) -> PyResult<()> {
    let traces = linked(&traces);
    written(py, &path, gzip, |out| chrome::write_chrome_of_job(&traces, is_aligned, out))
}

/// Writes a Perfetto trace of all ranks, in a gzip stream or plain.
#[pyfunction]
pub(crate) fn write_perfetto_of_job(
    py: Python<'_>,
    traces: Vec<(Option<i64>, PyRef<'_, Trace>)>,
    is_aligned: bool,
    path: String,
    gzip: bool,
) -> PyResult<()> {
    let traces = linked(&traces);
    written(py, &path, gzip, |out| write_perfetto(&LinkedTrace::new(merged(&traces, is_aligned)?), out))
}

fn linked(traces: &[(Option<i64>, PyRef<'_, Trace>)]) -> Vec<(Option<i64>, Arc<LinkedTrace>)> {
    traces.iter().map(|(rank, trace)| (*rank, trace.linked())).collect()
}

/// All ranks as one trace: what their Chrome trace reads as. Its text is never in memory as a
/// whole.
fn merged(traces: &RankedTraces, is_aligned: bool) -> io::Result<kinetoscope::Trace> {
    let (text, end) = io::pipe()?;
    thread::scope(|scope| {
        let writer = thread::Builder::new().spawn_scoped(scope, move || {
            let mut out = BufWriter::new(end);
            chrome::write_chrome_of_job(traces, is_aligned, &mut out)?;
            out.flush()
        })?;
        // The traces had their secrets left out when they were read, unless they were wanted.
        let limits = Limits { max_bytes: u64::MAX, include_environment: true, ..Limits::default() };
        let trace = read([Input::stream(text)], limits);
        writer.join().unwrap_or_else(|panic| resume_unwind(panic))?;
        trace.map_err(io::Error::other)
    })
}
