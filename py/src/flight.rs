//! Compares dumps of the flight recorder of several ranks.

use kinetoscope::analyze::{FlightJob, flight_events};
use pyo3::prelude::*;

use crate::analysis::Ranked;
use crate::memory::detached;
use crate::result::{Answered, answered};
use crate::tables::Tables;

/// Compares dumps, each with its rank.
#[pyfunction]
pub(crate) fn flight_job(py: Python<'_>, dumps: Vec<(i64, PyRef<'_, Tables>)>) -> PyResult<Tables> {
    let dumps = dumps.into_iter().map(|(rank, dump)| Ok((rank, dump.recorder()?))).collect::<PyResult<Vec<_>>>()?;
    Ok(detached(py, || FlightJob::new(dumps))?.into())
}

/// Finds the events of all entries in traces of the same run, each with its rank.
#[pyfunction]
pub(crate) fn events_of_flight(py: Python<'_>, job: PyRef<'_, Tables>, traces: Ranked<'_>) -> PyResult<Answered> {
    let job = job.flight_job()?;
    let traces: Vec<_> = traces.into_iter().map(|(rank, trace)| (rank, trace.linked())).collect();
    answered(detached(py, || Ok(flight_events(&job, &traces)))?)
}
