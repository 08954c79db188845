//! Exposes the process groups of calls that the traces of a job do not name.

use std::sync::Arc;

use kinetoscope::link::rank::{
    CandidateGroup, GroupCall, InferenceSpan, SettledCollectives, infer_groups, settled_collectives,
};
use kinetoscope::link::{Collectives, LinkedTrace};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::memory::detached;
use crate::trace::Trace;

/// The collectives of the traces of a job, with groups that the calls of the other ranks tell.
#[pyclass(frozen, module = "kinetoscope._native")]
pub(crate) struct JobGroups {
    settled: Vec<Option<SettledCollectives>>,
}

#[pymethods]
impl JobGroups {
    /// From traces with their ranks.
    #[new]
    fn new(py: Python<'_>, traces: Vec<(Option<i64>, PyRef<'_, Trace>)>) -> PyResult<Self> {
        let traces: Vec<_> = traces.into_iter().map(|(rank, trace)| (rank, trace.linked())).collect();
        Ok(Self { settled: detached(py, || settled_collectives(&traces, InferenceSpan::Recording))? })
    }
}

/// A trace's place among those of its job.
pub(crate) type JobPlace<'py> = (PyRef<'py, JobGroups>, usize);

/// The collectives of a trace, with the groups that its job tells.
pub(crate) fn collectives<'a>(linked: &'a Arc<LinkedTrace>, job: Option<&'a JobPlace<'_>>) -> &'a Collectives {
    let settled = job.and_then(|(job, at)| job.settled.get(*at)?.as_ref());
    settled.map_or_else(|| linked.collectives(), |settled| &settled.collectives)
}

/// The groups of all calls by rank, as places among the candidates; and the first call of each rank
/// that matches none of the others'.
type Inferred = (Vec<Vec<Option<u32>>>, Vec<Option<usize>>);

/// Infers the groups of calls, which are a JSON list per rank, among the candidates.
#[pyfunction(name = "infer_groups")]
pub(crate) fn infer(py: Python<'_>, calls: &str, candidates: Vec<(usize, Vec<usize>)>) -> PyResult<Inferred> {
    let calls: Vec<Vec<GroupCall>> = serde_json::from_str(calls).map_err(invalid)?;
    let candidates: Vec<_> = candidates.into_iter().map(|(size, members)| CandidateGroup { size, members }).collect();
    let found = detached(py, || infer_groups(&calls, &candidates))?;
    Ok((found.of_call, found.left))
}

/// Names the facts in which two calls in JSON, of ranks at these places of a group, differ.
#[pyfunction]
pub(crate) fn call_difference(one: &str, other: &str, places: [usize; 2]) -> PyResult<Option<&'static str>> {
    let [one, other] = [one, other].map(serde_json::from_str::<GroupCall>);
    Ok(one.map_err(invalid)?.difference(&other.map_err(invalid)?, places))
}

/// Whether a call in JSON is valid for a group of so many ranks.
#[pyfunction]
pub(crate) fn call_fits(call: &str, size: usize) -> PyResult<bool> {
    Ok(serde_json::from_str::<GroupCall>(call).map_err(invalid)?.fits(size))
}

fn invalid(error: serde_json::Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}
