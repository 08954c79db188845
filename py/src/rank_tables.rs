//! Tables of a job: the collectives and clock offsets of its traces.

use std::sync::Arc;

use kinetoscope::link::rank::JobRanks;
use kinetoscope::table::RANK_TABLES;
use pyo3::prelude::*;

use crate::memory::detached;
use crate::tables::Tables;
use crate::trace::Trace;

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
