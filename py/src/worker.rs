//! Exposes analyses of traces that other processes hold: queries and replies as bytes.

use kinetoscope::analyze::analysis;
use kinetoscope::write_snapshot;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::analysis::{Ranked, linked};
use crate::error::raised;
use crate::memory::detached;
use crate::result::{Answered, answered};
use crate::trace::Trace;

type Error = kinetoscope::Error;

/// The trace's collectives as a snapshot, for comparison with other ranks.
#[pyfunction]
pub(crate) fn communications<'py>(py: Python<'py>, trace: PyRef<'_, Trace>) -> PyResult<Bound<'py, PyBytes>> {
    let linked = trace.linked();
    bytes(py, || write_snapshot(&kinetoscope::edit::communications(&linked)))
}

/// The packed result of an analysis of one trace, to be merged with others.
#[pyfunction]
pub(crate) fn packed_answer<'py>(
    py: Python<'py>,
    trace: PyRef<'_, Trace>,
    name: &str,
    request: &str,
) -> PyResult<Bound<'py, PyBytes>> {
    let linked = trace.linked();
    bytes(py, || analysis(name)?.packed_answer(&linked, request))
}

/// The answer about a job, of those about each trace with its rank.
#[pyfunction]
pub(crate) fn answer_of_packed(
    py: Python<'_>,
    answers: Vec<(Option<i64>, Vec<u8>)>,
    name: &str,
    request: &str,
) -> PyResult<Answered> {
    answered(detached(py, || analysis(name)?.answer_of_packed(&answers, request))?)
}

/// The next queries to each trace, from the collectives of all and the replies so far; empty bytes
/// for a trace without queries.
#[pyfunction]
pub(crate) fn plan<'py>(
    py: Python<'py>,
    traces: Ranked<'_>,
    replies: Vec<Vec<Vec<u8>>>,
    name: &str,
    request: &str,
) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let traces = linked(traces);
    let all = detached(py, || analysis(name)?.plan(&traces, &replies, request))?.map_err(|error| raised(&error))?;
    Ok(all.iter().map(|asked| PyBytes::new(py, asked)).collect())
}

/// The reply of a trace to queries.
#[pyfunction]
pub(crate) fn respond<'py>(
    py: Python<'py>,
    trace: PyRef<'_, Trace>,
    name: &str,
    request: &str,
    queries: PyBackedBytes,
) -> PyResult<Bound<'py, PyBytes>> {
    let linked = trace.linked();
    bytes(py, || analysis(name)?.respond(&linked, &queries, request))
}

/// The result for a job, from the collectives of all traces and the replies.
#[pyfunction]
pub(crate) fn answer_of_replies(
    py: Python<'_>,
    traces: Ranked<'_>,
    replies: Vec<Vec<Vec<u8>>>,
    name: &str,
    request: &str,
) -> PyResult<Answered> {
    let traces = linked(traces);
    answered(detached(py, || analysis(name)?.answer_of_replies(&traces, &replies, request))?)
}

fn bytes(py: Python<'_>, make: impl FnOnce() -> Result<Vec<u8>, Error> + Send) -> PyResult<Bound<'_, PyBytes>> {
    detached(py, make)?.map(|bytes| PyBytes::new(py, &bytes)).map_err(|error| raised(&error))
}
