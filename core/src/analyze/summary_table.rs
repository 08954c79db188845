//! The summary as tables: one row per trace, and the largest of each kind.

use super::analysis::{Analysis, Run};
use super::operator::{self, OperatorCalls};
use super::options::{OptionDoc, OptionKind, Options};
use super::result::AnalysisResult;
use super::selection::Selection;
use super::summary::{IterationRow, MarkerRow, Summary, summary};
use super::{finding, kernel, module};
use crate::table::{Column, Table, boolean, float, int, put_name, text};

/// One screen about a trace.
pub(super) static SUMMARY: Analysis = Analysis {
    name: "summary",
    doc: "overview of a trace: duration, iterations, device utilization, and the costliest operators, kernels, modules \
             and findings",
    options: &[OptionDoc {
        name: "top",
        doc: "number of operators, kernels, modules and findings to list",
        kind: OptionKind::Count(FIRST),
    }],
    run: Run::Trace(answer),
};

/// Default number of rows of each list.
const FIRST: i64 = 5;

fn answer(selection: &Selection<'_>, options: &Options) -> AnalysisResult {
    let mut summary = summary(selection, options.count("top") as usize);
    let iterations = std::mem::take(&mut summary.outline.iterations);
    let operators = std::mem::take(&mut summary.operators);
    let kernels = std::mem::take(&mut summary.kernels);
    let modules = std::mem::take(&mut summary.modules);
    let findings = std::mem::take(&mut summary.findings);
    let markers = std::mem::take(&mut summary.iteration_markers);
    AnalysisResult::of(&TABLE, vec![summary], "")
        .and(&ITERATIONS, iterations)
        .and(&MARKERS, markers)
        .and(&operator::TABLE, operators.into_iter().map(OperatorCalls::from).collect())
        .and(&kernel::TABLE, kernels)
        .and(&module::TABLE, modules)
        .and(&finding::OF_TRACE, findings)
}

static TABLE: Table<Vec<Summary>> = Table {
    name: "summary",
    doc: "one trace: its duration, contents and utilization",
    num_rows: Vec::len,
    columns: COLUMNS,
};

const COLUMNS: &[Column<Vec<Summary>>] = &[
    int("start_ns", |rows, at| Some(rows[at].outline.start_ns)),
    int("span_ns", |rows, at| Some(rows[at].outline.duration_ns)),
    int("num_events", |rows, at| Some(rows[at].outline.num_events as i64)),
    int("num_nodes", |rows, at| Some(rows[at].outline.num_nodes as i64)),
    int("num_devices", |rows, at| Some(rows[at].outline.devices.len() as i64)),
    float("busy_share", |rows, at| rows[at].busy_share()),
    float("sm_efficiency", |rows, at| rows[at].sm_efficiency),
    float("occupancy", |rows, at| rows[at].occupancy),
    int("num_iterations", |rows, at| {
        Some(rows[at].outline.iteration_time.as_ref().map_or(0, |time| time.count as i64))
    }),
    int("iteration_mean_ns", |rows, at| Some(rows[at].outline.iteration_time.as_ref()?.mean_ns)),
    float("iteration_std_ns", |rows, at| rows[at].outline.iteration_time.as_ref()?.std_ns),
    int("slowest_iteration", |rows, at| Some(rows[at].outline.iteration_time.as_ref()?.slowest)),
    int("slowest_ns", |rows, at| Some(rows[at].outline.iteration_time.as_ref()?.slowest_ns)),
    int("num_operators", |rows, at| Some(rows[at].num_operators as i64)),
    int("num_kernels", |rows, at| Some(rows[at].num_kernels as i64)),
    int("num_modules", |rows, at| Some(rows[at].num_modules as i64)),
    int("num_findings", |rows, at| Some(rows[at].num_findings as i64)),
    text("verdict", |rows, at, out| put_name(out, rows[at].verdict.name())),
    int("findings_cost_ns", |rows, at| Some(rows[at].findings_cost_ns)),
    int("num_defects", |rows, at| Some(rows[at].health.iter().map(|row| row.count as i64).sum())),
];

static ITERATIONS: Table<Vec<IterationRow>> = Table {
    name: "iterations",
    doc: "an iteration",
    num_rows: Vec::len,
    columns: &[
        int("iteration", |rows, at| Some(rows[at].iteration)),
        int("start_ns", |rows, at| Some(rows[at].start_ns)),
        int("dur_ns", |rows, at| Some(rows[at].dur_ns)),
        int("device_busy_ns", |rows, at| rows[at].device_busy_ns),
        int("device_unknown_ns", |rows, at| Some(rows[at].device_unknown_ns)),
    ],
};

static MARKERS: Table<Vec<MarkerRow>> = Table {
    name: "iteration_markers",
    doc: "ranges that mark iterations, or could",
    num_rows: Vec::len,
    columns: &[
        text("marker", |rows, at, out| put_name(out, rows[at].marker)),
        text("name", |rows, at, out| put_name(out, &rows[at].name)),
        int("count", |rows, at| Some(rows[at].count as i64)),
        boolean("is_taken", |rows, at| Some(rows[at].is_taken)),
    ],
};

impl Summary {
    /// The mean over the devices; `None` without one.
    fn busy_share(&self) -> Option<f64> {
        let shares = self.outline.devices.iter().map(|device| device.busy_share);
        (!self.outline.devices.is_empty()).then(|| shares.sum::<f64>() / self.outline.devices.len() as f64)
    }
}
