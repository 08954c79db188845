//! Exposes replay plans and measurements.

use std::sync::Arc;

use kinetoscope::replay::{MessageSizes, OperatorSample, PLAN, ReplaySample, measured, operators_measured, plan};
use pyo3::prelude::*;

use crate::memory::detached;
use crate::table::Table;
use crate::trace::Trace;

/// The communications of a trace as they can be made again, and how many cannot be.
#[pyfunction]
pub(crate) fn replay_plan(py: Python<'_>, trace: PyRef<'_, Trace>) -> PyResult<(Table, u64)> {
    let linked = trace.linked();
    let found = detached(py, || plan(&linked))?;
    let num_left_out = found.num_left_out;
    Ok((Table::new(PLAN.of(&Arc::new(found))), num_left_out))
}

/// Ranks of the group, bytes in, bytes out, bytes of those that stay here.
type Sizes = (i64, i64, i64, (Option<i64>, Option<i64>));

/// Name, group, type, sizes, recorded sizes if they are others, calls, durations recorded and
/// replayed.
type Measurement = (String, String, String, Sizes, Option<Sizes>, i64, Vec<i64>, Vec<i64>);

/// The measurements of all ranks as a table.
#[pyfunction]
pub(crate) fn replayed(py: Python<'_>, samples: Vec<Measurement>) -> PyResult<Table> {
    let sizes = |(group_size, in_bytes, out_bytes, kept): Sizes| MessageSizes {
        group_size,
        in_bytes,
        out_bytes,
        kept_bytes: kept.into(),
    };
    let sample = |sample: Measurement| ReplaySample {
        collective: sample.0,
        group_name: sample.1,
        dtype: sample.2,
        sizes: sizes(sample.3),
        recorded_sizes: sample.4.map(sizes),
        num_calls: sample.5,
        recorded_ns: sample.6,
        replayed_ns: sample.7,
    };
    detached(py, || measured(samples.into_iter().map(sample).collect())).map(Table::new)
}

/// Name, calls, calls that ran, recorded time of all and of those that ran, replayed time, why the
/// others did not run.
type OperatorMeasurement = (String, i64, i64, Option<i64>, Option<i64>, Option<i64>, String);

/// The operators of all ranks as a table.
#[pyfunction]
pub(crate) fn replayed_operators(py: Python<'_>, samples: Vec<OperatorMeasurement>) -> PyResult<Table> {
    let sample = |sample: OperatorMeasurement| OperatorSample {
        name: sample.0,
        num_calls: sample.1,
        num_run: sample.2,
        recorded_ns: sample.3,
        recorded_run_ns: sample.4,
        replayed_ns: sample.5,
        reason: sample.6,
    };
    detached(py, || operators_measured(samples.into_iter().map(sample).collect())).map(Table::new)
}
