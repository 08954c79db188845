//! Pairs the iterations of two traces by their order.

use super::side::DiffSide;
use crate::link::Iteration;
use crate::table::{Column, Table, int};

/// An iteration of each trace, where it has as many.
pub(crate) struct IterationPair([Option<Iteration>; 2]);

pub(crate) static TABLE: Table<Vec<IterationPair>> = Table {
    name: "diff_iterations",
    doc: "a pair of iterations, one of each trace, in order",
    num_rows: Vec::len,
    columns: COLUMNS,
};

const COLUMNS: &[Column<Vec<IterationPair>>] = &[
    int("before_iteration", |rows, at| rows[at].0[0].map(|iteration| iteration.number)),
    int("after_iteration", |rows, at| rows[at].0[1].map(|iteration| iteration.number)),
    int("before_ns", |rows, at| rows[at].0[0].map(|iteration| iteration.dur.0)),
    int("after_ns", |rows, at| rows[at].0[1].map(|iteration| iteration.dur.0)),
    int("change_ns", |rows, at| Some(rows[at].0[1]?.dur.0.saturating_sub(rows[at].0[0]?.dur.0))),
];

pub(super) fn iterations(sides: &[DiffSide<'_>; 2]) -> Vec<IterationPair> {
    let [before, after] = sides.each_ref().map(|side| &side.iterations);
    (0..before.len().max(after.len()))
        .map(|at| IterationPair([before.get(at).copied(), after.get(at).copied()]))
        .collect()
}
