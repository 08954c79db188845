//! Exposes several traces on one screen.

use std::sync::Arc;

use kinetoscope::view;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::error::raised;
use crate::interrupt::interruptible;
use crate::trace::Trace;

/// Traces on one screen, each with a display name (which may be empty) and its rank, if the trace
/// does not state it.
#[pyclass(frozen, module = "kinetoscope._native")]
pub(crate) struct Session {
    session: Arc<view::Session>,
}

impl Session {
    pub(crate) fn shared(&self) -> Arc<view::Session> {
        Arc::clone(&self.session)
    }
}

#[pymethods]
impl Session {
    #[new]
    fn new(traces: Vec<(String, Option<i64>, PyRef<'_, Trace>)>) -> PyResult<Self> {
        let mut session = view::Session::default();
        for (name, rank, trace) in traces {
            session.add(&name, rank, trace.linked()).map_err(|error| raised(&error))?;
        }
        Ok(Self { session: Arc::new(session) })
    }

    /// Answers one request (see docs/protocol.md).
    fn query<'py>(&self, py: Python<'py>, request: PyBackedBytes) -> PyResult<Bound<'py, PyBytes>> {
        let session = Arc::clone(&self.session);
        let answer = interruptible(py, move || session.query(&request))?;
        Ok(PyBytes::new(py, &answer))
    }
}
