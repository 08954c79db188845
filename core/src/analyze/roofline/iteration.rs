//! Sums the operations of iterations, with their share of the device's peak.

use std::collections::BTreeMap;

use super::operation_sum::OperationSum;
use super::row::RooflineRows;
use crate::analyze::device::Peaks;
use crate::analyze::selection::Selection;
use crate::table::{Table, float, int};

/// An iteration's operations.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IterationFlops {
    iteration: Option<i64>,
    dur_ns: i64,
    sum: OperationSum,
    /// Time of computation that is not counted.
    missed_ns: i64,
}

/// `tflops = flops / dur_ns`, `share_of_peak = Σ (flops of a call / peak of its type) / dur_ns`.
/// Both are lower bounds: they cover `covered_share` of the time of computation. It is the time of
/// counted operators over that of all computation, without communication.
pub(crate) static TABLE: Table<Vec<IterationFlops>> = Table {
    name: "roofline_iterations",
    doc: "the operations of an iteration and their share of the device peak (model FLOPs utilization, with \
             recomputation by checkpointing)",
    num_rows: Vec::len,
    columns: &[
        int("iteration", |rows, at| rows[at].iteration),
        int("dur_ns", |rows, at| Some(rows[at].dur_ns)),
        int("flops", |rows, at| Some(rows[at].sum.flops)),
        int("bytes", |rows, at| Some(rows[at].sum.bytes)),
        float("tflops", |rows, at| rows[at].per_ns(rows[at].sum.flops as f64 / 1e3)),
        float("share_of_peak", |rows, at| rows[at].per_ns(rows[at].sum.compute_ns?)),
        float("covered_share", |rows, at| rows[at].covered_share()),
    ],
};

impl IterationFlops {
    fn per_ns(&self, value: f64) -> Option<f64> {
        (self.dur_ns > 0).then(|| value / self.dur_ns as f64)
    }

    fn covered_share(&self) -> Option<f64> {
        let counted_ns = self.sum.counted_ns as f64;
        let all = counted_ns + self.missed_ns as f64;
        (all > 0.0).then(|| counted_ns / all)
    }
}

/// A row for each iteration with added calls; one for the selection where it has no iterations.
pub(super) fn rows(selection: &Selection<'_>, rows: &RooflineRows, peaks: Option<&Peaks>) -> Vec<IterationFlops> {
    let linked = selection.linked;
    let mut iterations: BTreeMap<Option<u32>, IterationFlops> = BTreeMap::new();
    let has_any = rows.calls.iter().any(|call| call.iteration.is_some());
    let counted = rows.calls.iter().filter_map(|call| Some((call, call.row?)));
    for (call, row) in counted.filter(|(call, _)| call.iteration.is_some() == has_any) {
        let iteration = call.iteration.map(|at| &linked.links.iterations[at as usize]);
        let row_of = || IterationFlops {
            iteration: iteration.map(|iteration| iteration.number),
            dur_ns: iteration.map_or_else(|| selection.len_ns(), |iteration| iteration.dur.0),
            missed_ns: rows.missed_ns.get(&call.iteration).copied().unwrap_or_default(),
            sum: OperationSum::default(),
        };
        iterations.entry(call.iteration).or_insert_with(row_of).sum.add(rows.work(row), call.ns, peaks);
    }
    iterations.into_values().collect()
}
