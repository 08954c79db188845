//! The change of one name: counts, durations and significance.

use super::samples::NameSample;
use super::significance::p_value;
use super::step_times::StepTimes;
use crate::table::{Column, Table, boolean, float, int, json, put, put_name, text};
use crate::time::add_ns;

/// A change is significant where chance makes one as large less often than this.
const SIGNIFICANT: f64 = 0.05;

/// One name in both traces.
#[derive(Debug)]
pub(crate) struct NameChange {
    pub(super) name: String,
    pub(super) shapes: String,
    /// Overloads that only one trace records.
    pub(super) overloads: Vec<String>,
    /// Class of the device work; empty for all other names.
    pub(super) class: &'static str,
    pub(super) sides: [NameSample; 2],
    /// Mean over the iterations, rounded so that the names add up.
    pub(super) ns: [i64; 2],
}

impl NameChange {
    pub(super) fn change_ns(&self) -> i64 {
        self.ns[1].saturating_sub(self.ns[0])
    }

    pub(super) fn status(&self) -> &'static str {
        match self.sides.each_ref().map(|sample| sample.count > 0) {
            [false, true] => "added",
            [true, false] => "removed",
            _ => "both",
        }
    }

    pub(super) fn per_iteration(&self, side: usize) -> f64 {
        self.sides[side].count as f64 / self.sides[side].ns.num_steps().max(1) as f64
    }

    pub(super) fn p_value(&self) -> Option<f64> {
        p_value(&self.sides[0].ns, &self.sides[1].ns)
    }
}

/// Rounds means one after another so that each sum of the first means is rounded to the nearest.
#[derive(Debug, Clone, Copy)]
pub(super) struct MeanRounding {
    sum: i64,
    num: usize,
}

impl MeanRounding {
    /// Of means over so many samples.
    pub(super) fn over(num: usize) -> Self {
        Self { sum: 0, num }
    }

    /// The next mean, of the sum of its samples.
    pub(super) fn next(&mut self, sum: i64) -> i64 {
        let before = rounded(self.sum, self.num);
        add_ns(&mut self.sum, sum);
        rounded(self.sum, self.num).saturating_sub(before)
    }
}

/// The mean, rounded to the nearest.
pub(super) fn mean(ns: &StepTimes) -> i64 {
    rounded(ns.sum(), ns.num_steps())
}

/// A sum over so many, rounded to the nearest.
pub(super) fn rounded(sum: i64, num: usize) -> i64 {
    let num = num.max(1) as i64;
    sum.saturating_add(num / 2).div_euclid(num)
}

/// Whether a change is more than chance.
pub(super) fn is_significant(p_value: Option<f64>) -> Option<bool> {
    p_value.map(|p_value| p_value < SIGNIFICANT)
}

const COLUMNS: &[Column<Vec<NameChange>>] = &[
    text("name", |rows, at, out| put_name(out, &rows[at].name)),
    json("input_shapes", |rows, at, out| put(out, &rows[at].shapes)),
    text("class", |rows, at, out| put(out, rows[at].class)),
    text("status", |rows, at, out| put_name(out, rows[at].status())),
    float("before_count", |rows, at| Some(rows[at].per_iteration(0))),
    float("after_count", |rows, at| Some(rows[at].per_iteration(1))),
    int("before_ns", |rows, at| Some(rows[at].ns[0])),
    int("after_ns", |rows, at| Some(rows[at].ns[1])),
    int("change_ns", |rows, at| Some(rows[at].change_ns())),
    int("before_host_ns", |rows, at| rows[at].sides[0].host_ns.as_ref().map(mean)),
    int("after_host_ns", |rows, at| rows[at].sides[1].host_ns.as_ref().map(mean)),
    float("p_value", |rows, at| rows[at].p_value()),
    boolean("is_significant", |rows, at| is_significant(rows[at].p_value())),
    text("overloads", |rows, at, out| {
        let overloads = &rows[at].overloads;
        !overloads.is_empty() && put(out, &overloads.join(", "))
    }),
    int("before_id", |rows, at| rows[at].sides[0].longest_id),
    int("after_id", |rows, at| rows[at].sides[1].longest_id),
];

pub(crate) static OPERATORS: Table<Vec<NameChange>> = Table {
    name: "diff_operators",
    doc: "an operator in both traces: self device time per iteration, or host time if a trace lacks device work",
    num_rows: Vec::len,
    columns: COLUMNS,
};

pub(super) static SHAPES: Table<Vec<NameChange>> = Table {
    name: "diff_shapes",
    doc: "an operator with equal input shapes in both traces",
    num_rows: Vec::len,
    columns: COLUMNS,
};

pub(crate) static KERNELS: Table<Vec<NameChange>> =
    Table { name: "diff_kernels", doc: "a kernel, copy or fill in both traces", num_rows: Vec::len, columns: COLUMNS };

pub(crate) static MODULES: Table<Vec<NameChange>> = Table {
    name: "diff_modules",
    doc: "a module in both traces: self device time, or host time if a trace lacks device work",
    num_rows: Vec::len,
    columns: COLUMNS,
};
