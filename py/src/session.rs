//! Exposes several traces on one screen.

use kinetoscope::view;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::error::raised;
use crate::trace::Trace;

/// Traces on one screen, each with a display name (which may be empty) and its rank, if the trace
/// does not state it.
#[pyclass(frozen, module = "kinetoscope._native")]
pub(crate) struct Session {
    session: view::Session,
}

#[pymethods]
impl Session {
    #[new]
    fn new(traces: Vec<(String, Option<i64>, PyRef<'_, Trace>)>) -> PyResult<Self> {
        let mut session = view::Session::default();
        for (name, rank, trace) in traces {
            session.add(&name, rank, trace.linked()).map_err(|error| raised(&error))?;
        }
        Ok(Self { session })
    }

    /// Answers one request (see docs/protocol.md).
    fn query<'py>(&self, py: Python<'py>, request: PyBackedBytes) -> Bound<'py, PyBytes> {
        let answer = py.detach(|| self.session.query(&request));
        PyBytes::new(py, &answer)
    }
}
