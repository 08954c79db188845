//! Compares replayed times of operators with recorded ones, and counts the rest.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::table::{Table, TableRows, float, int, put, put_name, text};

/// Calls of one operator on one rank.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OperatorSample {
    /// Name of the operator.
    pub name: String,
    /// Calls in the trace.
    pub num_calls: i64,
    /// Calls that ran, or that can run.
    pub num_run: i64,
    /// Recorded time of all calls; `None` without times.
    pub recorded_ns: Option<i64>,
    /// Recorded time of the calls that ran.
    pub recorded_run_ns: Option<i64>,
    /// Mean time of these calls over the measured passes.
    pub replayed_ns: Option<i64>,
    /// Why the other calls did not run; empty if all did.
    pub reason: String,
}

/// Samples of all ranks as a table, the longest recorded time first.
pub fn operators_measured(samples: Vec<OperatorSample>) -> Arc<dyn TableRows> {
    let mut rows: BTreeMap<String, OperatorSample> = BTreeMap::new();
    for sample in samples {
        match rows.get_mut(&sample.name) {
            Some(row) => row.add(sample),
            None => drop(rows.insert(sample.name.clone(), sample)),
        }
    }
    let mut rows: Vec<OperatorSample> = rows.into_values().collect();
    rows.sort_by_key(|row| std::cmp::Reverse((row.recorded_ns, row.num_calls)));
    REPLAYED_OPERATORS.of(&Arc::new(rows))
}

impl OperatorSample {
    fn add(&mut self, other: Self) {
        self.num_calls = self.num_calls.saturating_add(other.num_calls);
        self.num_run = self.num_run.saturating_add(other.num_run);
        self.recorded_ns = sum(self.recorded_ns, other.recorded_ns);
        self.recorded_run_ns = sum(self.recorded_run_ns, other.recorded_run_ns);
        self.replayed_ns = sum(self.replayed_ns, other.replayed_ns);
        if self.reason.is_empty() {
            self.reason = other.reason;
        }
    }

    fn ratio(&self) -> Option<f64> {
        let recorded = self.recorded_run_ns.filter(|ns| *ns > 0)?;
        Some(self.replayed_ns? as f64 / recorded as f64)
    }
}

fn sum(one: Option<i64>, other: Option<i64>) -> Option<i64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.saturating_add(other)),
        _ => one.or(other),
    }
}

/// One row for all calls of an operator, on all ranks.
static REPLAYED_OPERATORS: Table<Vec<OperatorSample>> = Table {
    name: "replayed_operators",
    doc: "all calls of an operator: how many ran, replayed and recorded time",
    num_rows: Vec::len,
    columns: &[
        text("name", |rows, row, out| put_name(out, &rows[row].name)),
        int("num_calls", |rows, row| Some(rows[row].num_calls)),
        int("num_run", |rows, row| Some(rows[row].num_run)),
        int("recorded_ns", |rows, row| rows[row].recorded_ns),
        int("recorded_run_ns", |rows, row| rows[row].recorded_run_ns),
        int("replayed_ns", |rows, row| rows[row].replayed_ns),
        float("replayed_to_recorded", |rows, row| rows[row].ratio()),
        text("reason", |rows, row, out| !rows[row].reason.is_empty() && put(out, &rows[row].reason)),
    ],
};
