//! Iterations of both traces, the first with the first.

use super::side::Side;
use crate::link::Iteration;
use crate::table::{Column, Table, int};

/// An iteration of each trace, where it has as many.
pub(super) struct Pair([Option<Iteration>; 2]);

pub(super) static TABLE: Table<Vec<Pair>> = Table {
    name: "diff_iterations",
    doc: "an iteration of each trace, in their order",
    num_rows: Vec::len,
    columns: COLUMNS,
};

const COLUMNS: &[Column<Vec<Pair>>] = &[
    int("before_iteration", |rows, at| rows[at].0[0].map(|iteration| iteration.number)),
    int("after_iteration", |rows, at| rows[at].0[1].map(|iteration| iteration.number)),
    int("before_ns", |rows, at| rows[at].0[0].map(|iteration| iteration.dur.0)),
    int("after_ns", |rows, at| rows[at].0[1].map(|iteration| iteration.dur.0)),
    int("change_ns", |rows, at| Some(rows[at].0[1]?.dur.0.saturating_sub(rows[at].0[0]?.dur.0))),
];

pub(super) fn iterations(sides: &[Side<'_>; 2]) -> Vec<Pair> {
    let [before, after] = sides.each_ref().map(|side| &side.iterations);
    (0..before.len().max(after.len())).map(|at| Pair([before.get(at).copied(), after.get(at).copied()])).collect()
}
