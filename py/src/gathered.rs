//! Exposes the report of a job whose traces workers hold.

use std::sync::Arc;

use kinetoscope::analyze::analysis;
use kinetoscope::view::{self, COMPARISONS, TraceFile};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::analysis::{Ranked, linked};
use crate::error::raised;
use crate::interrupt::interruptible;
use crate::memory::detached;
use crate::session::Session;
use crate::trace::Trace;

/// The analyses across ranks that the report of a job shows, with their requests.
#[pyfunction]
pub(crate) fn report_comparisons() -> Vec<(&'static str, &'static str)> {
    COMPARISONS.to_vec()
}

/// The facts and results of a trace for the report of its job.
#[pyfunction]
pub(crate) fn packed_facts<'py>(py: Python<'py>, trace: PyRef<'_, Trace>) -> PyResult<Bound<'py, PyBytes>> {
    let linked = trace.linked();
    let facts = detached(py, || view::packed_facts(&linked))?.map_err(|error| raised(&error))?;
    Ok(PyBytes::new(py, &facts))
}

/// Facts and results of the ranks of a job, in place of their traces.
#[pyclass(frozen, module = "kinetoscope._native")]
pub(crate) struct GatheredJob {
    job: Arc<view::GatheredJob>,
}

#[pymethods]
impl GatheredJob {
    /// Joins the facts of all traces with the comparisons. `files` has names and addresses.
    /// `traces` hold communications alone; `replies` has those of each comparison, by trace.
    #[new]
    fn new(
        py: Python<'_>,
        facts: Vec<(Option<i64>, Vec<u8>)>,
        files: Vec<(String, String)>,
        traces: Ranked<'_>,
        replies: Vec<Vec<Vec<Vec<u8>>>>,
    ) -> PyResult<Self> {
        let traces = linked(traces);
        let files = files.into_iter().map(|(name, address)| TraceFile { name, address }).collect();
        let job = detached(py, move || {
            let compared = COMPARISONS
                .iter()
                .zip(&replies)
                .map(|(asked, replies)| Ok((*asked, analysis(asked.0)?.answer_of_replies(&traces, replies, asked.1)?)));
            view::GatheredJob::of(&facts, files, compared.collect::<Result<Vec<_>, kinetoscope::Error>>()?)
        });
        Ok(Self { job: Arc::new(job?.map_err(|error| raised(&error))?) })
    }

    /// Whether a trace is a trimmed one. Comparisons describe whole traces.
    fn is_trimmed(&self) -> bool {
        self.job.is_trimmed()
    }

    /// The ranks to show on the timeline, each with the place of its trace.
    fn shown_ranks(&self) -> Vec<(usize, i64)> {
        self.job.shown_ranks().into_iter().map(|one| (one.at, one.rank)).collect()
    }

    /// Answers a request for a report; the session has the traces on the timeline.
    fn report<'py>(
        &self,
        py: Python<'py>,
        session: PyRef<'_, Session>,
        request: PyBackedBytes,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (job, session) = (Arc::clone(&self.job), session.shared());
        let answer = interruptible(py, move || session.report_of_job(&job, &request))?;
        Ok(PyBytes::new(py, &answer))
    }
}
