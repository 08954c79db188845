//! Tables of a job: the collectives and clock offsets of its traces.

use std::sync::Arc;

use kinetoscope::link::rank::JobRanks;
use kinetoscope::table::RANK_TABLES;
use pyo3::prelude::*;

use crate::memory::detached;
use crate::tables::Tables;
use crate::trace::Trace;
use crate::writing::written;

/// Writes Chrome's JSON of all ranks, in a gzip stream or plain.
#[pyfunction]
pub(crate) fn write_chrome_of_job(
    py: Python<'_>,
    traces: Vec<(Option<i64>, PyRef<'_, Trace>)>,
    is_aligned: bool,
    path: String,
    gzip: bool,
) -> PyResult<()> {
    let traces: Vec<_> = traces.into_iter().map(|(rank, trace)| (rank, trace.linked())).collect();
    written(py, &path, gzip, |out| kinetoscope::write::chrome::write_chrome_of_job(&traces, is_aligned, out))
}

/// Tables of a job, from traces with ranks: shared collectives and clocks.
#[pyfunction]
pub(crate) fn rank_tables(
    py: Python<'_>,
    traces: Vec<(Option<i64>, PyRef<'_, Trace>)>,
    is_aligned: bool,
) -> PyResult<Tables> {
    let traces: Vec<_> = traces.into_iter().map(|(rank, trace)| (rank, trace.linked())).collect();
    let ranks = detached(py, || JobRanks::new(traces, is_aligned))?;
    Ok(Tables::new("traces of a job", String::from("{}"), &Arc::new(ranks), RANK_TABLES))
}
