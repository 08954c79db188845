//! States how much of the weight of a flame graph is known and attributed.

use super::tree::FlameTree;
use super::weight::{FlameWeight, WeightedRows};
use crate::table::{Column, Table, int, put_name, text};

/// The weight of everything in a flame graph.
#[derive(Debug, Clone)]
pub(super) struct FlameCoverage {
    weight: &'static str,
    unit: &'static str,
    total_weight: i64,
    unattributed_weight: i64,
    num_unknown: i64,
}

pub(super) static TABLE: Table<Vec<FlameCoverage>> = Table {
    name: "flamegraph_coverage",
    doc: "the weight of everything in a flame graph, and the part that is in no frame",
    num_rows: Vec::len,
    columns: COLUMNS,
};

const COLUMNS: &[Column<Vec<FlameCoverage>>] = &[
    text("weight", |rows, at, out| put_name(out, rows[at].weight)),
    text("unit", |rows, at, out| put_name(out, rows[at].unit)),
    int("total_weight", |rows, at| Some(rows[at].total_weight)),
    int("unattributed_weight", |rows, at| Some(rows[at].unattributed_weight)),
    int("num_unknown", |rows, at| Some(rows[at].num_unknown)),
];

pub(super) fn row(weight: FlameWeight, tree: &FlameTree, weighted: &WeightedRows) -> FlameCoverage {
    FlameCoverage {
        weight: weight.name(),
        unit: weight.unit(),
        total_weight: tree.total_weight(),
        unattributed_weight: tree.unattributed(),
        num_unknown: weighted.num_unknown,
    }
}
