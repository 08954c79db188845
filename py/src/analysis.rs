//! Runs analyses by name for Python.

use std::sync::Arc;

use kinetoscope::LinkedTrace;
use kinetoscope::analyze::{ANALYSES, AnalysisResult, OptionKind, RankedTrace, analysis};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::interrupt::interruptible;
use crate::result::{Answered, answered};
use crate::trace::Trace;

/// All analyses with their options, as a JSON list.
#[pyfunction]
pub(crate) fn analyses_json() -> String {
    let all = ANALYSES.iter().map(|analysis| {
        let options = analysis.options.iter().map(|option| {
            let (kind, default, choices) = match option.kind {
                OptionKind::Choice(words) => ("choice", json!(words.first()), json!(words)),
                OptionKind::Count(count) => ("count", json!(count), Value::Null),
                OptionKind::Id => ("id", Value::Null, Value::Null),
                OptionKind::Number(number) => ("number", json!(number), Value::Null),
                OptionKind::Flag => ("flag", json!(false), Value::Null),
                OptionKind::Text => ("text", Value::Null, Value::Null),
            };
            json!({"name": option.name, "doc": option.doc, "kind": kind, "default": default, "choices": choices})
        });
        json!({"name": analysis.name, "doc": analysis.doc, "kind": analysis.kind(), "options": options.collect::<Vec<_>>()})
    });
    Value::Array(all.collect()).to_string()
}

/// Traces, each with its rank.
pub(crate) type Ranked<'py> = Vec<(Option<i64>, PyRef<'py, Trace>)>;

/// Runs an analysis on a trace; `request` is a JSON object.
#[pyfunction]
pub(crate) fn analyze(py: Python<'_>, trace: PyRef<'_, Trace>, name: &str, request: &str) -> PyResult<Answered> {
    let linked = trace.linked();
    let (name, request) = (name.to_owned(), request.to_owned());
    answered(interruptible(py, move || analysis(&name)?.answer(&linked, &request))?)
}

/// Runs an analysis on the traces of a job, each with its rank, on as many threads as allowed.
#[pyfunction]
pub(crate) fn analyze_job(
    py: Python<'_>,
    traces: Ranked<'_>,
    name: &str,
    request: &str,
    max_threads: usize,
) -> PyResult<Answered> {
    let traces = linked(traces);
    let (name, request) = (name.to_owned(), request.to_owned());
    answered(interruptible(py, move || analysis(&name)?.answer_of_job(&traces, &request, max_threads))?)
}

/// Compares traces of the same ranks.
#[pyfunction]
pub(crate) fn diff_of_jobs(
    py: Python<'_>,
    before: Ranked<'_>,
    after: Ranked<'_>,
    request: &str,
    max_threads: usize,
) -> PyResult<Answered> {
    compared_jobs(py, [before, after], (request, max_threads), kinetoscope::analyze::diff_jobs)
}

/// Compares two traces.
#[pyfunction]
pub(crate) fn diff(
    py: Python<'_>,
    before: PyRef<'_, Trace>,
    after: PyRef<'_, Trace>,
    request: &str,
) -> PyResult<Answered> {
    compared(py, [before, after], request, kinetoscope::analyze::diff)
}

/// Compares runs of before and after a change, each with its traces.
#[pyfunction]
pub(crate) fn gate(
    py: Python<'_>,
    before: Vec<Ranked<'_>>,
    after: Vec<Ranked<'_>>,
    request: &str,
    max_threads: usize,
) -> PyResult<Answered> {
    let sides = [before, after].map(|runs| runs.into_iter().map(linked).collect::<Vec<_>>());
    let ([before, after], request) = (sides, request.to_owned());
    answered(interruptible(py, move || kinetoscope::analyze::gate(&before, &after, &request, max_threads))?)
}

/// Compares the traces of a job with budgets.
#[pyfunction]
pub(crate) fn check(py: Python<'_>, traces: Ranked<'_>, request: &str, max_threads: usize) -> PyResult<Answered> {
    let (traces, request) = (linked(traces), request.to_owned());
    answered(interruptible(py, move || kinetoscope::analyze::check(&traces, &request, max_threads))?)
}

/// Compares the flame graphs of two traces.
#[pyfunction]
pub(crate) fn flame_changes(
    py: Python<'_>,
    before: PyRef<'_, Trace>,
    after: PyRef<'_, Trace>,
    request: &str,
) -> PyResult<Answered> {
    compared(py, [before, after], request, kinetoscope::analyze::flame_changes)
}

/// Compares the flame graphs of the ranks of two jobs.
#[pyfunction]
pub(crate) fn flame_changes_of_jobs(
    py: Python<'_>,
    before: Ranked<'_>,
    after: Ranked<'_>,
    request: &str,
    max_threads: usize,
) -> PyResult<Answered> {
    compared_jobs(py, [before, after], (request, max_threads), kinetoscope::analyze::flame_changes_of_jobs)
}

/// The place of the trace with the median iteration.
#[pyfunction]
pub(crate) fn typical_trace(traces: Ranked<'_>) -> Option<usize> {
    kinetoscope::analyze::typical_trace(&linked(traces))
}

/// Compares two traces.
type Compare = fn(&Arc<LinkedTrace>, &Arc<LinkedTrace>, &str) -> Result<AnalysisResult, kinetoscope::Error>;

/// Compares two jobs, on at most so many threads.
type CompareJobs = fn(&[RankedTrace], &[RankedTrace], &str, usize) -> Result<AnalysisResult, kinetoscope::Error>;

fn compared(py: Python<'_>, sides: [PyRef<'_, Trace>; 2], request: &str, compare: Compare) -> PyResult<Answered> {
    let ([before, after], request) = (sides.map(|side| side.linked()), request.to_owned());
    answered(interruptible(py, move || compare(&before, &after, &request))?)
}

fn compared_jobs(
    py: Python<'_>,
    sides: [Ranked<'_>; 2],
    (request, max_threads): (&str, usize),
    compare: CompareJobs,
) -> PyResult<Answered> {
    let ([before, after], request) = (sides.map(linked), request.to_owned());
    answered(interruptible(py, move || compare(&before, &after, &request, max_threads))?)
}

pub(crate) fn linked(traces: Ranked<'_>) -> Vec<RankedTrace> {
    traces.into_iter().map(|(rank, trace)| (rank, trace.linked())).collect()
}
