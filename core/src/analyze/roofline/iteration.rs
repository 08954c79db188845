//! Sums the operations of iterations, with their share of the device's peak.

use std::collections::BTreeMap;

use super::row::RooflineRows;
use crate::analyze::device::Peaks;
use crate::link::LinkedTrace;
use crate::table::{Table, float, int};

/// An iteration's operations.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct IterationFlops {
    iteration: i64,
    dur_ns: i64,
    flops: i64,
    bytes: i64,
    /// The time for all operations at their peaks; none where one of these is unknown.
    compute_ns: Option<f64>,
}

/// `tflops = flops / dur_ns`, `share_of_peak = Σ (flops of a call / peak of its type) / dur_ns`.
pub(crate) static TABLE: Table<Vec<IterationFlops>> = Table {
    name: "roofline_iterations",
    doc: "the operations of an iteration and their share of the device peak (model FLOPs utilization, with \
             recomputation by checkpointing)",
    num_rows: Vec::len,
    columns: &[
        int("iteration", |rows, at| Some(rows[at].iteration)),
        int("dur_ns", |rows, at| Some(rows[at].dur_ns)),
        int("flops", |rows, at| Some(rows[at].flops)),
        int("bytes", |rows, at| Some(rows[at].bytes)),
        float("tflops", |rows, at| rows[at].per_ns(rows[at].flops as f64 / 1e3)),
        float("share_of_peak", |rows, at| rows[at].per_ns(rows[at].compute_ns?)),
    ],
};

impl IterationFlops {
    fn per_ns(&self, value: f64) -> Option<f64> {
        (self.dur_ns > 0).then(|| value / self.dur_ns as f64)
    }
}

/// A row for each iteration with added calls.
pub(super) fn rows(linked: &LinkedTrace, rows: &RooflineRows, peaks: Option<&Peaks>) -> Vec<IterationFlops> {
    let mut iterations: BTreeMap<u32, IterationFlops> = BTreeMap::new();
    for (at, row) in &rows.calls {
        let iteration = &linked.links.iterations[*at as usize];
        let (number, dur_ns) = (iteration.number, iteration.dur.0);
        let new = || IterationFlops { iteration: number, dur_ns, compute_ns: Some(0.0), ..IterationFlops::default() };
        let sum = iterations.entry(*at).or_insert_with(new);
        let work = rows.work(*row);
        sum.flops = sum.flops.saturating_add(work.cost.flops);
        sum.bytes = sum.bytes.saturating_add(work.cost.bytes);
        if work.cost.flops > 0 && work.precision.is_some() {
            sum.compute_ns = sum.compute_ns.zip(work.compute_ns(peaks)).map(|(sum, ns)| sum + ns);
        }
    }
    iterations.into_values().collect()
}
